#pragma once

#include <string>

#include "measures/image_measures.h"
#include "tasks/task.h"

namespace modlab::report {

// What a network on images reads, what its image modules say of each digit, and where it is right.
std::string image_text(const measures::ImageView& view, const tasks::ImageInputs& inputs);

}  // namespace modlab::report
