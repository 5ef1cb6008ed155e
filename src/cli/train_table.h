#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::cli {

// What the table needs of a finished run.
struct RunSummary {
  bool diverged = false;
  experiments::Numbers numbers;  // at the best validation epoch
  double seconds = 0;            // of one thread
};

// For each kind one line for each combination of the settings that vary, seeds taken together: what the kind shows of a
// run, and time. Above it what all runs share; below it what the numbers mean.
std::string train_table(const std::vector<experiments::Run>& runs, const std::vector<RunSummary>& summaries);

}  // namespace modlab::cli
