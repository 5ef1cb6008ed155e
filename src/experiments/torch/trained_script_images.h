#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Someone's architecture, as TorchScript, that learns image tasks as our own networks do: the same samples, batches,
// selection and measures.
const Experiment& trained_script_images();

}  // namespace modlab::experiments
