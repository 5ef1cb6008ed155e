#include "tasks/routing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace modlab::tasks {

namespace {

std::string from_one(const std::vector<int>& picks) {
  std::vector<int> counted = picks;
  for (int& pick : counted) {
    ++pick;
  }
  return fmt::format("{}", fmt::join(counted, ","));
}

}  // namespace

std::string wiring_text(const Routing& routing) {
  std::string text;
  for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
    std::vector<std::string> slots;
    for (const std::vector<int>& slot : routing.inputs[level]) {
      slots.push_back("(" + from_one(slot) + ")");
    }
    text += fmt::format("L{}: {}; ", level + 1, fmt::join(slots, ","));
  }
  return text + "out: (" + from_one(routing.outputs) + ")";
}

std::string modules_text(const Routing& routing) {
  std::vector<std::string> levels;
  for (std::size_t level = 0; level < routing.modules.size(); ++level) {
    levels.push_back(fmt::format("L{}: {}", level + 1, from_one(routing.modules[level])));
  }
  return fmt::format("{}", fmt::join(levels, "; "));
}

}  // namespace modlab::tasks
