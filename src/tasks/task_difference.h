#pragma once

#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

// What makes two tasks different ones, in words: "output b differs in 4 of 16 rows, and b was OR(x2, x3) and is XOR(x2,
// x3)". Empty if networks that learn them learn the same, and are compared with the same structure: names play no role.
std::string task_difference(const TaskSuite& was, const TaskSuite& is);

}  // namespace modlab::tasks
