#include "experiments/sculpt/trial_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "io/compress.h"
#include "io/json_text.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/trial_measures.h"
#include "models/layered_network_file.h"

namespace modlab::experiments {
namespace {

using methods::PrunedMlp;
using methods::PruneStep;
using nlohmann::ordered_json;

constexpr auto kDetails = "details";
constexpr int kMostEpochs = 10'000'000;
constexpr std::size_t kMostTied = 100'000;
constexpr std::size_t kMostSteps = 100'000;
constexpr double kMostPercent = 100;

void check_that(bool is_so, const char* what) {
  if (!is_so) {
    throw FormatError(what);
  }
}

std::string history_name(std::size_t network) { return fmt::format("history/{}", network); }

ordered_json steps_json(const std::vector<PruneStep>& steps) {
  ordered_json list = ordered_json::array();
  for (const PruneStep& step : steps) {
    list.push_back(
        {methods::stage_name(step.stage), step.percent, step.units, step.edges, step.accuracy, step.accepted});
  }
  return list;
}

// Weights after every accepted step, a byte each: their share of the largest in their layer, or that they are gone.
// After the first network only those that the one before still had.
constexpr std::int8_t kGone = -128;
constexpr float kFull = 127;

// Calls `visit` with the layer and the place of each weight, by layer, then by unit.
template <typename Visit>
void for_each_weight(const models::MlpShape& shape, const Visit& visit) {
  const std::vector<methods::LayerPlace> places = methods::layer_places(shape);
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    const std::size_t count = static_cast<std::size_t>(places[layer].in) * places[layer].out;
    for (std::size_t at = 0; at < count; ++at) {
      visit(layer, places[layer].weights + at);
    }
  }
}

std::string encode_history(const methods::SculptedNetwork& carved) {
  std::string bytes;
  std::optional<PrunedMlp> before;
  for (const PruneStep* step : methods::accepted_steps(carved)) {
    const PrunedMlp network = methods::network_after(*step, carved);
    std::vector<float> largest(network.shape.widths.size(), 0);
    for_each_weight(network.shape, [&](std::size_t layer, std::size_t at) {
      largest[layer] = std::max(largest[layer], std::abs(network.parameters[at]));
    });
    for_each_weight(network.shape, [&](std::size_t layer, std::size_t at) {
      if (before && before->kept[at] == 0) {
        return;
      }
      const float share = largest[layer] > 0 ? network.parameters[at] / largest[layer] : 0;
      const auto code = network.kept[at] == 0 ? kGone : static_cast<std::int8_t>(std::lround(kFull * share));
      bytes.push_back(static_cast<char>(code));
    });
    before = network;
  }
  return io::compress(bytes);
}

// Fills in the networks of the accepted steps.
void decode_history(const std::string& stream, const models::MlpShape& shape, std::vector<PruneStep>& steps,
                    const std::string& source) {
  std::size_t size = 0;
  int before = -1;
  std::size_t weights = 0;
  for_each_weight(shape, [&](std::size_t, std::size_t) { ++weights; });
  for (const PruneStep& step : steps) {
    if (step.accepted) {
      size += before < 0 ? weights : static_cast<std::size_t>(before);
      before = step.edges;
    }
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  check_that(size <= kMostBytes, "a pruning history is too large");
  const std::string bytes = io::expand(stream, size, source);
  std::size_t next = 0;
  std::vector<bool> is_left(models::mlp_layout(shape).count, true);
  for (PruneStep& step : steps) {
    if (!step.accepted) {
      continue;
    }
    auto kept = std::make_shared<methods::KeptParameters>();
    for_each_weight(shape, [&](std::size_t, std::size_t at) {
      if (!is_left[at] || next == bytes.size()) {
        return;
      }
      const auto code = static_cast<std::int8_t>(bytes[next++]);
      if (code == kGone) {
        is_left[at] = false;
      } else {
        kept->places.push_back(static_cast<std::uint32_t>(at));
        kept->values.push_back(static_cast<float>(code) / kFull);
      }
    });
    if (static_cast<int>(kept->places.size()) != step.edges) {
      throw FormatError(fmt::format("{}: a pruning history does not fit its steps", source));
    }
    step.kept = std::move(kept);
  }
}

// The tied networks that a reader may want to see: the first with the true modules and the first without; where the
// truth is not known, the first.
std::vector<std::size_t> worth_showing(const methods::JudgedTrial& judged) {
  std::vector<std::size_t> shown;
  for (const std::optional<bool> wanted : {std::optional(true), std::optional(false), std::optional<bool>()}) {
    const auto found = std::ranges::find(judged.networks, wanted, &methods::JudgedNetwork::success);
    if (found != judged.networks.end()) {
      shown.push_back(static_cast<std::size_t>(found - judged.networks.begin()));
    }
  }
  return shown;
}

void record_details(const Run& run, const methods::SculptResult& outcome, const methods::JudgedTrial& judged,
                    const std::vector<std::string>& names, Result& result) {
  ordered_json json = {{"epochs", outcome.epochs}, {"tied", ordered_json::array()}};
  for (std::size_t at = 0; at < judged.networks.size(); ++at) {
    const methods::SculptedNetwork& winner = outcome.outcome.winners[at];
    const methods::JudgedNetwork& network = judged.networks[at];
    json["tied"].push_back({{"p_u", winner.unit_step},
                            {"p_e", winner.edge_step},
                            {"success", network.success ? ordered_json(*network.success) : ordered_json(nullptr)},
                            {"modules", network.detection.modules}});
    if (!names.empty()) {
      json["tied"].back()["network"] = models::to_json_line({names[at], network.network, {}});
    }
  }
  if (!names.empty() || outcome.outcome.trainings == 0) {
    json["given"] = true;
  } else {
    for (const std::size_t at : worth_showing(judged)) {
      const methods::SculptedNetwork& winner = outcome.outcome.winners[at];
      json["tied"][at]["network"] = models::to_json_line({run.id(), judged.networks[at].network, {}});
      json["tied"][at]["steps"] = steps_json(winner.steps);
      result.blobs[history_name(at)] = encode_history(winner);
    }
  }
  result.blobs[kDetails] = json.dump();
}

methods::Stage stage_from(const std::string& name) {
  for (const methods::Stage stage :
       {methods::Stage::kDense, methods::Stage::kUnits, methods::Stage::kRetrain, methods::Stage::kEdges}) {
    if (name == methods::stage_name(stage)) {
      return stage;
    }
  }
  throw FormatError(fmt::format("there is no stage of pruning '{}'", name));
}

std::vector<PruneStep> read_steps(const ordered_json& list, int weights) {
  check_that(list.size() <= kMostSteps, "a pruning history is too long");
  std::vector<PruneStep> steps;
  int fewest = weights;
  for (const ordered_json& entry : list) {
    PruneStep& step = steps.emplace_back();
    step.stage = stage_from(entry.at(0).get<std::string>());
    step.percent = entry.at(1).get<double>();
    step.units = entry.at(2).get<int>();
    step.edges = entry.at(3).get<int>();
    step.accuracy = entry.at(4).get<double>();
    step.accepted = entry.at(5).get<bool>();
    check_that(step.edges >= 0 && step.edges <= (step.accepted ? fewest : weights) && step.units >= 0 &&
                   step.accuracy >= 0 && step.accuracy <= kMostPercent && step.percent >= 0 &&
                   step.percent <= kMostPercent,
               "a pruning step has numbers that cannot be");
    fewest = step.accepted ? step.edges : fewest;
  }
  return steps;
}

methods::SculptedNetwork read_network(const ordered_json& tied, const std::vector<int>& widths) {
  const std::vector<models::NamedNetwork> read =
      models::parse_layered_networks(tied.at("network").get<std::string>(), "a network in the store");
  check_that(read.size() == 1 && read.front().network.widths == widths, "a network is of another shape than its run");
  methods::SculptedNetwork carved;
  carved.network = methods::from_layered(read.front().network);
  if (tied.contains("steps")) {
    carved.steps = read_steps(tied.at("steps"), carved.network.weight_count());
    const auto accepted = methods::accepted_steps(carved);
    check_that(accepted.empty() || accepted.back()->edges == carved.network.edge_count(),
               "a pruning history ends with another network");
  }
  return carved;
}

}  // namespace

Result record_trial(const Run& run, const methods::SculptRun& spec, const tasks::Task& task,
                    const methods::SculptResult& outcome, const std::vector<std::string>& names) {
  const methods::JudgedTrial judged = methods::judge(outcome.outcome, task, spec.detect);
  Result result;
  result.seconds = outcome.outcome.seconds;
  Numbers& numbers = result.snapshots["best"];
  numbers = methods::trial_measures(outcome.outcome, judged, outcome.epochs, task);
  // What a trial is judged by is the network that it ends with, the dense one if it was not pruned.
  numbers["accuracy"] =
      outcome.outcome.winners.empty() ? outcome.outcome.dense_accuracy : outcome.outcome.winners.front().accuracy;
  record_details(run, outcome, judged, names, result);
  return result;
}

StoredTrial read_trial(const Run& run, const methods::SculptRun& spec, const tasks::Task& task,
                       const std::function<std::optional<std::string>(const std::string& name)>& blob,
                       const std::string& source) {
  std::vector<int> widths = {task.table.inputs};
  widths.insert(widths.end(), spec.hidden.begin(), spec.hidden.end());
  widths.push_back(task.table.outputs);
  try {
    const std::optional<std::string> text = blob(kDetails);
    check_that(text.has_value(), "it has no details");
    const ordered_json json = io::parse_json(*text);
    StoredTrial trial;
    trial.epochs = json.at("epochs").get<int>();
    check_that(trial.epochs >= 0 && trial.epochs <= kMostEpochs,
               "it was trained for a number of epochs that cannot be");
    trial.is_given = json.value("given", false);
    check_that(json.at("tied").size() <= kMostTied, "it has too many tied networks");
    for (const ordered_json& entry : json.at("tied")) {
      TiedNetwork& tied = trial.tied.emplace_back();
      tied.unit_step = entry.at("p_u").get<double>();
      tied.edge_step = entry.at("p_e").get<double>();
      if (!entry.at("success").is_null()) {
        tied.success = entry.at("success").get<bool>();
      }
      if (entry.contains("network")) {
        tied.carved = read_network(entry, widths);
        const std::optional<std::string> history = blob(history_name(trial.tied.size() - 1));
        if (history) {
          decode_history(*history, tied.carved->network.shape, tied.carved->steps, "its history");
        }
      }
    }
    return trial;
  } catch (const ordered_json::exception&) {
    throw FormatError(
        fmt::format("{}: the details of run {} are damaged; sculpt it again into another folder", source, run.id()));
  } catch (const UserError& error) {
    throw FormatError(fmt::format("{}: the details of run {} are damaged ({}); sculpt it again into another folder",
                                  source, run.id(), error.what()));
  }
}

void upgrade_trial(Result& result) {
  const auto details = result.blobs.find(kDetails);
  if (details == result.blobs.end()) {
    return;
  }
  ordered_json json = io::parse_json(details->second);
  // The first tied network and its steps stood beside the list.
  if (json.is_object() && json.contains("tied") && json["tied"].is_array() && !json["tied"].empty()) {
    for (const char* name : {"network", "steps"}) {
      if (json.contains(name) && json["tied"][0].is_object()) {
        if (!json["tied"][0].contains(name)) {
          json["tied"][0][name] = json[name];
        }
        json.erase(name);
      }
    }
  }
  details->second = json.dump();
}

}  // namespace modlab::experiments
