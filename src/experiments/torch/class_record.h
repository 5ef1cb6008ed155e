#pragma once

#include <span>
#include <vector>

#include "experiments/measure.h"
#include "methods/mask/mask_outcome.h"

// What is kept of masks that never saw one of the classes.
namespace modlab::experiments {

std::vector<Measure> class_measures();

// `removed`: which class is missing to each target.
void add_class_numbers(const methods::MaskOutcome& outcome, std::span<const int> removed, Numbers& numbers);

}  // namespace modlab::experiments
