#pragma once

#include <map>
#include <memory>
#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

using NamedTasks = std::map<std::string, std::shared_ptr<const TaskSuite>>;

// A run names its task as its study does, and what that means is for the study to say: a file beside it, or a text in a
// store that has gone elsewhere. While one of these or a copy of it lives, load_task and cached_task take these tasks
// for those names, in all threads; the one that was made last is asked first.
class TasksAtHand {
 public:
  TasksAtHand() = default;
  explicit TasksAtHand(NamedTasks tasks);

 private:
  std::shared_ptr<const NamedTasks> tasks_;
};

// Null if no such task is at hand.
std::shared_ptr<const TaskSuite> task_at_hand(const std::string& name);

}  // namespace modlab::tasks
