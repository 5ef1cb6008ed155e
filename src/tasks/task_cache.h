#pragma once

#include <memory>
#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

// The same as load_task, but read once in a process; a file is read again when it has changed.
std::shared_ptr<const TaskSuite> cached_task(const std::string& name_or_path);

}  // namespace modlab::tasks
