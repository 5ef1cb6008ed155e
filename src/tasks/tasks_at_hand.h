#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tasks/task.h"

namespace modlab::tasks {

using NamedTasks = std::map<std::string, std::shared_ptr<const TaskSuite>>;
// What is known of other files, by name, such as the size of images.
using FileFacts = std::map<std::string, std::string>;

// A run names its task as its study does, and what that means is for the study to say: a file beside it, or a text in a
// store that has gone elsewhere. While one of these or a copy of it lives, load_task and cached_task take these tasks
// for those names, in all threads; the one that was made last is asked first.
class TasksAtHand {
 public:
  TasksAtHand() = default;
  explicit TasksAtHand(NamedTasks tasks, FileFacts facts = {});

  struct Held {
    NamedTasks tasks;
    FileFacts facts;
  };

 private:
  std::shared_ptr<const Held> held_;
};

// Null if no such task is at hand.
std::shared_ptr<const TaskSuite> task_at_hand(const std::string& name);
std::optional<std::string> fact_at_hand(const std::string& name);

}  // namespace modlab::tasks
