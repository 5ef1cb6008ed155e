#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/saved_snapshot.h"

// What the slots of a modular network on bits read and follow, in words that `modlab show` and its JSON share.
namespace modlab::report {

struct SlotView {
  std::string name;
  std::string reads;
  std::string computes;  // the true gate it follows most closely
};

struct TaskView {
  std::vector<std::vector<SlotView>> levels;
  std::vector<std::string> outputs;
  double accuracy = 0;
  std::optional<bool> is_true_wiring;
};

TaskView view_task(const models::SavedSnapshot& snapshot, int task_index);

// "s2.1": the first slot of the second level. Gates have names of the task's own.
std::string slot_name(std::size_t level, std::size_t slot);

}  // namespace modlab::report
