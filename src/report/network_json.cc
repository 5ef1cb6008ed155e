#include "report/network_json.h"

#include "experiments/images/image_details.h"
#include "measures/snapshot_measures.h"
#include "models/training_settings.h"
#include "report/network_view.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

ordered_json task_view_json(const TaskView& view, const tasks::Task& task) {
  ordered_json object;
  object["task"] = task.name;
  for (const std::vector<SlotView>& level : view.levels) {
    ordered_json slots = ordered_json::array();
    for (const SlotView& slot : level) {
      slots.push_back({{"name", slot.name}, {"reads", slot.reads}, {"follows", slot.computes}});
    }
    object["levels"].push_back(slots);
  }
  object["outputs"] = view.outputs;
  object["accuracy"] = 100 * view.accuracy;
  if (view.is_true_wiring) {
    object["true_wiring"] = *view.is_true_wiring;
  }
  return object;
}

}  // namespace

ordered_json network_json(const models::SavedImageSnapshot& snapshot) {
  ordered_json output = models::image_settings().values(snapshot.network.spec).to_json();
  output["snapshot"] = snapshot.name;
  output.update(experiments::image_details(measures::view_images(snapshot), snapshot.network.suite));
  return output;
}

ordered_json network_json(const models::SavedSnapshot& snapshot) {
  const models::SavedNetwork& network = snapshot.network;
  ordered_json output = models::bit_settings().values(network.spec).to_json();
  output["snapshot"] = snapshot.name;
  for (int task = 0; !network.spec.is_mlp() && task < network.blueprint.data.tasks; ++task) {
    output["tasks"].push_back(task_view_json(view_task(snapshot, task), network.suite.tasks[task]));
  }
  return output;
}

}  // namespace modlab::report
