#pragma once

#include "experiments/experiment.h"
#include "methods/sculpt/sculpt_run.h"

namespace modlab::experiments {

// Dense networks that are pruned to their skeleton, and networks of others in their place.
const Experiment& sculpt();
methods::SculptRun sculpt_run(const Values& values);
// The name of such a run.
std::string sculpt_id(const methods::SculptRun& run);

}  // namespace modlab::experiments
