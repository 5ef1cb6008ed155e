#include "methods/sculpt/sculpt_settings.h"

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "models/training_settings-inl.h"
#include "tasks/task_cache.h"

namespace modlab::methods {
namespace {

using models::kList;
using models::kPlain;
using models::row;
using nlohmann::json;
using settings::read_real;
using settings::read_truth;
using settings::read_word;
using settings::Setting;
using settings::SpecSetting;
using settings::Word;
using settings::word_for;

constexpr Word<UnitScore> kUnitScores[] = {{"loss-sensitivity", UnitScore::kLossSensitivity},
                                           {"output-sensitivity", UnitScore::kOutputSensitivity},
                                           {"weight-activation", UnitScore::kWeightActivation},
                                           {"weight", UnitScore::kWeight},
                                           {"activation-deviation", UnitScore::kActivationDeviation},
                                           {"path-product", UnitScore::kPathProduct},
                                           {"random", UnitScore::kRandom},
                                           {"activation_gradient_product", UnitScore::kLossSensitivity}};
constexpr Word<ScoreNorm> kScoreNorms[] = {{"none", ScoreNorm::kNone},
                                           {"mean-deviation", ScoreNorm::kMeanDeviation},
                                           {"mean", ScoreNorm::kMean},
                                           {"deviation", ScoreNorm::kDeviation},
                                           {"sum", ScoreNorm::kSum},
                                           {"units-below", ScoreNorm::kUnitsBelow},
                                           {"units", ScoreNorm::kUnits},
                                           {"None", ScoreNorm::kNone},
                                           {"mean_std", ScoreNorm::kMeanDeviation},
                                           {"std", ScoreNorm::kDeviation},
                                           {"sum_scores", ScoreNorm::kSum},
                                           {"prev_num_units", ScoreNorm::kUnitsBelow},
                                           {"num_units", ScoreNorm::kUnits}};
constexpr Word<ScoreScale> kScoreScales[] = {{"global", ScoreScale::kGlobal},
                                             {"local", ScoreScale::kLocal},
                                             {"local-global", ScoreScale::kLocalGlobal},
                                             {"local_global", ScoreScale::kLocalGlobal}};
constexpr Word<PruneSchedule> kPruneSchedules[] = {{"linear", PruneSchedule::kLinear},
                                                   {"lottery", PruneSchedule::kLottery},
                                                   {"exponential", PruneSchedule::kExponential},
                                                   {"cosine", PruneSchedule::kCosine},
                                                   {"cubic", PruneSchedule::kCubic},
                                                   {"lth", PruneSchedule::kLottery}};
constexpr Word<Checkpoint> kCheckpoints[] = {{"lowest-loss", Checkpoint::kLowestLoss},
                                             {"published", Checkpoint::kPublished}};

// First steps of pruning, in percent.
std::vector<double> read_steps(const char* name, const std::string& text) {
  std::vector<double> steps;
  for (const std::string& part : split_text(text, ',')) {
    steps.push_back(read_real(name, part, 0, 100, "a list of percentages, such as 2.5,1"));
    if (std::ranges::count(steps, steps.back()) > 1) {
      throw ConfigError(fmt::format("{} has {} twice", name, part));
    }
  }
  if (steps.size() > 1 && std::ranges::count(steps, 0.0) > 0) {
    throw ConfigError(fmt::format("{} has a step of 0, which prunes nothing, among others", name));
  }
  return steps;
}

template <typename Choice>
std::string words_of() {
  return join_text(choice_names<Choice>(), ", ");
}

std::vector<SpecSetting<SculptRun>> pruning_rows() {
  return {
      row<SculptRun>(
          "prune_threshold", "PERCENT", "share of the bits that a pruned network must get right to be accepted", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.threshold = read_real("prune_threshold", text, 0, 100, "a percentage from 0 to 100");
          },
          [](const SculptRun& spec) { return json(spec.sculpt.threshold); }),
      row<SculptRun>(
          "unit_steps", "PERCENTS", "first steps of unit pruning (p_u), each combined with each edge step; 0: none",
          kList,
          [](SculptRun& spec, const std::string& text) { spec.sculpt.unit_steps = read_steps("unit_steps", text); },
          [](const SculptRun& spec) { return json(spec.sculpt.unit_steps); }),
      row<SculptRun>(
          "edge_steps", "PERCENTS", "first steps of edge pruning (p_e)", kList,
          [](SculptRun& spec, const std::string& text) { spec.sculpt.edge_steps = read_steps("edge_steps", text); },
          [](const SculptRun& spec) { return json(spec.sculpt.edge_steps); }),
      row<SculptRun>(
          "unit_score", "NAME",
          "what a unit is worth: loss-sensitivity, output-sensitivity, weight-activation, weight, "
          "activation-deviation, "
          "path-product, random",
          kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.unit_score = read_word("unit_score", text, kUnitScores);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.unit_score, kUnitScores)); }),
      row<SculptRun>(
          "unit_norm", "NAME",
          "what a layer's scores are divided by: none, mean-deviation, mean, deviation, sum, "
          "units-below, units",
          kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.unit_norm = read_word("unit_norm", text, kScoreNorms);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.unit_norm, kScoreNorms)); }),
      row<SculptRun>(
          "unit_scale", "global|local|local-global", "whether units compete with all, within their layer, or with both",
          kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.unit_scale = read_word("unit_scale", text, kScoreScales);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.unit_scale, kScoreScales)); }),
      row<SculptRun>(
          "unit_schedule", "NAME", "how steps of unit pruning grow: linear, lottery, exponential, cosine, cubic",
          kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.unit_schedule = read_word("unit_schedule", text, kPruneSchedules);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.unit_schedule, kPruneSchedules)); }),
      row<SculptRun>(
          "edge_schedule", "NAME", "the same of edge pruning", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.edge_schedule = read_word("edge_schedule", text, kPruneSchedules);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.edge_schedule, kPruneSchedules)); }),
      row<SculptRun>(
          "epoch_search", "true|false", "find the fewest epochs (10 to 120) with which seeds 0 to 3 and this one learn",
          kPlain,
          [](SculptRun& spec, const std::string& text) { spec.sculpt.epoch_search = read_truth("epoch_search", text); },
          [](const SculptRun& spec) { return json(spec.sculpt.epoch_search); }),
      row<SculptRun>(
          "checkpoint", "lowest-loss|published", "which of the most accurate epochs a training hands on", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.checkpoint = read_word("checkpoint", text, kCheckpoints);
          },
          [](const SculptRun& spec) { return json(word_for(spec.sculpt.checkpoint, kCheckpoints)); }),
      row<SculptRun>(
          "keep_failed_retraining", "true|false",
          "as published: what is trained between units and edges goes on even below the threshold", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.keep_failed_retraining = read_truth("keep_failed_retraining", text);
          },
          [](const SculptRun& spec) { return json(spec.sculpt.keep_failed_retraining); }),
      row<SculptRun>(
          "prune_unlearned", "true|false", "as published: prune dense networks below the threshold too", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.prune_unlearned = read_truth("prune_unlearned", text);
          },
          [](const SculptRun& spec) { return json(spec.sculpt.prune_unlearned); }),
      row<SculptRun>(
          "keep_connected", "true|false", "never cut off an input or an output", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.sculpt.keep_connected = read_truth("keep_connected", text);
          },
          [](const SculptRun& spec) { return json(spec.sculpt.keep_connected); }),
      row<SculptRun>(
          "cluster_features", "WORD",
          "units that a unit is known by when modules are looked for: " + words_of<Direction>(), kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.direction = read_choice<Direction>("cluster_features", text);
          },
          [](const SculptRun& spec) { return json(name_of(spec.detect.direction)); }),
      row<SculptRun>(
          "cluster_linkage", "WORD", "how clusters of units are compared: " + words_of<Linkage>(), kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.linkage = read_choice<Linkage>("cluster_linkage", text);
          },
          [](const SculptRun& spec) { return json(name_of(spec.detect.linkage)); }),
      row<SculptRun>(
          "cluster_distance", "WORD", "how units are compared: " + words_of<Distance>(), kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.distance = read_choice<Distance>("cluster_distance", text);
          },
          [](const SculptRun& spec) { return json(name_of(spec.detect.distance)); }),
      row<SculptRun>(
          "cluster_index", "WORD", "what says how many clusters a layer has: " + words_of<ClusterIndex>(), kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.index = read_choice<ClusterIndex>("cluster_index", text);
          },
          [](const SculptRun& spec) { return json(name_of(spec.detect.index)); }),
      row<SculptRun>(
          "cluster_threshold", "T", "tests decide where the index is weaker than this", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.threshold = read_real("cluster_threshold", text, 0, 1000, "a number from 0 to 1000");
          },
          [](const SculptRun& spec) { return json(spec.detect.threshold); }),
      row<SculptRun>(
          "module_merging", "SHARE", "of edges, beyond which clusters are one module", kPlain,
          [](SculptRun& spec, const std::string& text) {
            spec.detect.merging = read_real("module_merging", text, 0, 1, "a share from 0 to 1");
          },
          [](const SculptRun& spec) { return json(spec.detect.merging); }),
  };
}

// How the dense network is trained, in the words that other networks have too.
std::vector<SpecSetting<SculptRun>> training_rows() {
  SpecSetting<SculptRun> model = row<SculptRun>(
      "model", "NAME", "sculpted", models::kNamed,
      [](SculptRun&, const std::string& text) {
        if (text != kSculptedModel) {
          throw ConfigError(fmt::format("unknown model '{}' of a sculpted network", text));
        }
      },
      [](const SculptRun&) { return json(kSculptedModel); }, {.role = Setting::Role::kModel});
  SpecSetting<SculptRun> epochs = models::epochs_row<SculptRun>();
  epochs.setting.is_size = true;
  SpecSetting<SculptRun> hidden = models::hidden_row<SculptRun>();
  hidden.setting.help = "hidden layers before pruning; default: 24,24";
  SpecSetting<SculptRun> lr = models::lr_row<SculptRun>();
  lr.setting.label = "learning rate";
  return {models::task_row<SculptRun>(),
          model,
          models::seed_row<SculptRun>(),
          epochs,
          models::batch_size_row<SculptRun>(),
          lr,
          models::weight_decay_row<SculptRun>(),
          models::noise_row<SculptRun>(),
          hidden,
          models::init_row<SculptRun>(),
          models::optimizer_row<SculptRun>(),
          models::loss_row<SculptRun>()};
}

std::vector<SpecSetting<SculptRun>> fact_rows() {
  return {row<SculptRun>("outputs", "N", "outputs of the task", kPlain, nullptr,
                         [](const SculptRun& run) { return json(tasks::cached_task(run.task)->outputs()); },
                         {.role = Setting::Role::kFact}),
          row<SculptRun>("hidden_layers", "N", "how many hidden layers there are", kPlain, nullptr,
                         [](const SculptRun& run) { return json(run.hidden.size()); }, {.role = Setting::Role::kFact})};
}

}  // namespace

const settings::SpecTable<SculptRun>& sculpt_settings() {
  static const settings::SpecTable<SculptRun> kTable = [] {
    std::vector<SpecSetting<SculptRun>> rows = training_rows();
    for (const auto& more : {pruning_rows(), fact_rows()}) {
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return settings::SpecTable<SculptRun>(rows);
  }();
  return kTable;
}

}  // namespace modlab::methods
