#include "experiments/mask/masked_sculpted.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/thread_seconds.h"
#include "experiments/mask/given_to_mask.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/mask_record.h"
#include "experiments/sculpt/trials.h"
#include "experiments/task_facts.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/mask_settings.h"
#include "methods/mask/masked_bits.h"
#include "methods/sculpt/sculpt.h"
#include "methods/sculpt/sculpt_settings.h"
#include "models/training_settings-inl.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using methods::BitsMasking;
using methods::MaskOutcome;
using methods::PrunedMlp;
using settings::SpecSetting;

constexpr auto kMaskedSculptedModel = "masked-sculpted";

struct MaskedSculptedSpec {
  methods::SculptRun trial = methods::published_sculpt_run();
  methods::MaskSpec mask = small_masks();
};

std::vector<SpecSetting<MaskedSculptedSpec>> masked_sculpted_rows() {
  std::vector<SpecSetting<MaskedSculptedSpec>> rows;
  for (SpecSetting<MaskedSculptedSpec>& row :
       settings::rows_of_part(methods::sculpt_settings(), &MaskedSculptedSpec::trial)) {
    if (row.setting.role == Setting::Role::kModel) {
      row.setting.help = kMaskedSculptedModel;
      row.set = [](MaskedSculptedSpec&, const std::string& text) {
        if (text != kMaskedSculptedModel) {
          throw ConfigError(fmt::format("unknown model '{}' of a network that is masked and sculpted", text));
        }
      };
      row.get = [](const MaskedSculptedSpec&) { return nlohmann::json(kMaskedSculptedModel); };
    }
    rows.push_back(std::move(row));
  }
  std::ranges::move(settings::rows_of_part(methods::mask_settings(), &MaskedSculptedSpec::mask),
                    std::back_inserter(rows));
  return rows;
}

const settings::SpecTable<MaskedSculptedSpec>& masked_sculpted_settings() {
  static const settings::SpecTable<MaskedSculptedSpec> kTable(masked_sculpted_rows());
  return kTable;
}

MaskedSculptedSpec masked_sculpted_spec(const Values& values) {
  MaskedSculptedSpec spec;
  masked_sculpted_settings().read(values, spec);
  return spec;
}

// What pruning has left of a network, and of that what leads to one output.
models::WeightMask skeleton_of(const PrunedMlp& network, std::size_t output) {
  models::WeightMask mask;
  for (const methods::LayerPlace& place : methods::layer_places(network.shape)) {
    const auto first = network.kept.begin() + static_cast<std::ptrdiff_t>(place.weights);
    const auto count = static_cast<std::size_t>(place.in) * static_cast<std::size_t>(place.out);
    mask.tensors.push_back({fmt::format("layer{}.weight", mask.tensors.size()),
                            {static_cast<std::size_t>(place.out), static_cast<std::size_t>(place.in)},
                            {first, first + static_cast<std::ptrdiff_t>(count)}});
  }
  std::vector<std::uint8_t> wanted(mask.tensors.back().shape[0]);
  wanted[output] = 1;
  return methods::live_part_of(mask, wanted);
}

std::vector<Measure> skeleton_measures() {
  const std::pair<double, double> share{0, 1};
  std::vector<Measure> list = mask_measures();
  const auto add = [&](const char* name, const char* label, const char* unit,
                       std::optional<std::pair<double, double>> domain, bool higher_is_better) {
    list.push_back({name, label, unit, false, domain, higher_is_better, ""});
  };
  add("learned", "dense networks that learn", "%", std::pair<double, double>{0, 100}, true);
  list.back().is_yes_or_no = true;
  add("skeleton_iou", "IoU of an output's mask with its skeleton", "", share, true);
  add("skeleton_iou_chance", "IoU of random masks that keep as much", "", share, false);
  add("skeleton_above_chance", "IoU of an output's mask with its skeleton above chance", "", std::nullopt, true);
  add("mask_in_skeleton", "of an output's mask, what its skeleton has too", "%", std::pair<double, double>{0, 100},
      true);
  add("skeleton_in_mask", "of an output's skeleton, what its mask keeps too", "%", std::pair<double, double>{0, 100},
      true);
  add("skeleton_edges", "edges of an output's skeleton", "edges", std::nullopt, false);
  add("carved_iou", "IoU of two outputs' masks on the sculpted network", "", share, false);
  add("carved_iou_related", "the same of outputs that need a common gate", "", share, true);
  add("carved_iou_unrelated", "the same of outputs that need none in common", "", share, false);
  return list;
}

class MaskedSculptedWork : public Work {
 public:
  MaskedSculptedWork(std::span<const Run> runs, Resources resources, const Wanted& wanted)
      : runs_(runs), resources_(std::move(resources)), wanted_(wanted) {
    for (const Run& run : runs) {
      specs_.push_back(masked_sculpted_spec(run.values));
      trials_.push_back(specs_.back().trial);
    }
  }

  // The middle one of the runs speaks for all.
  double estimate_seconds() override {
    const std::size_t middle = runs_.size() / 2;
    const double begin = thread_seconds();
    methods::SculptProgress progress;
    methods::sculpt_networks(std::span(trials_).subspan(middle, 1), 1, *resources_.kernels, progress,
                             [&](std::size_t, const methods::SculptResult& result) { finish(middle, result); });
    return (thread_seconds() - begin) * static_cast<double>(runs_.size()) / resources_.threads;
  }

  void execute(const Sink& sink) override {
    methods::sculpt_networks(trials_, resources_.threads, *resources_.kernels, progress_,
                             [&](std::size_t trial, const methods::SculptResult& result) {
                               Result finished = finish(trial, result);
                               if (!masking_.stop) {
                                 sink({{&runs_[trial], std::move(finished)}});
                               }
                             });
  }

  Status status(double /*seconds*/) const override { return trials_status(progress_, trials_.size()); }
  void stop() override {
    progress_.engine.stop = true;
    masking_.stop = true;
  }

 private:
  MaskOutcome masks_of(const PrunedMlp& network, const MaskedSculptedSpec& spec, bool controls) {
    const auto suite = tasks::cached_task(spec.trial.task);
    const models::Blueprint blueprint = layers_blueprint(network.shape, suite->tasks.front());
    const BitsMasking masking{.blueprint = &blueprint,
                              .whole = methods::whole_target(*suite),
                              .targets = methods::mask_targets("outputs", *suite),
                              .spec = spec.mask,
                              .controls = controls};
    auto outcomes =
        methods::mask_networks(masking, {{network.parameters, {}, spec.trial.seed}}, 1, *resources_.kernels, masking_);
    return outcomes.empty() ? MaskOutcome{} : std::move(outcomes.front());
  }

  Result finish(std::size_t at, const methods::SculptResult& trial) {
    const double begin = thread_seconds();
    const MaskedSculptedSpec& spec = specs_[at];
    Result result;
    Numbers& numbers = result.snapshots["best"];
    const methods::TrialOutcome& outcome = trial.outcome;
    numbers["learned"] = outcome.learned ? 100 : 0;
    if (!outcome.winners.empty()) {
      const PrunedMlp& carved = outcome.winners.front().network;
      const auto suite = tasks::cached_task(spec.trial.task);
      const std::vector<bool> related = methods::need_common_gate(methods::mask_targets("outputs", *suite), *suite);
      const MaskOutcome dense_masks = masks_of(outcome.dense, spec, true);
      const MaskOutcome carved_masks = masks_of(carved, spec, false);
      if (dense_masks.stages.empty() || carved_masks.stages.empty()) {
        return result;  // it was asked to stop
      }
      numbers.merge(mask_numbers(dense_masks, related));
      const Numbers of_carved = mask_numbers(carved_masks, related);
      for (const char* name : {"iou", "iou_related", "iou_unrelated"}) {
        if (const auto found = of_carved.find(name); found != of_carved.end()) {
          numbers[std::string("carved_") + name] = found->second;
        }
      }
      compare_skeletons(dense_masks, carved, numbers);
      result.blobs["details"] = mask_json(dense_masks).dump();
      if (wanted_.best_weights) {
        result.blobs[kMaskPicture] = mask_picture(dense_masks).dump();
      }
    }
    result.seconds = outcome.seconds + thread_seconds() - begin;
    return result;
  }

  static void compare_skeletons(const MaskOutcome& masks, const PrunedMlp& carved, Numbers& numbers) {
    double iou = 0;
    double chance = 0;
    double inside = 0;
    double covered = 0;
    double edges = 0;
    const auto outputs = static_cast<double>(masks.targets.size());
    for (std::size_t output = 0; output < masks.targets.size(); ++output) {
      const models::WeightMask skeleton = skeleton_of(carved, output);
      const models::WeightMask& mask = masks.stages[output + 1].mask;
      const measures::MaskOverlap overlap = measures::overlap_of(mask, skeleton);
      iou += overlap.iou() / outputs;
      chance += overlap.iou_by_chance() / outputs;
      inside += 100.0 * static_cast<double>(overlap.both) /
                static_cast<double>(std::max<std::size_t>(1, overlap.first)) / outputs;
      covered += 100.0 * static_cast<double>(overlap.both) /
                 static_cast<double>(std::max<std::size_t>(1, overlap.second)) / outputs;
      edges += static_cast<double>(overlap.second) / outputs;
    }
    numbers["skeleton_iou"] = iou;
    numbers["skeleton_iou_chance"] = chance;
    numbers["skeleton_above_chance"] = iou - chance;
    numbers["mask_in_skeleton"] = inside;
    numbers["skeleton_in_mask"] = covered;
    numbers["skeleton_edges"] = edges;
  }

  std::span<const Run> runs_;
  Resources resources_;
  Wanted wanted_;
  std::vector<MaskedSculptedSpec> specs_;
  std::vector<methods::SculptRun> trials_;
  methods::SculptProgress progress_;
  methods::MaskProgress masking_;
};

class MaskedSculpted : public Experiment {
 public:
  std::string_view name() const override { return "masked-sculpted"; }
  std::string_view title() const override { return "Networks that are masked and pruned (model masked-sculpted)"; }
  std::span<const Setting> settings() const override { return masked_sculpted_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = skeleton_measures();
    return kMeasures;
  }
  Parts parts() const override { return {"skeleton_iou", "learned", "", "", ""}; }
  std::vector<Column> columns() const override {
    return {{"learned %", "learned", Column::Show::kMean, 1},
            {"mask and skeleton: IoU", "skeleton_iou", Column::Show::kMeanAndError, 3},
            {"by chance", "skeleton_iou_chance", Column::Show::kMean, 3},
            {"two masks: IoU", "iou", Column::Show::kMean, 3}};
  }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "A skeleton is what pruning leaves of a network that leads to an output; the mask is over the dense network "
           "that was pruned.";
  }
  std::string table_title() const override {
    return "IoU of an output's mask with its skeleton, mean over trials ± standard error";
  }
  std::vector<std::string> models() const override { return {kMaskedSculptedModel}; }
  std::vector<const Setting*> settings_for(const Given& /*given*/) const override {
    return masked_sculpted_settings().settings_for(MaskedSculptedSpec{});
  }
  Values resolve(const Given& given) const override {
    MaskedSculptedSpec spec;
    masked_sculpted_settings().apply(given, spec);
    methods::check(spec.mask);
    spec.trial = methods::resolve(spec.trial, *tasks::cached_task(spec.trial.task));
    return masked_sculpted_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return masked_sculpted_settings().by_name(MaskedSculptedSpec{});
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = masked_sculpted_settings().by_name(MaskedSculptedSpec{});
      defaults.erase("model");
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override { return trial_effort(masked_sculpted_spec(run.values).trial); }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedSculptedWork>(runs, resources, wanted);
  }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, true); }
  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override {
    return mask_run_json(Experiment::run_json(run, result), result);
  }
};

}  // namespace

const Experiment& masked_sculpted() {
  static const MaskedSculpted kKind;
  return kKind;
}

}  // namespace modlab::experiments
