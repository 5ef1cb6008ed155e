#include "measures/snapshot_measures.h"

#include <utility>
#include <variant>

#include "engine/kernels/kernels.h"
#include "measures/compared_part.h"
#include "measures/edit_distance.h"
#include "measures/matching.h"
#include "measures/modular_view.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"

namespace modlab::measures {
namespace {

template <typename Spec>
std::optional<TrainingCost> cost_of(const models::SavedSnapshotOf<Spec>& snapshot, Counting counting) {
  const Spec& spec = snapshot.network.spec;
  const std::optional<int> epoch = snapshot.epoch();
  if (!epoch) {
    return std::nullopt;
  }
  const int rows = models::part_rows(spec, snapshot.network.suite).train;
  TrainingCost cost;
  cost.count = count_flops(spec, snapshot.network.suite, counting);
  cost.updates = updates_to_epoch(*epoch, rows, spec.batch_size, counting);
  cost.flops = training_flops(cost.count, *epoch, rows, spec.batch_size, counting);
  return cost;
}

std::optional<int> relaxed_distance(const models::SavedSnapshot& snapshot, int task) {
  const auto* shape = std::get_if<models::ModularShape>(&snapshot.network.blueprint.shape);
  const std::vector<tasks::Task>& tasks = snapshot.network.suite.tasks;
  if (shape == nullptr || !tasks[task].graph) {
    return std::nullopt;
  }
  const tasks::Routing routing = models::learned_routing(*shape, snapshot.parameters())[task];
  const Wiring truth = wiring_of(*tasks[task].graph);
  return relaxed_edit_distance(compared_part(routing, truth, tasks.size() > 1).wiring, truth);
}

}  // namespace

SnapshotMeasures measure_snapshot(const models::SavedSnapshot& snapshot, bool with_relaxed) {
  const models::SavedNetwork& network = snapshot.network;
  SnapshotMeasures measured;
  measured.paper = cost_of(snapshot, Counting::kPaper);
  measured.exact = cost_of(snapshot, Counting::kExact);
  for (int task = 0; task < static_cast<int>(network.suite.tasks.size()); ++task) {
    TaskMeasures found;
    found.accuracy =
        100 * models::bit_accuracy(models::plain_forward(network.blueprint, snapshot.parameters(), network.suite, task),
                                   network.suite.tasks[task].table);
    found.in_situ = in_situ_correlation(network.blueprint, network.suite, task, snapshot.parameters());
    if (with_relaxed) {
      found.relaxed = relaxed_distance(snapshot, task);
    }
    measured.tasks.push_back(std::move(found));
  }
  measured.network = measure_network(network.blueprint, network.suite, snapshot.parameters());
  measured.specialisation = specialisation(network.blueprint, network.suite, snapshot.parameters());
  if (const std::optional<ModularView> view = view_modular(network.blueprint, snapshot.parameters())) {
    std::vector<InSitu> in_situ;
    for (const TaskMeasures& task : measured.tasks) {
      if (task.in_situ) {
        in_situ.push_back(*task.in_situ);
      }
    }
    measured.pool = pool_use(*view, network.suite, in_situ);
  }
  return measured;
}

SnapshotMeasures measure_snapshot(const models::SavedImageSnapshot& snapshot, bool /*with_relaxed*/) {
  SnapshotMeasures measured;
  measured.paper = cost_of(snapshot, Counting::kPaper);
  measured.exact = cost_of(snapshot, Counting::kExact);
  measured.network = view_images(snapshot).measures;
  return measured;
}

ImageView view_images(const models::SavedImageSnapshot& snapshot) {
  const models::SavedImageNetwork& network = snapshot.network;
  return view_image_network(network.spec, network.blueprint, network.suite, snapshot.parameters(), engine::kernels());
}

}  // namespace modlab::measures
