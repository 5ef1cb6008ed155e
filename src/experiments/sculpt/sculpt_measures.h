#pragma once

#include <span>

#include "experiments/measure.h"

namespace modlab::experiments {

// The numbers of methods::trial_measures, and the accuracy of the network that a trial ends with.
std::span<const Measure> sculpt_measures();

}  // namespace modlab::experiments
