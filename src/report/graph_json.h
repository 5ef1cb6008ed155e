#pragma once

#include <string>

#include "tasks/task.h"

namespace modlab::report {

// Everything about a suite and its tasks as JSON, ending with a line feed.
std::string suite_json(const tasks::TaskSuite& suite);

}  // namespace modlab::report
