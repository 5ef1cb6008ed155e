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

// Slots are named as the papers name gates: a0, a1 on the first level, b0 on the second.
std::string slot_name(std::size_t level, std::size_t slot);

}  // namespace modlab::report
