#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks on sequences, on libtorch, that are trained and then masked (model masked, tasks scan and math/...).
const Experiment& masked_sequences();

}  // namespace modlab::experiments
