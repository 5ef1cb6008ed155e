#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "measures/module_use.h"
#include "models/blueprint.h"
#include "tasks/task.h"

namespace modlab::measures {

// What a study stores for each snapshot of a network. Not a number where it means nothing: monolithic networks, tasks
// without a graph.
struct NetworkMeasures {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double edit_distance = kNone;       // strict, to each task's graph
  double specialisation = kNone;      // mean |rho| of the level-1 modules with the first level's operation
  double specialisation_max = kNone;  // of the most specialised of them
  double in_situ = kNone;             // mean |rho| of gates and the slots matched with them, over the truth table
  // With several tasks: of the modules (own ones, or members of the pool) that some output depends on, the share that
  // two or more tasks use.
  double module_reuse = kNone;
  std::optional<UseMeasures> pool;      // whether the members of a shared pool specialise, see pool_use.h
  double image_specialisation = kNone;  // on images: of the image slots, see image_measures.h
};

// Means over tasks. With several tasks the edit distance of a task leaves out slots that none of its outputs depends
// on: they may serve another task. With one task every slot counts, as in the paper.
NetworkMeasures measure_network(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                                const std::vector<float>& parameters);

}  // namespace modlab::measures
