#include "measures/network_measures.h"

#include <algorithm>

#include "core/errors.h"
#include "measures/compared_part.h"
#include "measures/modular_view.h"
#include "measures/pool_use.h"
#include "measures/wiring.h"

namespace modlab::measures {
namespace {

// [level][slot]: whether some output of the task depends on it.
std::vector<std::vector<bool>> slots_in_use(const ModularView& view, const tasks::Task& task,
                                            const tasks::Routing& routing) {
  try {
    if (task.graph) {
      return compared_part(routing, wiring_of(*task.graph), true).kept;
    }
  } catch (const ConfigError&) {
    // So many modules that nobody knows which read more than they need.
  }
  return nodes_in_use(wiring_of(routing, view.shape.inputs));
}

double module_reuse(const ModularView& view, const tasks::TaskSuite& suite) {
  std::vector<int> users(view.places.modules.size(), 0);
  for (std::size_t task = 0; task < view.routings.size(); ++task) {
    const tasks::Routing& routing = view.routings[task];
    std::vector<bool> uses(users.size(), false);
    std::size_t slot_index = 0;
    const std::vector<std::vector<bool>> used = slots_in_use(view, suite.tasks[task], routing);
    for (std::size_t level = 0; level < used.size(); ++level) {
      for (std::size_t slot = 0; slot < used[level].size(); ++slot, ++slot_index) {
        if (used[level][slot]) {
          uses[view.shape.pool > 0 ? routing.modules[level][slot] : slot_index] = true;
        }
      }
    }
    std::ranges::transform(users, uses, users.begin(),
                           [](int count, bool is_user) { return count + (is_user ? 1 : 0); });
  }
  const auto by_any = std::ranges::count_if(users, [](int count) { return count >= 1; });
  const auto by_several = std::ranges::count_if(users, [](int count) { return count >= 2; });
  return static_cast<double>(by_several) / static_cast<double>(by_any);
}

}  // namespace

NetworkMeasures measure_network(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                                const std::vector<float>& parameters) {
  NetworkMeasures measures;
  const std::optional<ModularView> view = view_modular(blueprint, parameters);
  if (!view) {
    return measures;
  }
  if (const std::optional<Specialisation> found = specialisation(*view, suite)) {
    measures.specialisation = found->mean;
    measures.specialisation_max = found->max;
  }
  const int tasks = static_cast<int>(suite.tasks.size());
  double distance = 0;
  double in_situ = 0;
  std::vector<InSitu> by_task;
  for (int task = 0; task < tasks; ++task) {
    try {
      std::optional<InSitu> found = in_situ_correlation(*view, suite, task);
      distance += found ? found->distance : NetworkMeasures::kNone;
      in_situ += found ? found->mean : NetworkMeasures::kNone;
      if (found) {
        by_task.push_back(*std::move(found));
      }
    } catch (const ConfigError&) {
      // So many modules that the distance cannot be found: the study goes on without it.
      distance = NetworkMeasures::kNone;
      in_situ = NetworkMeasures::kNone;
    }
  }
  measures.edit_distance = distance / tasks;
  measures.in_situ = in_situ / tasks;
  if (const std::optional<PoolUse> found = pool_use(*view, suite, by_task)) {
    measures.pool = measure_use(found->use);
  }
  if (tasks > 1) {
    measures.module_reuse = module_reuse(*view, suite);
  }
  return measures;
}

}  // namespace modlab::measures
