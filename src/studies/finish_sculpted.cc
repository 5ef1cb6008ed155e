#include "studies/finish_sculpted.h"

#include "methods/sculpt/trial_measures.h"
#include "models/layered_network_file.h"
#include "models/settings.h"

namespace modlab::studies {
namespace {

using nlohmann::ordered_json;

// The first of the tied networks with its history, and in short what the others are: any of them can be carved again.
// Those from elsewhere cannot, so they are all there.
std::string details(const models::RunSpec& run, const methods::SculptResult& result, const tasks::Task& task,
                    const std::vector<std::string>& names) {
  const methods::JudgedTrial judged = methods::judge(result.outcome, task, run.detect);
  ordered_json json = {{"epochs", result.epochs}, {"tied", ordered_json::array()}};
  for (std::size_t at = 0; at < judged.networks.size(); ++at) {
    const methods::SculptedNetwork& winner = result.outcome.winners[at];
    const methods::JudgedNetwork& network = judged.networks[at];
    json["tied"].push_back({{"p_u", winner.unit_step},
                            {"p_e", winner.edge_step},
                            {"success", network.success ? ordered_json(*network.success) : ordered_json(nullptr)},
                            {"modules", network.detection.modules}});
    if (!names.empty()) {
      json["tied"].back()["network"] = models::to_json_line({names[at], network.network, {}});
    }
  }
  if (result.outcome.trainings == 0) {
    json["given"] = true;
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

}  // namespace

FinishedRun finish_sculpted(const models::RunSpec& run, const tasks::TaskSuite& suite,
                            const methods::SculptResult& result, const std::vector<std::string>& names) {
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
  finished.result.sculpted = methods::trial_measures(result.outcome, result.epochs, task, run.detect);
  finished.sculpt_details = details(run, result, task, names);
  return finished;
}

}  // namespace modlab::studies
