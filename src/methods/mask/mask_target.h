#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace modlab::methods {

// A function that a mask is to keep: on which rows, and which outputs.
struct MaskTarget {
  std::string name;
  std::vector<std::uint32_t> rows;  // samples: rows of the truth table, task after task
  std::uint32_t outputs = 0;        // bit k: output k
};

// All rows and outputs, which the control mask keeps.
MaskTarget whole_target(const tasks::TaskSuite& suite);

// The targets that `text` names: "outputs" (each for itself), "tasks" (each task of a suite), groups of outputs such as
// "sum+carry/zero", or a CSV file with the columns target, row and output, perhaps task: each line adds its row
// (counted from 0, * for all) and its output (* for all) to a target. Throws ConfigError or FormatError, also for a
// target without rows or outputs.
std::vector<MaskTarget> mask_targets(const std::string& text, const tasks::TaskSuite& suite);

// Those of such a file by its text; `path` stands in messages.
std::vector<MaskTarget> parse_mask_targets(const std::string& text, const std::string& path,
                                           const tasks::TaskSuite& suite);

// Whether each two targets, in the order of sharing_of(), need a gate in common. Empty where the task's structure is
// not known, or where there are several tasks.
std::vector<bool> need_common_gate(const std::vector<MaskTarget>& targets, const tasks::TaskSuite& suite);

// Of samples that a network says these words of: how many of a target's rows are right in all of its outputs, in
// percent. `right` are the true words.
double target_accuracy(const MaskTarget& target, const std::vector<std::uint32_t>& said,
                       const std::vector<std::uint32_t>& right);

}  // namespace modlab::methods
