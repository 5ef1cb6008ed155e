#pragma once

#include "experiments/experiment.h"
#include "models/run_spec.h"

namespace modlab::experiments {

// Networks that learn truth tables.
const Experiment& bits();
models::RunSpec bit_spec(const Values& values);

}  // namespace modlab::experiments
