#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks on truth tables that are trained and then masked (model masked).
const Experiment& masked_bits();

}  // namespace modlab::experiments
