#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Someone's architecture, as TorchScript, that learns truth tables as our own networks do: the same splits, selection
// and measures.
const Experiment& trained_script();

}  // namespace modlab::experiments
