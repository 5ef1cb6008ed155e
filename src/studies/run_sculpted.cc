#include "studies/run_sculpted.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "io/compress.h"
#include "methods/sculpt/trial_measures.h"
#include "models/layered_network_file.h"
#include "models/settings.h"

namespace modlab::studies {
namespace {

using nlohmann::ordered_json;

// The first of the tied networks with its history, and in short what the others are. Any of them can be carved again.
std::string details(const models::RunSpec& run, const methods::SculptResult& result, const tasks::Task& task) {
  const methods::JudgedTrial judged = methods::judge(result.outcome, task, {});
  ordered_json json = {{"epochs", result.epochs}, {"tied", ordered_json::array()}};
  for (std::size_t at = 0; at < judged.networks.size(); ++at) {
    const methods::SculptedNetwork& winner = result.outcome.winners[at];
    const methods::JudgedNetwork& network = judged.networks[at];
    json["tied"].push_back({{"p_u", winner.unit_step},
                            {"p_e", winner.edge_step},
                            {"success", network.success ? ordered_json(*network.success) : ordered_json(nullptr)},
                            {"modules", network.detection.modules}});
  }
  if (!judged.networks.empty()) {
    const methods::SculptedNetwork& winner = result.outcome.winners.front();
    json["steps"] = ordered_json::array();
    for (const methods::PruneStep& step : winner.steps) {
      json["steps"].push_back(
          {methods::stage_name(step.stage), step.percent, step.units, step.edges, step.accuracy, step.accepted});
    }
    json["network"] = models::to_json_line({models::run_id(run), judged.networks.front().network, {}});
  }
  return json.dump();
}

FinishedRun finish(const models::RunSpec& run, const tasks::TaskSuite& suite, const methods::SculptResult& result) {
  const tasks::Task& task = suite.tasks.front();
  FinishedRun finished;
  finished.id = models::run_id(run);
  finished.settings = models::settings_json(run).dump();
  finished.result.rows = models::part_rows(run, suite);
  SnapshotResult& best = finished.result.best;
  best.epoch = result.epochs;
  // What a trial is judged by is the network that it ends with, the dense one if it was not pruned.
  const double accuracy =
      result.outcome.winners.empty() ? result.outcome.dense_accuracy : result.outcome.winners.front().accuracy;
  for (const engine::Part part : {engine::Part::kTrain, engine::Part::kValidation}) {
    best.parts[static_cast<std::size_t>(part)].accuracy = accuracy;
  }
  finished.result.last = best;
  finished.result.seconds = result.outcome.seconds;
  finished.result.sculpted = methods::trial_measures(result.outcome, result.epochs, task);
  finished.sculpt_details = details(run, result, task);
  return finished;
}

}  // namespace

void run_sculpted(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                  int threads, const engine::Kernels<float>& kernels, methods::SculptProgress& progress, Store& store) {
  methods::sculpt_networks(runs, suites, threads, kernels, progress,
                           [&](std::size_t run, const methods::SculptResult& result) {
                             const models::RunSpec& spec = runs[run];
                             const FinishedRun finished = finish(spec, suites.at(spec.task), result);
                             store.add(std::span(&finished, 1));
                           });
}

double estimate_sculpted_seconds(std::span<const models::RunSpec> runs,
                                 const std::map<std::string, tasks::TaskSuite>& suites, int threads,
                                 const engine::Kernels<float>& kernels) {
  constexpr std::size_t kStrata = 5;
  // Runs by what a pass over their table costs, cut into strata of which the middle one speaks for all.
  std::vector<std::pair<double, const models::RunSpec*>> by_cost;
  for (const models::RunSpec& run : runs) {
    const double widest = static_cast<double>(std::accumulate(run.hidden.begin(), run.hidden.end(), 0));
    by_cost.emplace_back(widest * widest * (1 << suites.at(run.task).inputs()), &run);
  }
  std::ranges::sort(by_cost, {}, [](const auto& pair) { return pair.first; });
  const std::size_t strata = std::min(kStrata, by_cost.size());
  double total = 0;
  for (std::size_t stratum = 0; stratum < strata; ++stratum) {
    const std::size_t first = stratum * by_cost.size() / strata;
    const std::size_t last = (stratum + 1) * by_cost.size() / strata;
    const models::RunSpec& run = *by_cost[(first + last) / 2].second;
    methods::SculptProgress progress;
    const auto begin = std::chrono::steady_clock::now();
    methods::sculpt_networks(std::span(&run, 1), suites, 1, kernels, progress,
                             [](std::size_t, const methods::SculptResult&) {});
    total += static_cast<double>(last - first) *
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return total / threads;
}

}  // namespace modlab::studies
