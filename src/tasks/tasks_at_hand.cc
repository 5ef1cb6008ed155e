#include "tasks/tasks_at_hand.h"

#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

namespace modlab::tasks {
namespace {

struct Shelf {
  std::mutex mutex;
  std::vector<const TasksAtHand::Held*> all;

  // The value under a name in what was made last and has it.
  template <typename Value>
  std::optional<Value> find(std::map<std::string, Value> TasksAtHand::Held::*list, const std::string& name) {
    const std::lock_guard lock(mutex);
    for (std::size_t left = all.size(); left > 0; --left) {
      const std::map<std::string, Value>& values = all[left - 1]->*list;
      if (const auto found = values.find(name); found != values.end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }
};

Shelf& shelf() {
  static Shelf the_one;
  return the_one;
}

}  // namespace

TasksAtHand::TasksAtHand(NamedTasks tasks, FileFacts facts)
    : held_(new Held{std::move(tasks), std::move(facts)}, [](const Held* gone) {
        const std::lock_guard lock(shelf().mutex);
        std::erase(shelf().all, gone);
        delete gone;
      }) {
  const std::lock_guard lock(shelf().mutex);
  shelf().all.push_back(held_.get());
}

std::shared_ptr<const TaskSuite> task_at_hand(const std::string& name) {
  return shelf().find(&TasksAtHand::Held::tasks, name).value_or(nullptr);
}

std::optional<std::string> fact_at_hand(const std::string& name) {
  return shelf().find(&TasksAtHand::Held::facts, name);
}

}  // namespace modlab::tasks
