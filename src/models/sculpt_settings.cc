#include "models/sculpt_settings.h"

#include <algorithm>

#include "models/setting_values.h"

namespace modlab::models {
namespace {

using nlohmann::json;

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

}  // namespace

std::vector<Setting> sculpt_settings() {
  using Scope = Setting::Scope;
  return {
      {"prune_threshold", "PERCENT", "share of the bits that a pruned network must get right to be accepted",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.threshold = read_real("prune_threshold", text, 0, 100, "a percentage from 0 to 100");
       },
       [](const RunSpec& spec) { return json(spec.sculpt.threshold); }},
      {"unit_steps", "PERCENTS", "first steps of unit pruning (p_u), each combined with each edge step; 0: none",
       Scope::kSculpted, true,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.unit_steps = read_steps("unit_steps", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.unit_steps); }},
      {"edge_steps", "PERCENTS", "first steps of edge pruning (p_e)", Scope::kSculpted, true,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.edge_steps = read_steps("edge_steps", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.edge_steps); }},
      {"unit_score", "NAME",
       "what a unit is worth: loss-sensitivity, output-sensitivity, weight-activation, weight, activation-deviation, "
       "path-product, random",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_score = read_word("unit_score", text, kUnitScores);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_score, kUnitScores)); }},
      {"unit_norm", "NAME",
       "what a layer's scores are divided by: none, mean-deviation, mean, deviation, sum, "
       "units-below, units",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_norm = read_word("unit_norm", text, kScoreNorms);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_norm, kScoreNorms)); }},
      {"unit_scale", "global|local|local-global", "whether units compete with all, within their layer, or with both",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_scale = read_word("unit_scale", text, kScoreScales);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_scale, kScoreScales)); }},
      {"unit_schedule", "NAME", "how steps of unit pruning grow: linear, lottery, exponential, cosine, cubic",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.unit_schedule = read_word("unit_schedule", text, kPruneSchedules);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.unit_schedule, kPruneSchedules)); }},
      {"edge_schedule", "NAME", "the same of edge pruning", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.edge_schedule = read_word("edge_schedule", text, kPruneSchedules);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.edge_schedule, kPruneSchedules)); }},
      {"epoch_search", "true|false", "find the fewest epochs (10 to 120) with which seeds 0 to 3 and this one learn",
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.epoch_search = read_truth("epoch_search", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.epoch_search); }},
      {"checkpoint", "lowest-loss|published", "which of the most accurate epochs a training hands on", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.checkpoint = read_word("checkpoint", text, kCheckpoints);
       },
       [](const RunSpec& spec) { return json(word_for(spec.sculpt.checkpoint, kCheckpoints)); }},
      {"keep_failed_retraining", "true|false",
       "as published: what is trained between units and edges goes on even below the threshold", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.keep_failed_retraining = read_truth("keep_failed_retraining", text);
       },
       [](const RunSpec& spec) { return json(spec.sculpt.keep_failed_retraining); }},
      {"prune_unlearned", "true|false", "as published: prune dense networks below the threshold too", Scope::kSculpted,
       false,
       [](RunSpec& spec, const std::string& text) {
         spec.sculpt.prune_unlearned = read_truth("prune_unlearned", text);
       },
       [](const RunSpec& spec) { return json(spec.sculpt.prune_unlearned); }},
      {"keep_connected", "true|false", "never cut off an input or an output", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) { spec.sculpt.keep_connected = read_truth("keep_connected", text); },
       [](const RunSpec& spec) { return json(spec.sculpt.keep_connected); }},
      {"cluster_features", "WORD",
       "units that a unit is known by when modules are looked for: " + words_of<Direction>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.direction = read_choice<Direction>("cluster_features", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.direction)); }},
      {"cluster_linkage", "WORD", "how clusters of units are compared: " + words_of<Linkage>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.linkage = read_choice<Linkage>("cluster_linkage", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.linkage)); }},
      {"cluster_distance", "WORD", "how units are compared: " + words_of<Distance>(), Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.distance = read_choice<Distance>("cluster_distance", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.distance)); }},
      {"cluster_index", "WORD", "what says how many clusters a layer has: " + words_of<ClusterIndex>(),
       Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.index = read_choice<ClusterIndex>("cluster_index", text);
       },
       [](const RunSpec& spec) { return json(name_of(spec.detect.index)); }},
      {"cluster_threshold", "T", "tests decide where the index is weaker than this", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.threshold = read_real("cluster_threshold", text, 0, 1000, "a number from 0 to 1000");
       },
       [](const RunSpec& spec) { return json(spec.detect.threshold); }},
      {"module_merging", "SHARE", "of edges, beyond which clusters are one module", Scope::kSculpted, false,
       [](RunSpec& spec, const std::string& text) {
         spec.detect.merging = read_real("module_merging", text, 0, 1, "a share from 0 to 1");
       },
       [](const RunSpec& spec) { return json(spec.detect.merging); }},
  };
}

}  // namespace modlab::models
