#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tasks/graph_file.h"
#include "tasks/task.h"

namespace modlab::tasks {

// The keys `images` and `digits` of a task file; nothing for a task on bits. Throws ConfigError or FormatError with
// `source` and the line.
std::optional<ImageInputs> parse_image_keys(const TaskKeys& keys, const std::string& source);

// The names of the inputs where the file gives none: a2 a1 a0 for the first image, b2 b1 b0 for the second.
std::vector<std::string> bit_names(const ImageInputs& inputs);

}  // namespace modlab::tasks
