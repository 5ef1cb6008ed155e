#include "experiments/mask/mask_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "core/text.h"

namespace modlab::experiments {
namespace {

using methods::MaskOutcome;
using methods::MaskSharing;
using methods::MaskStage;

double mean_of(const std::vector<double>& numbers) {
  return numbers.empty() ? 0
                         : std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// Means of a table [mask of a target][target] on its diagonal and beside it.
struct OwnAndOther {
  double own = 0;
  std::optional<double> other;
};
OwnAndOther own_and_other(const MaskOutcome& outcome, std::vector<double> MaskStage::*accuracies) {
  std::vector<double> own;
  std::vector<double> other;
  for (std::size_t stage = 0; stage < outcome.targets.size(); ++stage) {
    const std::vector<double>& of_targets = outcome.of_target(stage).*accuracies;
    for (std::size_t target = 0; target < of_targets.size(); ++target) {
      (stage == target ? own : other).push_back(of_targets[target]);
    }
  }
  return {mean_of(own), other.empty() ? std::nullopt : std::optional(mean_of(other))};
}

std::size_t live_count(const MaskStage& stage) {
  return std::accumulate(stage.live.begin(), stage.live.end(), std::size_t{0});
}

void add_sharing(const std::vector<MaskSharing>& pairs, const std::vector<bool>& related, bool in_order,
                 Numbers& numbers) {
  if (pairs.empty()) {
    return;
  }
  const methods::SharingMeans means = methods::sharing_means(pairs);
  numbers["iou"] = means.all[0];
  numbers["iomin"] = means.all[1];
  numbers["iou_chance"] = means.all[2];
  numbers["iomin_chance"] = means.all[3];
  numbers["iou_above_chance"] = means.all[0] - means.all[2];
  if (in_order && means.tensors.size() > 1) {
    numbers["iou_first"] = means.tensors.front()[0];
    numbers["iou_last"] = means.tensors.back()[0];
    std::vector<double> between;
    for (std::size_t tensor = 1; tensor + 1 < means.tensors.size(); ++tensor) {
      between.push_back(means.tensors[tensor][0]);
    }
    if (!between.empty()) {
      numbers["iou_hidden"] = mean_of(between);
      numbers["ends_above_hidden"] = std::min(numbers["iou_first"], numbers["iou_last"]) - numbers["iou_hidden"];
    }
  }
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> without_above_chance;
  for (std::size_t pair = 0; pair < related.size(); ++pair) {
    const measures::MaskOverlap& all = pairs[pair].all;
    (related[pair] ? with : without).push_back(all.iou());
    if (!related[pair]) {
      without_above_chance.push_back(all.iou() - all.iou_by_chance());
    }
  }
  if (!with.empty()) {
    numbers["iou_related"] = mean_of(with);
  }
  if (!without.empty()) {
    numbers["iou_unrelated"] = mean_of(without);
    numbers["unrelated_above_chance"] = mean_of(without_above_chance);
  }
  if (!with.empty() && !without.empty()) {
    numbers["related_above_unrelated"] = mean_of(with) - mean_of(without);
  }
}

nlohmann::ordered_json by_name(const std::vector<std::string>& names, const std::vector<double>& percents) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t at = 0; at < percents.size(); ++at) {
    object[names[at]] = percents[at];
  }
  return object;
}

nlohmann::ordered_json by_target(const MaskOutcome& outcome, const std::vector<double>& percents) {
  return by_name(outcome.targets, percents);
}

nlohmann::ordered_json overlap_json(const measures::MaskOverlap& overlap) {
  nlohmann::ordered_json object = {{"iou", overlap.iou()},
                                   {"iomin", overlap.iomin()},
                                   {"iou_chance", overlap.iou_by_chance()},
                                   {"iomin_chance", overlap.iomin_by_chance()}};
  if (overlap.is_empty()) {
    object["empty"] = true;
  }
  return object;
}

nlohmann::ordered_json stage_json(const MaskOutcome& outcome, const MaskStage& stage) {
  nlohmann::ordered_json object;
  object["name"] = stage.name;
  object["accuracy"] = by_target(outcome, stage.accuracy);
  object["inverse"] = by_target(outcome, stage.inverse);
  if (!stage.hidden_inverse.empty()) {
    object["hidden_inverse"] = by_target(outcome, stage.hidden_inverse);
  }
  if (!stage.other.empty()) {
    object["other_tests"] = by_name(outcome.other_tests, stage.other);
  }
  for (std::size_t tensor = 0; tensor < stage.mask.tensors.size(); ++tensor) {
    const models::MaskTensor& kept = stage.mask.tensors[tensor];
    object["kept"][kept.name] = methods::kept_count(kept);
    object["weights"][kept.name] = kept.present();
    // A bias lies on no path.
    if (!stage.live.empty() && kept.shape.size() == 2) {
      object["live"][kept.name] = stage.live[tensor];
    }
  }
  object["ambiguous"] = stage.ambiguous;
  for (std::size_t tensor = 0; tensor < stage.earlier.size(); ++tensor) {
    const measures::MaskOverlap& overlap = stage.earlier[tensor];
    if (overlap.second > 0) {
      object["shared"][stage.mask.tensors[tensor].name] = overlap.of_first();
      object["shared_chance"][stage.mask.tensors[tensor].name] = overlap.of_first_by_chance();
    }
  }
  if (stage.again) {
    object["again"] = overlap_json(*stage.again);
  }
  if (stage.untrained) {
    object["untrained"] = *stage.untrained;
  }
  if (!stage.confusion.empty()) {
    object["confusion"] = stage.confusion;
  }
  if (!stage.inverse_confusion.empty()) {
    object["inverse_confusion"] = stage.inverse_confusion;
  }
  if (!stage.class_confusion.empty()) {
    object["class_confusion"] = stage.class_confusion;
  }
  return object;
}

}  // namespace

std::vector<Measure> mask_measures() {
  const std::pair<double, double> percent{0, 100};
  const std::pair<double, double> share{0, 1};
  std::vector<Measure> list;
  const auto add = [&](const char* name, const char* label, const char* unit,
                       std::optional<std::pair<double, double>> domain, bool higher_is_better = true) {
    list.push_back({name, label, unit, false, domain, higher_is_better, ""});
  };
  add("unmasked_accuracy", "accuracy without a mask", "%", percent);
  add("control_accuracy", "accuracy under the control mask", "%", percent);
  add("control_share", "of the unmasked accuracy under the control mask", "%", std::nullopt);
  add("own_accuracy", "accuracy of a target under its own mask", "%", percent);
  add("other_accuracy", "accuracy of a target under another's mask", "%", percent, false);
  add("inverse_own", "accuracy of a target without what its mask keeps", "%", percent, false);
  add("inverse_other", "accuracy of a target without what another's mask keeps", "%", percent);
  add("control_kept", "weights that the control mask keeps", "%", percent, false);
  add("kept", "weights that a target's mask keeps", "%", percent, false);
  add("live", "kept weights on a path from an input to the target", "%", percent);
  add("iou", "IoU of two targets' masks", "", share, false);
  add("iomin", "IoMin of two targets' masks", "", share, false);
  add("iou_chance", "IoU of random masks that keep as much", "", share, false);
  add("iomin_chance", "IoMin of random masks that keep as much", "", share, false);
  add("iou_above_chance", "IoU of two targets' masks above chance", "", std::nullopt, false);
  add("iou_first", "IoU in the first layer", "", share, false);
  add("iou_hidden", "IoU in the layers between", "", share, false);
  add("iou_last", "IoU in the last layer", "", share, false);
  add("iou_related", "IoU of targets that need a common gate", "", share);
  add("iou_unrelated", "IoU of targets that need none in common", "", share, false);
  add("unrelated_above_chance", "IoU of targets that need none in common, above chance", "", std::nullopt, false);
  add("related_above_unrelated", "IoU of targets that need a common gate above that of others", "", std::nullopt);
  add("ends_above_hidden", "IoU of the first or last layer, the smaller, above that between", "", std::nullopt);
  add("inverse_gap", "points that a target loses more than others without what its mask keeps", "%", std::nullopt);
  add("stability", "IoU of a mask with itself, trained again", "", share);
  add("untrained_accuracy", "accuracy of a target that a mask alone gives an untrained network", "%", percent, false);
  add("ambiguous", "logits that are not decided", "%", percent, false);
  add("beta_used", "weight of the penalty", "", std::nullopt, false);
  list.back().log = true;
  return list;
}

std::vector<Column> mask_columns() {
  return {{"unmasked %", "unmasked_accuracy", Column::Show::kMean, 1},
          {"control %", "control_accuracy", Column::Show::kMean, 1},
          {"own %", "own_accuracy", Column::Show::kMean, 1},
          {"other %", "other_accuracy", Column::Show::kMean, 1},
          {"kept %", "kept", Column::Show::kMean, 1},
          {"IoU", "iou", Column::Show::kMeanAndError, 3},
          {"by chance", "iou_chance", Column::Show::kMean, 3}};
}

std::string mask_footnote() {
  return "Accuracies are of rows, all outputs of a target right: without a mask, under the control mask on everything, "
         "of a target under its own mask and under others'. IoU: what two targets' masks share of what they keep; by "
         "chance: random masks that keep as much. `modlab mask` says more of each.";
}

nlohmann::ordered_json mask_run_json(nlohmann::ordered_json run, const Result& result) {
  const auto details = result.blobs.find("details");
  if (details != result.blobs.end()) {
    const auto object = nlohmann::ordered_json::parse(details->second, nullptr, false);
    for (const auto& [name, value] : object.items()) {
      // A setting of that name says what was asked for.
      run[run.contains(name) ? name + "_used" : name] = value;
    }
  }
  return run;
}

Numbers mask_numbers(const MaskOutcome& outcome, const std::vector<bool>& related, bool in_order) {
  Numbers numbers;
  const double unmasked = mean_of(outcome.unmasked);
  numbers["unmasked_accuracy"] = unmasked;
  if (outcome.has_control) {
    const MaskStage& control = outcome.stages.front();
    numbers["control_accuracy"] = mean_of(control.accuracy);
    if (unmasked > 0) {
      numbers["control_share"] = 100 * mean_of(control.accuracy) / unmasked;
    }
    numbers["control_kept"] = methods::kept_percent(control.mask);
  }
  if (outcome.stages.empty()) {
    return numbers;
  }
  const OwnAndOther masks = own_and_other(outcome, &MaskStage::accuracy);
  const OwnAndOther inverses = own_and_other(outcome, &MaskStage::inverse);
  numbers["own_accuracy"] = masks.own;
  numbers["inverse_own"] = inverses.own;
  if (masks.other) {
    numbers["other_accuracy"] = *masks.other;
    numbers["inverse_other"] = *inverses.other;
    numbers["inverse_gap"] = *inverses.other - inverses.own;
  }
  std::vector<double> kept, live, again, untrained, ambiguous;
  for (std::size_t target = 0; target < outcome.targets.size(); ++target) {
    const MaskStage& here = outcome.of_target(target);
    kept.push_back(methods::kept_percent(here.mask));
    ambiguous.push_back(here.ambiguous);
    if (!here.live.empty() && methods::kept_count(here.mask) > 0) {
      live.push_back(100 * static_cast<double>(live_count(here)) / static_cast<double>(methods::kept_count(here.mask)));
    }
    if (here.again) {
      again.push_back(here.again->iou());
    }
    if (here.untrained) {
      untrained.push_back(*here.untrained);
    }
  }
  numbers["kept"] = mean_of(kept);
  numbers["ambiguous"] = mean_of(ambiguous);
  numbers["beta_used"] = outcome.beta;
  for (const auto& [name, values] :
       {std::pair{"live", &live}, std::pair{"stability", &again}, std::pair{"untrained_accuracy", &untrained}}) {
    if (!values->empty()) {
      numbers[name] = mean_of(*values);
    }
  }
  add_sharing(methods::sharing_of(outcome), related, in_order, numbers);
  return numbers;
}

std::vector<Measure> pair_measures() {
  const std::pair<double, double> percent{0, 100};
  std::vector<Measure> list;
  const auto add = [&](std::string name, std::string label, const char* unit,
                       std::optional<std::pair<double, double>> domain) {
    list.push_back({std::move(name), std::move(label), unit, false, domain, true, ""});
  };
  for (const int target : {1, 2}) {
    add(fmt::format("control_on_{}", target), fmt::format("accuracy of target {} under the control mask", target), "%",
        percent);
    for (const int mask : {1, 2}) {
      add(fmt::format("mask{}_on_{}", mask, target), fmt::format("accuracy of target {} under mask {}", target, mask),
          "%", percent);
      add(fmt::format("without{}_on_{}", mask, target),
          fmt::format("accuracy of target {} without what mask {} keeps", target, mask), "%", percent);
      add(fmt::format("hidden{}_on_{}", mask, target),
          fmt::format("accuracy of target {} without what mask {} keeps between the ends", target, mask), "%", percent);
    }
    add(fmt::format("kept_{}", target), fmt::format("weights that mask {} keeps", target), "weights", std::nullopt);
    add(fmt::format("other_answers_{}", target),
        fmt::format("questions of the other operation that are answered with operation {} under its mask", target), "%",
        percent);
    add(fmt::format("no_answers_{}", target),
        fmt::format("questions of the other operation that no operation answers under mask {}", target), "%", percent);
  }
  add("hidden_gap", "points that a target loses more than the other without what its mask keeps between the ends", "%",
      std::nullopt);
  add("inverse_asymmetry", "target 2 without mask 1 above target 1 without mask 2", "%", std::nullopt);
  add("early_above_late", "points lost with the early tensors masked above those with the late ones", "%",
      std::nullopt);
  add("kept_ratio", "weights of mask 2 for each of mask 1", "", std::nullopt);
  add("shared_of_1", "of mask 1, what mask 2 keeps too", "%", percent);
  add("everything", "samples with all answers right, without a mask", "%", percent);
  add("half_full", "samples with all answers right under the control mask", "%", percent);
  add("drop_early", "points lost with the control mask on the early tensors alone", "%", std::nullopt);
  add("drop_late", "points lost with the control mask on the late tensors alone", "%", std::nullopt);
  return list;
}

void add_pair_numbers(const MaskOutcome& outcome, Numbers& numbers) {
  for (std::size_t target = 0; target < 2; ++target) {
    const std::size_t on = target + 1;
    numbers[fmt::format("control_on_{}", on)] = outcome.stages.front().accuracy[target];
    for (std::size_t mask = 1; mask <= 2; ++mask) {
      numbers[fmt::format("mask{}_on_{}", mask, on)] = outcome.stages[mask].accuracy[target];
      numbers[fmt::format("without{}_on_{}", mask, on)] = outcome.stages[mask].inverse[target];
      numbers[fmt::format("hidden{}_on_{}", mask, on)] = outcome.stages[mask].hidden_inverse[target];
    }
    numbers[fmt::format("kept_{}", on)] = static_cast<double>(methods::kept_count(outcome.stages[on].mask));
    const std::vector<std::vector<double>>& confusion = outcome.stages[on].confusion;
    if (!confusion.empty()) {
      numbers[fmt::format("other_answers_{}", on)] = confusion[1 - target][target];
      numbers[fmt::format("no_answers_{}", on)] = confusion[1 - target].back();
    }
  }
  const OwnAndOther hidden = own_and_other(outcome, &MaskStage::hidden_inverse);
  numbers["hidden_gap"] = hidden.other.value_or(0) - hidden.own;
  numbers["inverse_asymmetry"] = outcome.stages[1].inverse[1] - outcome.stages[2].inverse[0];
  const std::size_t first = methods::kept_count(outcome.stages[1].mask);
  if (first > 0) {
    numbers["kept_ratio"] =
        static_cast<double>(methods::kept_count(outcome.stages[2].mask)) / static_cast<double>(first);
    numbers["shared_of_1"] =
        100 * static_cast<double>(methods::sharing_of(outcome).front().all.both) / static_cast<double>(first);
  }
}

nlohmann::ordered_json mask_json(const MaskOutcome& outcome) {
  nlohmann::ordered_json object;
  object["beta"] = outcome.beta;
  for (const methods::BetaPoint& point : outcome.beta_table) {
    object["betas"].push_back(
        {{"beta", point.beta}, {"kept", point.kept}, {"accuracy", point.accuracy}, {"ambiguous", point.ambiguous}});
  }
  object["unmasked"] = by_target(outcome, outcome.unmasked);
  if (!outcome.unmasked_classes.empty()) {
    object["unmasked_class_confusion"] = outcome.unmasked_classes;
  }
  if (!outcome.unmasked_other.empty()) {
    object["unmasked_other_tests"] = by_name(outcome.other_tests, outcome.unmasked_other);
  }
  if (!outcome.class_names.empty()) {
    object["class_names"] = outcome.class_names;
  }
  object["stages"] = nlohmann::ordered_json::array();
  for (const MaskStage& stage : outcome.stages) {
    object["stages"].push_back(stage_json(outcome, stage));
  }
  const std::vector<MaskSharing> pairs = methods::sharing_of(outcome);
  if (!pairs.empty()) {
    const methods::SharingMeans means = methods::sharing_means(pairs);
    const auto shares = [](const std::array<double, 4>& numbers) {
      return nlohmann::ordered_json{
          {"iou", numbers[0]}, {"iomin", numbers[1]}, {"iou_chance", numbers[2]}, {"iomin_chance", numbers[3]}};
    };
    for (std::size_t tensor = 0; tensor < means.tensors.size(); ++tensor) {
      object["sharing"][means.names[tensor]] = shares(means.tensors[tensor]);
    }
    object["sharing"]["all"] = shares(means.all);
  }
  for (const MaskSharing& pair : pairs) {
    nlohmann::ordered_json& made = object["pairs"].emplace_back();
    made["first"] = outcome.targets[pair.first];
    made["second"] = outcome.targets[pair.second];
    for (std::size_t tensor = 0; tensor < pair.tensors.size(); ++tensor) {
      made["tensors"][pair.names[tensor]] = overlap_json(pair.tensors[tensor]);
    }
    made["all"] = overlap_json(pair.all);
  }
  const std::vector<std::string> warnings = mask_warnings(outcome);
  if (!warnings.empty()) {
    object["warnings"] = warnings;
  }
  return object;
}

std::vector<std::string> mask_warnings(const MaskOutcome& outcome) {
  constexpr double kEnough = 0.95;
  std::vector<std::string> warnings;
  if (outcome.stages.empty()) {
    return warnings;
  }
  const double control = mean_of(outcome.stages.front().accuracy);
  const double unmasked = mean_of(outcome.unmasked);
  if (outcome.has_control && control < kEnough * unmasked) {
    warnings.push_back(
        fmt::format("the control mask keeps {:.1f} % of {:.1f} % accuracy, less than 95 %: beta {:g} is too "
                    "large, or the steps are too few, for what masks leave out to mean anything",
                    control, unmasked, outcome.beta));
  }
  for (const MaskStage& stage : outcome.stages) {
    if (methods::kept_count(stage.mask) == 0) {
      warnings.push_back(fmt::format(
          "the mask of {} keeps nothing: no path is left, and its sharing is 0 and says nothing", stage.name));
      continue;
    }
    std::vector<std::string> removed;
    for (const models::MaskTensor& tensor : stage.mask.tensors) {
      if (methods::kept_count(tensor) == 0) {
        removed.push_back(tensor.name);
      }
    }
    if (!removed.empty()) {
      warnings.push_back(fmt::format("the mask of {} keeps nothing of {}: its sharing there is 0 and says nothing",
                                     stage.name, join_text(removed, ", ")));
    }
    if (!stage.live.empty() && live_count(stage) == 0) {
      warnings.push_back(fmt::format("the mask of {} leaves no path from an input to its outputs", stage.name));
    }
  }
  return warnings;
}

}  // namespace modlab::experiments
