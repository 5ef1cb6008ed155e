#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Dense networks that are both masked and pruned to their skeleton (model masked-sculpted): is the mask of an output
// what pruning leaves of it?
const Experiment& masked_sculpted();

}  // namespace modlab::experiments
