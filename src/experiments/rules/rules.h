#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks on data whose rule is known, and whether their modules specialise.
const Experiment& rules();

}  // namespace modlab::experiments
