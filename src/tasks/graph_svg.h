#pragma once

#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

// The function graph as a picture for a paper: inputs on the left, outputs on the right, one colour for each operation,
// an open circle where a value is negated, inputs that matter to no output in grey. The tasks of a suite stand side by
// side; a task without a graph is one box.
std::string graph_svg(const TaskSuite& suite);

}  // namespace modlab::tasks
