#pragma once

#include <string>
#include <vector>

#include "models/population.h"

namespace modlab::cli {

// What the table needs of a finished run.
struct RunSummary {
  bool diverged = false;
  int best_epoch = 0;
  // Percent, at the best validation epoch; on images the first is of unseen combinations.
  double test_accuracy = 0;
  double seen_accuracy = 0;
  double seconds = 0;  // of one thread
};

// One line for each combination of the settings that vary, seeds taken together: accuracy with its standard error, how
// many runs are perfect, epochs to the best one, time. Above it what all runs share; below it what guessing would
// reach.
std::string train_table(const models::Plan& plan, const std::vector<RunSummary>& runs);

}  // namespace modlab::cli
