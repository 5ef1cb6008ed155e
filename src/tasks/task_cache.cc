#include "tasks/task_cache.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "tasks/task_file.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::tasks {

std::shared_ptr<const TaskSuite> cached_task(const std::string& name_or_path) {
  if (std::shared_ptr<const TaskSuite> known = task_at_hand(name_or_path)) {
    return known;
  }
  struct Known {
    std::shared_ptr<const TaskSuite> suite;
    std::filesystem::file_time_type changed;
    std::uintmax_t size = 0;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> cache;
  // A path means another file once the program is in another folder. Of built-in tasks there is no file, and both stay
  // as they are.
  std::error_code none;
  const std::filesystem::path path = std::filesystem::absolute(name_or_path, none);
  const auto changed = std::filesystem::last_write_time(path, none);
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  const std::lock_guard lock(mutex);
  const std::string key = path.string() + '\n' + name_or_path;
  if (const auto found = cache.find(key);
      found != cache.end() && found->second.changed == changed && found->second.size == size) {
    return found->second.suite;
  }
  auto suite = std::make_shared<const TaskSuite>(load_task(name_or_path));
  cache[key] = {suite, changed, size};
  return suite;
}

}  // namespace modlab::tasks
