#include "tasks/tasks_at_hand.h"

#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

namespace modlab::tasks {
namespace {

struct Shelf {
  std::mutex mutex;
  std::vector<const NamedTasks*> all;
};

Shelf& shelf() {
  static Shelf kShelf;
  return kShelf;
}

}  // namespace

TasksAtHand::TasksAtHand(NamedTasks tasks)
    : tasks_(new NamedTasks(std::move(tasks)), [](const NamedTasks* gone) {
        const std::lock_guard lock(shelf().mutex);
        std::erase(shelf().all, gone);
        delete gone;
      }) {
  const std::lock_guard lock(shelf().mutex);
  shelf().all.push_back(tasks_.get());
}

std::shared_ptr<const TaskSuite> task_at_hand(const std::string& name) {
  const std::lock_guard lock(shelf().mutex);
  for (const NamedTasks* tasks : shelf().all | std::views::reverse) {
    if (const auto found = tasks->find(name); found != tasks->end()) {
      return found->second;
    }
  }
  return nullptr;
}

}  // namespace modlab::tasks
