#pragma once

#include <memory>
#include <span>

#include "bindings.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::python {

// A task that Python holds: built in, from a file, or made there.
struct Task {
  std::shared_ptr<const tasks::TaskSuite> suite;
};

// Of tasks that were made in Python, for as long as runs are planned and trained. Throws ConfigError where another task
// of the same name is in use at this moment, in another thread: names are the program's, not a thread's.
tasks::NamedTasks named(std::span<const Task> tasks);

}  // namespace modlab::python
