#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "tasks/task.h"

namespace modlab::tasks {

// The key `modules` of a task file: module names with lists of inputs, gates and outputs of the graph. An output that
// no module names belongs where the gate is that it reads; inputs and gates may be in no module. Throws ConfigError or
// FormatError with `source` and the line.
std::vector<TaskModule> parse_modules(const YAML::Node& node, const FunctionGraph& graph, const std::string& source);

}  // namespace modlab::tasks
