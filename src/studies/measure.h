#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measures/flops.h"
#include "studies/store.h"
#include "studies/study_plan.h"

namespace modlab::studies {

// What a measure is computed from: one run, looked at in one snapshot.
struct MeasuredRun {
  const PlannedRun& planned;
  const SnapshotResult& snapshot;
  measures::FlopCount flops;
  int train_rows = 0;
  double unseen_base = 0;  // on images: accuracy, on the unseen combinations of its split, of always saying 0
  const std::map<std::string, double>& sculpted;  // of sculpted networks; empty for others
};

// A number of one run that figures and claims can name. This table is the only place that knows its name, label and
// unit. It is not a number where it means nothing.
struct Measure {
  std::string name;
  std::string label;
  std::string unit;
  bool log = false;  // spans orders of magnitude: drawn and compared as a logarithm
  std::optional<std::pair<double, double>> domain;
  bool higher_is_better = true;
  bool is_accuracy = false;  // has a base rate and saturates at 100
  int task = -1;             // of one task of a suite
  double (*get)(const MeasuredRun& run, int task) = nullptr;
  bool of_trial = false;  // is looked up among the measures of a sculpted network

  double value(const MeasuredRun& run) const;
};

const std::vector<Measure>& all_measures();
const Measure* find_measure(const std::string& name);
std::size_t measure_index(const std::string& name);
std::vector<std::string> measure_names();

}  // namespace modlab::studies
