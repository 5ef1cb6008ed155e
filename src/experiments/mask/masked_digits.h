#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks on arithmetic that are trained and then masked (model masked, tasks add-mul and double-addition).
const Experiment& masked_digits();

}  // namespace modlab::experiments
