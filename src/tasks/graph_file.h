#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

// The keys of one YAML task file. Only their presence has been checked: a value may be a node of any kind.
using TaskKeys = std::map<std::string, YAML::Node>;

// One task from the keys `inputs` with `levels`, `outputs` and perhaps `modules`, or `inputs` with `table`; on images
// `images` and `digits` may stand in place of `inputs`. Name and about are left to the caller. Throws ConfigError or
// FormatError with `source` and the line.
Task parse_single_task(const TaskKeys& keys, const std::string& source);

// The text of a plain value, also of one that starts with '!' (which YAML takes for a tag); nothing for a list, a map
// or an empty value.
std::optional<std::string> scalar_text(const YAML::Node& node);

// A name that a file gives to `what` ("a gate"): a letter, then letters, digits and _ . - in any order. Throws
// ConfigError or FormatError.
std::string read_name(const YAML::Node& node, const std::string& what, const std::string& source);

// Whether a name says of itself that it is an output: y1, out_a.
bool is_output_name(std::string_view name);

}  // namespace modlab::tasks
