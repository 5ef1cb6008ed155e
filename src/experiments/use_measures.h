#pragma once

#include <vector>

#include "experiments/measure.h"
#include "measures/module_use.h"

namespace modlab::experiments {

// Whether modules specialise or collapse, in mixtures and in pools, as measures of a run.
std::vector<Measure> use_measures();
void add_use(const measures::UseMeasures& use, Numbers& numbers);

}  // namespace modlab::experiments
