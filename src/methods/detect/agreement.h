#pragma once

#include <optional>
#include <span>
#include <vector>

#include "methods/detect/detect.h"
#include "tasks/task.h"

namespace modlab::methods {

// How far two partitions of the same things agree. None of the values is ever undefined: equal partitions score 1, also
// where all is one group or every thing is its own (or there is nothing to group), and a partition of one group scores
// 0 against any other.
struct Agreement {
  bool exact = false;
  double adjusted_rand = 0;       // 1 for equal partitions, 0 on average by chance, below 0 for less than that
  double mutual_information = 0;  // from 0 to 1: divided by the arithmetic mean of both entropies
};

// A label for each thing; things with equal labels form a group.
Agreement agreement(std::span<const int> first, std::span<const int> second);

// Modules found against the true ones, over the units that both have. What no module holds, because the network has
// dropped it or the task leaves it out, is a group of its own.
struct TruthAgreement {
  Agreement inputs;
  Agreement outputs;
  Agreement all;  // inputs and outputs together: also which outputs are in a module with which inputs
};

// Nothing where the task names no modules. The network has the task's inputs and outputs.
std::optional<TruthAgreement> truth_agreement(const Detection& detection, const tasks::Task& task);

// [module of the hierarchy]: the task's module with the same inputs and outputs, where it has any; -1 if there is none.
std::vector<int> same_as_truth(const Hierarchy& hierarchy, const tasks::Task& task);

}  // namespace modlab::methods
