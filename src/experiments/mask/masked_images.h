#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks that learn images whose pixels change places, one task after the other, with masks (model masked, task
// permuted-mnist).
const Experiment& masked_images();

}  // namespace modlab::experiments
