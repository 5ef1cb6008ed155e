#include "tasks/tasks_at_hand.h"

#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

namespace modlab::tasks {
namespace {

struct Shelf {
  std::mutex mutex;
  std::vector<std::shared_ptr<const NamedTasks>> all;
};

Shelf& shelf() {
  static Shelf kShelf;
  return kShelf;
}

}  // namespace

TasksAtHand::TasksAtHand(NamedTasks tasks) : tasks_(std::make_shared<const NamedTasks>(std::move(tasks))) {
  const std::lock_guard lock(shelf().mutex);
  shelf().all.push_back(tasks_);
}

TasksAtHand::~TasksAtHand() {
  if (tasks_) {
    const std::lock_guard lock(shelf().mutex);
    std::erase(shelf().all, tasks_);
  }
}

TasksAtHand& TasksAtHand::operator=(TasksAtHand&& other) noexcept {
  std::swap(tasks_, other.tasks_);
  return *this;
}

std::shared_ptr<const TaskSuite> task_at_hand(const std::string& name) {
  const std::lock_guard lock(shelf().mutex);
  for (const std::shared_ptr<const NamedTasks>& tasks : shelf().all | std::views::reverse) {
    if (const auto found = tasks->find(name); found != tasks->end()) {
      return found->second;
    }
  }
  return nullptr;
}

}  // namespace modlab::tasks
