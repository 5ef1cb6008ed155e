#include "methods/sculpt/trial_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "measures/structure.h"

namespace modlab::methods {
namespace {

constexpr double kPercent = 100;
constexpr double kShareOfPaths = 90;  // N_90
// Layers whose N_90 the paper shows.
constexpr int kShownLayers = 2;

void add_success(const JudgedTrial& judged, const tasks::Task& task, std::map<std::string, double>& numbers) {
  if (const std::optional<double> share = judged.success()) {
    numbers["true_modules"] = kPercent * *share;
    numbers["true_modules_optimistic"] = *share > 0 ? kPercent : 0;
    numbers["true_modules_pessimistic"] =
        std::ranges::all_of(judged.networks,
                            [](const JudgedNetwork& network) { return network.success.value_or(false); })
            ? kPercent
            : 0;
    numbers["true_modules_tables"] = kPercent * judged.success_as_in_tables(task).value_or(0);
  }
  for (const char* criterion : {"input_sep", "output_sep", "hidden_sep", "intermediate"}) {
    if (const std::optional<double> share = judged.meets(criterion)) {
      numbers[criterion] = kPercent * *share;
    }
  }
  const Detection& first = judged.networks.front().detection;
  double units = 0;
  for (std::size_t layer = 1; layer + 1 < first.live.size(); ++layer) {
    units += static_cast<double>(first.live[layer].size());
  }
  numbers["live_units"] = units;
  numbers["module_count"] = first.module_count;
}

// The task's modules that hold both inputs and outputs, as groups for the tests of separation.
measures::Groups groups_of(const tasks::Task& task) {
  measures::Groups groups;
  for (const tasks::TaskModule& module : task.modules) {
    if (!module.inputs.empty() && !module.outputs.empty()) {
      groups.inputs.push_back(module.inputs);
      groups.outputs.push_back(module.outputs);
    }
  }
  return groups;
}

void add_structure(const PrunedMlp& pruned, const tasks::Task& task, const std::string& suffix,
                   std::map<std::string, double>& numbers) {
  const models::LayeredNetwork network = to_layered(pruned);
  for (int layer = 1; layer <= kShownLayers && layer + 1 < network.layers(); ++layer) {
    numbers[fmt::format("n90_layer{}{}", layer, suffix)] =
        measures::units_for_share(measures::path_sums(network, layer), kShareOfPaths);
  }
  if (const measures::Groups groups = groups_of(task); groups.inputs.size() > 1) {
    numbers["separable" + suffix] =
        measures::separation(measures::path_products(network), groups).is_separable() ? kPercent : 0;
  }
}

}  // namespace

std::map<std::string, double> trial_measures(const TrialOutcome& outcome, const JudgedTrial& judged, int epochs,
                                             const tasks::Task& task) {
  std::map<std::string, double> numbers = {{"epochs_used", epochs}};
  if (outcome.trainings > 0) {
    numbers["trainings"] = outcome.trainings;
  }
  if (outcome.dense.layers() > 0) {
    numbers["learned"] = outcome.learned ? kPercent : 0;
    numbers["dense_accuracy"] = outcome.dense_accuracy;
    add_structure(outcome.dense, task, "_dense", numbers);
  }
  if (outcome.winners.empty()) {
    return numbers;
  }
  const SculptedNetwork& first = outcome.winners.front();
  numbers["edges"] = first.network.edge_count();
  numbers["tied"] = static_cast<double>(outcome.winners.size());
  add_success(judged, task, numbers);
  add_structure(first.network, task, "", numbers);
  return numbers;
}

}  // namespace modlab::methods
