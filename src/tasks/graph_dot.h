#pragma once

#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

// The function graph in the language of Graphviz: modules are clusters, a dot at its head marks a wire that is negated.
// Nodes are called as in the task file; in a suite the task's name comes first. A task without a graph is one box.
std::string graph_dot(const TaskSuite& suite);

}  // namespace modlab::tasks
