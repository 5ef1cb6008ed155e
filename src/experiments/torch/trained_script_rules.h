#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Someone's architecture, as TorchScript, that learns rule-based data as our own networks do: the same samples at every
// step, evaluations and measures; where it names its gates, those of its modules too.
const Experiment& trained_script_rules();

}  // namespace modlab::experiments
