#include "report/measures_json.h"

#include <cstdint>

#include "io/json_text.h"
#include "models/training_settings.h"
#include "report/module_use_text.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

ordered_json cost_json(const std::optional<measures::TrainingCost>& cost) {
  if (!cost) {
    return nullptr;
  }
  const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
  return {{"forward", whole(cost->count.forward)},
          {"backward", whole(cost->count.backward)},
          {"update", whole(cost->count.update)},
          {"updates", whole(cost->updates)},
          {"training_flops", whole(cost->flops)}};
}

// What all snapshots have: settings, epoch, and accuracies that the file carries.
template <typename Spec>
ordered_json start_json(const models::SavedSnapshotOf<Spec>& snapshot, const settings::SpecTable<Spec>& table,
                        const std::vector<std::string>& parts) {
  ordered_json output = table.values(snapshot.network.spec).to_json();
  output["snapshot"] = snapshot.name;
  output["epoch"] = snapshot.epoch() ? ordered_json(*snapshot.epoch()) : ordered_json();
  for (const std::string& part : parts) {
    output[part + "_accuracy"] = snapshot.score(part + "_accuracy");
  }
  return output;
}

void add_costs(const measures::SnapshotMeasures& measured, ordered_json& output) {
  output["flops"] = cost_json(measured.paper);
  output["flops_exact"] = cost_json(measured.exact);
}

// Members count from 1, as where they are shown.
ordered_json pool_json(const measures::PoolUse& pool, const tasks::TaskSuite& suite) {
  ordered_json json = module_use_json(look_at_pool(pool));
  json["operations"] = pool.operations;
  json["gates"] = ordered_json::array();
  for (const measures::PoolUse::Served& served : pool.gates) {
    const tasks::Task& task = suite.tasks[static_cast<std::size_t>(served.task)];
    json["gates"].push_back({{"task", task.name},
                             {"gate", task.graph->levels[served.level][served.gate].name},
                             {"operation", pool.operations[static_cast<std::size_t>(served.operation)]},
                             {"member", served.member < 0 ? ordered_json() : ordered_json(served.member + 1)}});
  }
  return json;
}

}  // namespace

ordered_json measures_json(const models::SavedImageSnapshot& snapshot, const measures::SnapshotMeasures& measured) {
  ordered_json output = start_json(snapshot, models::image_settings(), {"train", "validation", "unseen", "seen"});
  output["image_specialisation"] = io::number_or_null(measured.network.image_specialisation);
  output["edit_distance"] = io::number_or_null(measured.network.edit_distance);
  add_costs(measured, output);
  return output;
}

ordered_json measures_json(const models::SavedSnapshot& snapshot, const measures::SnapshotMeasures& measured) {
  ordered_json output = start_json(snapshot, models::bit_settings(), {"train", "validation", "test"});
  output["edit_distance"] = io::number_or_null(measured.network.edit_distance);
  output["specialisation"] = io::number_or_null(measured.network.specialisation);
  output["specialisation_max"] = io::number_or_null(measured.network.specialisation_max);
  output["in_situ"] = io::number_or_null(measured.network.in_situ);
  output["module_reuse"] = io::number_or_null(measured.network.module_reuse);
  if (measured.network.pool) {
    for (const measures::UseMeasure& measure : measures::use_measures()) {
      output[measure.name] = (*measured.network.pool).*measure.value;
    }
    output["dead_modules"] = measured.network.pool->dead_modules;
  }
  if (measured.pool) {
    output["pool_use"] = pool_json(*measured.pool, snapshot.network.suite);
  }
  for (std::size_t index = 0; index < measured.tasks.size(); ++index) {
    const measures::TaskMeasures& found = measured.tasks[index];
    ordered_json task = {{"task", snapshot.network.suite.tasks[index].name}, {"accuracy", found.accuracy}};
    if (found.in_situ) {
      task["edit_distance"] = found.in_situ->distance;
      if (found.relaxed) {
        task["relaxed_edit_distance"] = *found.relaxed;
      }
      task["matching"] = found.in_situ->matching;
      task["in_situ"] = found.in_situ->mean;
      task["correlation"] = found.in_situ->correlation;
    }
    output["tasks"].push_back(std::move(task));
  }
  add_costs(measured, output);
  return output;
}

}  // namespace modlab::report
