#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::report {

// A finished run, for a table.
struct RunRow {
  const experiments::Run* run = nullptr;
  bool diverged = false;
  const experiments::Numbers* numbers = nullptr;
};

// Runs as CSV: number, id, settings, whether the run diverged, measures. A column is there if some run has a value in
// it that no other column says.
std::string run_table(std::span<const RunRow> rows);

// Settings beside the number and the id of a run, for tables with many lines of each run: those in which runs differ.
class RunKeys {
 public:
  explicit RunKeys(const std::vector<experiments::Run>& runs);

  // "run,id,lr,seed".
  std::string header() const;
  // "0,3cf8...,0.1,7".
  std::string start(std::size_t number, const experiments::Run& run) const;

 private:
  std::vector<std::string> settings_;
};

}  // namespace modlab::report
