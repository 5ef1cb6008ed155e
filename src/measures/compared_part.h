#pragma once

#include <vector>

#include "measures/wiring.h"

namespace modlab::measures {

// The part of a network that is compared with a task's graph. Of several tasks that share it, only what this task's
// outputs depend on: the rest may serve another task. What a module reads beyond what its gate needs is no dependence.
// Alone, all of the network.
struct ComparedPart {
  std::vector<std::vector<bool>> kept;  // [level][slot]
  Wiring wiring;
};
ComparedPart compared_part(const tasks::Routing& routing, const Wiring& truth, bool has_other_tasks);

// From the gates of the slots that are kept to those of all slots: the others have none (-1).
std::vector<std::vector<int>> gates_of_all(const std::vector<std::vector<int>>& gates,
                                           const std::vector<std::vector<bool>>& kept);

}  // namespace modlab::measures
