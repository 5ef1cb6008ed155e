#include "experiments/torch/masked_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/errors.h"
#include "core/notice.h"
#include "core/thread_seconds.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "experiments/torch/script_files.h"
#include "experiments/torch/sequence_record.h"
#include "experiments/torch/sequence_settings.h"
#include "methods/torch/sequence_parts.h"
#include "methods/torch/step_seconds.h"
#include "methods/torch/torch_masking.h"
#include "methods/torch/torch_training.h"

namespace modlab::experiments {
namespace {

using methods::SequenceParts;
using modlab::models::TorchNetwork;

// Everything that is tested, one part after the other: first the targets, then what no mask is for.
struct SequenceTests {
  std::vector<std::size_t> counts;
  std::size_t targets = 0;

  methods::TorchJudgement judge(const std::vector<float>& said) const {
    methods::TorchJudgement judgement;
    double all = 0;
    std::size_t first = 0;
    for (std::size_t test = 0; test < counts.size(); ++test) {
      double right = 0;
      for (std::size_t place = first; place < first + counts[test]; ++place) {
        right += said[place];
      }
      first += counts[test];
      all += right;
      (test < targets ? judgement.accuracy : judgement.other)
          .push_back(100 * right / static_cast<double>(counts[test]));
    }
    judgement.everything = 100 * all / static_cast<double>(said.size());
    return judgement;
  }
};

methods::TorchMasking masking_of(const SequenceMaskingSpec& spec, const SequenceParts& parts) {
  methods::TorchMasking masking{
      .spec = spec.mask, .seed = spec.seed, .masks = spec.trained_on == 0, .controls = spec.controls};
  std::vector<std::string> targets = {"easy"};
  if (spec.is_scan()) {
    masking.whole = {methods::kScanSplits[0], parts.part(methods::kScanSplits[0]).train};
    targets.assign(std::begin(methods::kScanSplits) + 1, std::end(methods::kScanSplits));
  } else {
    masking.whole = {"all", parts.all_train()};
  }
  SequenceTests tests;
  const auto test_on = [&](const methods::SequencePart& part) {
    masking.tests.insert(masking.tests.end(), part.test.begin(), part.test.end());
    tests.counts.push_back(part.test.size());
  };
  for (const std::string& target : targets) {
    masking.targets.push_back({target, parts.part(target).train});
    test_on(parts.part(target));
  }
  tests.targets = targets.size();
  for (const methods::SequencePart& part : parts.parts) {
    if (std::ranges::find(targets, part.name) == targets.end()) {
      masking.other_tests.push_back(part.name);
      test_on(part);
    }
  }
  masking.judge = [tests](const std::vector<float>& said) { return tests.judge(said); };
  return masking;
}

class MaskedSequencesWork : public SoloMaskWork {
 public:
  MaskedSequencesWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    for (const Run& run : runs) {
      const SequenceMaskingSpec& spec = specs_.emplace_back(sequence_spec(run.values));
      methods::masked_parameters(modlab::models::sequence_layout(shape_of(spec)), spec.mask);
      parts_.push_back(parts_of(spec));
      add_steps(spec.steps + methods::all_steps(masking_of(spec, *parts_.back())));
    }
    if (!runs.empty()) {
      open(0, 1);  // what does not fit is said before anything is trained
    }
  }

  double estimate_seconds() override {
    std::map<std::string, methods::TorchStepSeconds> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(sequence_settings().shared_key(specs_[at]));
      if (is_new) {
        const auto network = open(at, 1);
        found->second = methods::torch_step_seconds(*network, rows_of_weights(at), specs_[at].batch_size,
                                                    specs_[at].mask, *resources().kernels);
      }
      total += specs_[at].steps * found->second.weights +
               static_cast<double>(methods::all_steps(masking_of(specs_[at], *parts_[at]))) * found->second.mask;
    }
    return total / resources().threads;
  }

 private:
  std::vector<std::uint32_t> rows_of_weights(std::size_t at) const {
    return specs_[at].is_scan() ? parts_[at]->part(methods::kScanSplits[specs_[at].trained_on]).train
                                : parts_[at]->all_train();
  }

  std::shared_ptr<const SequenceParts> parts_of(const SequenceMaskingSpec& spec) {
    std::shared_ptr<const SequenceParts>& known =
        known_[fmt::format("{} {} {} {}", spec.module, spec.contents, spec.questions, spec.tests)];
    if (known != nullptr) {
      return known;
    }
    if (!spec.files.empty()) {
      check_contents(spec.files, spec.contents);
    } else {
      give_notice(spec.is_scan() ? "the simple split of SCAN is drawn here: the official one is known by its files "
                                   "alone (--files tasks_train_simple.txt,tasks_test_simple.txt)"
                                 : "questions are drawn here: published ones are in files (--files EASY,MEDIUM,HARD)");
    }
    known = std::make_shared<const SequenceParts>(
        spec.is_scan()
            ? methods::scan_parts(spec.files)
            : methods::math_parts(static_cast<tasks::MathModule>(spec.module), spec.files, spec.questions, spec.tests));
    return known;
  }

  std::unique_ptr<TorchNetwork> open(std::size_t at, int threads) const {
    return modlab::models::torch_library().open_sequences(shape_of(specs_[at]), parts_[at]->samples, specs_[at].seed,
                                                          {std::string(specs_[at].device), threads});
  }

  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const SequenceMaskingSpec& spec = specs_[at];
    const auto network = open(at, threads);
    const std::optional<std::vector<float>> weights = methods::train_on_torch(
        *network, network->initial(), rows_of_weights(at), training_of(spec), progress, unfinished(at));
    if (!weights) {
      return std::nullopt;
    }
    const std::optional<methods::MaskOutcome> outcome = methods::mask_on_torch(
        *network, *weights, masking_of(spec, *parts_[at]), *resources().kernels, progress, unfinished(at));
    if (!outcome) {
      return std::nullopt;
    }
    Result result;
    Numbers& numbers = result.snapshots["best"] = mask_numbers(*outcome, {}, false);
    if (spec.is_scan()) {
      add_scan_numbers(*outcome, methods::kScanSplits[spec.trained_on], numbers);
    } else {
      add_math_numbers(*outcome, numbers);
    }
    result.blobs["details"] = mask_json(*outcome).dump();
    if (wanted_.best_weights && !outcome->stages.empty()) {
      result.blobs[kMaskPicture] = mask_picture(*outcome).dump();
    }
    result.seconds = thread_seconds() - begin;
    if (wanted_.network_file) {
      add_mask_files(network->layout(), methods::masked_parameters(network->layout(), spec.mask), *weights, *outcome,
                     run(at).kind->run_json(run(at), result), result.blobs);
    }
    return result;
  }

  Wanted wanted_;
  std::vector<SequenceMaskingSpec> specs_;
  std::vector<std::shared_ptr<const SequenceParts>> parts_;  // [run]
  std::map<std::string, std::shared_ptr<const SequenceParts>> known_;
};

class MaskedSequencesKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-sequences"; }
  std::string_view title() const override {
    return "Networks on sequences that are masked (model masked, tasks scan and math/...)";
  }
  std::span<const Setting> settings() const override { return sequence_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = mask_measures();
      std::ranges::move(sequence_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return {"control_accuracy", "unmasked_accuracy", "", "", ""}; }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "Accuracies are of whole sequences: without a mask, under the control mask, of what a part tests under the "
           "mask of what it trains on, and under others'. `modlab mask` says more of each.";
  }
  std::string table_title() const override { return "Accuracy under the control mask, mean ± standard error"; }
  bool takes(const std::string& task) const override {
    const std::vector<std::string> names = own_task_names(*this);
    return std::ranges::find(names, task) != names.end();
  }
  std::vector<OwnTask> own_tasks() const override {
    return {{kScan, "commands in words, answered with a sequence of actions"},
            {"math/add_or_sub", "sums and differences, as texts"},
            {"math/linear_1d", "linear equations with one unknown, as texts"},
            {"math/differentiate", "derivatives of polynomials, as texts"},
            {"math/sort", "lists of numbers to put in order, as texts"},
            {"math/collect", "polynomials whose terms are to be collected, as texts"}};
  }
  bool is_replayable() const override { return false; }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    return sequence_settings().settings_for(published_spec(given));
  }
  Values resolve(const Given& given) const override {
    SequenceMaskingSpec spec = published_spec(given);
    sequence_settings().apply(given, spec);
    check_sequences(spec);
    if (spec.contents.empty() && !spec.files.empty()) {
      spec.contents = contents_of(spec.files);
    }
    return sequence_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = sequence_settings().by_name(SequenceMaskingSpec{});
    for (const char* decided : kDecidedByTask) {
      defaults[decided] = nullptr;
    }
    return defaults;
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = sequence_settings().by_name(SequenceMaskingSpec{});
      for (const char* always : {"model", "task", "network"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const SequenceMaskingSpec spec = sequence_spec(run.values);
    constexpr double kOperations = 6;  // of a weight forward and backward
    constexpr double kTokens = 25;     // of a question and its answer
    const double masks = spec.trained_on != 0 ? 0 : (spec.is_scan() ? 4 : 2);
    return kOperations * kTokens * size_of(run).at("parameters") *
           (static_cast<double>(spec.steps) * spec.batch_size +
            masks * static_cast<double>(spec.mask.steps) * spec.mask.batch_size);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedSequencesWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    const engine::Layout layout = modlab::models::sequence_layout(shape_of(sequence_spec(run.values)));
    return {{"parameters", static_cast<double>(layout.count)}};
  }
};

}  // namespace

const Experiment& masked_sequences() {
  static const MaskedSequencesKind kKind;
  return kKind;
}

}  // namespace modlab::experiments
