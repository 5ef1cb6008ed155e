#pragma once

#include <vector>

#include "experiments/experiment.h"
#include "methods/mask/mask_outcome.h"

// What masks over networks on sequences come to, besides what all masks do.
namespace modlab::experiments {

std::vector<Measure> sequence_measures();

// Accuracies of every mask in every test, what masks lose, and, of SCAN, what the mask of jump leaves out of the
// weights that say each action. `trained_on`: of SCAN, the split that the weights are trained on.
void add_scan_numbers(const methods::MaskOutcome& outcome, const std::string& trained_on, Numbers& numbers);
void add_math_numbers(const methods::MaskOutcome& outcome, Numbers& numbers);

}  // namespace modlab::experiments
