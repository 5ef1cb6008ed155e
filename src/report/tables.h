#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/claims.h"
#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// Text that is a number as a number, so that an axis can be continuous and is sorted by size.
nlohmann::ordered_json axis_number(const std::string& text);
// The name of a split in the page: null where nothing was split.
nlohmann::ordered_json split_json(const studies::Cell::Split& split);

// "depth2, ratio 0.5": the task of a cell and its values on the axes that vary, without its series.
class CellNames {
 public:
  explicit CellNames(const studies::Findings& findings);
  std::string name(const studies::Cell& cell) const;

 private:
  const studies::Findings& findings_;
  std::vector<std::string> axes_;
};

// A study as tidy tables, CSV text: one line for each run, each chosen configuration, each mean of a cell, each check
// of a claim. Nothing in them depends on when or how the runs were trained.
std::string runs_csv(const studies::Findings& findings);
std::string chosen_csv(const studies::Findings& findings);
std::string means_csv(const studies::Findings& findings);
std::string claims_csv(const std::vector<studies::ClaimResult>& claims);
// What does depend on it: seconds of one thread.
std::string timing_csv(const studies::Findings& findings);
// What runs were after every epoch, written piece by piece since they are many.
void write_curves_csv(const studies::Findings& findings, studies::Store& store, const std::string& path);

// How much the rule for ties matters: for each other rule, by how much the cells' mean test accuracies change.
struct TieSensitivity {
  std::string rule;
  int cells = 0;
  int changed = 0;         // cells with another choice on some split
  double mean_change = 0;  // of test accuracy, absolute, over all cells
  double largest_change = 0;
};
std::vector<TieSensitivity> tie_sensitivity(const studies::Findings& findings);

}  // namespace modlab::report
