#include "experiments/sculpt/trial_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "core/errors.h"
#include "experiments/sculpt/sculpt.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/sculpt_settings.h"
#include "models/layered_network_file.h"

namespace modlab::experiments {
namespace {

using nlohmann::ordered_json;

constexpr auto kNetworks = "/networks.jsonl";

std::string prepared(const std::string& path, bool replaces) {
  if (std::error_code none; !replaces && std::filesystem::exists(path + kNetworks, none)) {
    throw ConfigError(fmt::format(
        "{} holds the networks of an earlier run; choose another folder with --save, or add --replace", path));
  }
  io::prepare_folder(path);
  return path;
}

// "sculpt/4-2-4/4-24-24-4/seed0".
std::string trial_id(const methods::SculptRun& run, const methods::PrunedMlp& network) {
  return fmt::format("{}/{}/seed{}", run.task, fmt::join(network.shape.widths, "-"), run.seed);
}

// What the published records say of a network, under the same names.
ordered_json about(const methods::SculptRun& run, int epochs) {
  return {{"task", run.task}, {"lr", run.lr}, {"batch", run.batch_size}, {"epochs", epochs}, {"seed", run.seed}};
}

std::string network_line(const std::string& id, const methods::PrunedMlp& network, ordered_json about) {
  return models::to_json_line({id, methods::to_layered(network), std::move(about)}) + "\n";
}

ordered_json history_steps_json(const std::vector<methods::PruneStep>& steps) {
  ordered_json rows = ordered_json::array();
  for (const methods::PruneStep& step : steps) {
    rows.push_back({{"stage", methods::stage_name(step.stage)},
                    {"percent", step.percent},
                    {"units", step.units},
                    {"edges", step.edges},
                    {"accuracy", step.accuracy},
                    {"accepted", step.accepted}});
  }
  return rows;
}

}  // namespace

ordered_json trial_json(const methods::SculptRun& run, const methods::SculptResult& result,
                        const methods::JudgedTrial& judged) {
  const methods::TrialOutcome& outcome = result.outcome;
  ordered_json trial = methods::sculpt_settings().values(run).to_json();
  trial["epochs"] = result.epochs;
  trial["id"] = sculpt_id(run);
  trial["dense_accuracy"] = outcome.dense_accuracy;
  trial["learned"] = outcome.learned;
  trial["trainings"] = outcome.trainings;
  const std::optional<double> success = judged.success();
  trial["true_modules"] = success ? ordered_json(*success) : ordered_json(nullptr);
  trial["tied"] = ordered_json::array();
  for (std::size_t at = 0; at < outcome.winners.size(); ++at) {
    const methods::SculptedNetwork& winner = outcome.winners[at];
    const methods::JudgedNetwork& network = judged.networks[at];
    ordered_json criteria = ordered_json::object();
    for (const methods::Criterion& criterion : network.criteria) {
      criteria[criterion.name] = criterion.met;
    }
    trial["tied"].push_back({{"p_u", winner.unit_step},
                             {"p_e", winner.edge_step},
                             {"edges", network.network.edge_count()},
                             {"accuracy", winner.accuracy},
                             {"live", network.detection.live},
                             {"modules", network.detection.modules},
                             {"criteria", criteria},
                             {"steps", history_steps_json(winner.steps)}});
  }
  trial["grid"] = ordered_json::array();
  for (const methods::GridPoint& point : outcome.grid) {
    trial["grid"].push_back({{"p_u", point.unit_step},
                             {"p_e", point.edge_step},
                             {"edges", point.edges},
                             {"accuracy", point.accuracy},
                             {"edge_step_accepted", point.edge_step_accepted}});
  }
  return trial;
}

SculptFolder::SculptFolder(const std::string& path, bool replaces)
    : path_(prepared(path, replaces)),
      networks_(path + kNetworks),
      history_(path + "/history.jsonl"),
      dense_(path + "/dense.jsonl"),
      trials_(path + "/trials.json") {
  trials_.write("[");
}

void SculptFolder::add(const methods::SculptRun& run, const methods::SculptResult& result, const ordered_json& trial) {
  const methods::TrialOutcome& outcome = result.outcome;
  const std::string id = trial_id(run, outcome.dense);
  ordered_json dense = about(run, result.epochs);
  dense["accuracy"] = outcome.dense_accuracy / 100;
  dense_.write(network_line(id, outcome.dense, dense));
  for (const methods::SculptedNetwork& winner : outcome.winners) {
    ordered_json facts = about(run, result.epochs);
    facts["p_u"] = winner.unit_step;
    facts["p_e"] = winner.edge_step;
    facts["role"] = &winner == &outcome.winners.front() ? "main" : "tied";
    facts["accuracy"] = winner.accuracy / 100;
    facts["edge_stage_accepted_a_step"] = winner.edge_step_accepted;
    networks_.write(network_line(fmt::format("{}/pu{:g}/pe{:g}", id, winner.unit_step, winner.edge_step),
                                 winner.network, std::move(facts)));
  }
  if (!outcome.winners.empty()) {
    const methods::SculptedNetwork& carved = outcome.winners.front();
    int level = 0;
    for (const methods::PruneStep* step : methods::accepted_steps(carved)) {
      ordered_json facts = about(run, result.epochs);
      facts["level"] = level;
      facts["stage"] = methods::stage_name(step->stage);
      facts["accuracy"] = step->accuracy / 100;
      history_.write(network_line(fmt::format("{}/level{}", id, level++), methods::network_after(*step, carved),
                                  std::move(facts)));
    }
  }
  trials_.write((has_trials_ ? ",\n" : "\n") + trial.dump());
  has_trials_ = true;
}

void SculptFolder::commit() {
  trials_.write("\n]\n");
  networks_.commit();
  history_.commit();
  dense_.commit();
  trials_.commit();
}

}  // namespace modlab::experiments
