#include "report/measures_json.h"

#include <cstdint>

#include "io/json_text.h"
#include "models/settings.h"

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

}  // namespace

ordered_json measures_json(const models::SavedSnapshot& snapshot, const measures::SnapshotMeasures& measured) {
  ordered_json output = models::settings_json(snapshot.network.spec);
  output["snapshot"] = snapshot.name;
  output["epoch"] = snapshot.epoch() ? ordered_json(*snapshot.epoch()) : ordered_json();
  const char* const test = snapshot.network.spec.on_images ? "unseen_accuracy" : "test_accuracy";
  for (const char* key : {"train_accuracy", "validation_accuracy", test}) {
    output[key] = snapshot.score(key);
  }
  if (snapshot.network.spec.on_images) {
    output["seen_accuracy"] = snapshot.score("seen_accuracy");
    output["image_specialisation"] = io::number_or_null(measured.network.image_specialisation);
  }
  output["edit_distance"] = io::number_or_null(measured.network.edit_distance);
  output["specialisation"] = io::number_or_null(measured.network.specialisation);
  output["specialisation_max"] = io::number_or_null(measured.network.specialisation_max);
  output["in_situ"] = io::number_or_null(measured.network.in_situ);
  output["module_reuse"] = io::number_or_null(measured.network.module_reuse);
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
  output["flops"] = cost_json(measured.paper);
  output["flops_exact"] = cost_json(measured.exact);
  return output;
}

}  // namespace modlab::report
