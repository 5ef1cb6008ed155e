#pragma once

#include <vector>

#include "experiments/experiment.h"
#include "methods/mask/mask_outcome.h"

// What a task's mask takes over from those of the tasks before it, as numbers for figures and claims.
namespace modlab::experiments {

// Tasks and layers that have numbers of their own, both counted from 1: the second task is the first that can share.
inline constexpr int kMostTransferTasks = 11;
inline constexpr int kMostTransferLayers = 5;

std::vector<Measure> transfer_measures();

// `own_tensors` of the outcome share nothing, and are left out. Layers are those of `layers.N.weight`.
void add_transfer_numbers(const methods::MaskOutcome& outcome, Numbers& numbers);

}  // namespace modlab::experiments
