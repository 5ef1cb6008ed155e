#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks that were trained elsewhere, as TorchScript, and are masked on samples of their own: the task is a file of
// samples, and the network a file too.
const Experiment& masked_script();

}  // namespace modlab::experiments
