#pragma once

#include <string>
#include <vector>

#include "models/rules/rule_spec.h"
#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// One network that stands for the runs of a cell on one split.
struct ComparedNetwork {
  const studies::Record* record = nullptr;  // with the median loss
  std::string series;
  std::string name;      // the series, and what else tells it apart
  std::size_t runs = 0;  // that it stands for

  const experiments::Run& run() const { return record->run->run; }
};

// Networks that learned the same rules, to be looked at side by side: the oracle's first, then those whose gates are
// learned, then those without modules.
struct RuleComparison {
  std::string task;
  std::string settings;  // "8 rules, regression"
  std::string split;     // empty where none was drawn
  std::vector<ComparedNetwork> networks;
};

// Of the cells that the study's gallery names; where there are too many, some of them.
std::vector<RuleComparison> rule_comparisons(const studies::Findings& findings, studies::Store& store);

// The settings of a run on rules. Whether someone's own network has modules, and how many, its results say. Throws
// FormatError where these are damaged.
models::RuleSpec rule_spec_of(const experiments::Run& run, studies::Store& store);

}  // namespace modlab::report
