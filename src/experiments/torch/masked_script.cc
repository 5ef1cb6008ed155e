#include "experiments/torch/masked_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/errors.h"
#include "core/thread_seconds.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "experiments/torch/script_files.h"
#include "experiments/torch/torch_settings.h"
#include "methods/torch/sample_targets.h"
#include "methods/torch/step_seconds.h"
#include "models/training_settings-inl.h"

namespace modlab::experiments {
namespace {

using modlab::models::GivenSamples;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::LabelLoss;
using modlab::models::row;
using modlab::models::ScriptFile;
using modlab::models::TorchNetwork;
using nlohmann::json;
using settings::SpecSetting;

constexpr settings::Word<LabelLoss> kLosses[] = {{"auto", LabelLoss::kAuto}, {"mse", LabelLoss::kMse}};

struct ScriptMaskingSpec {
  std::string samples;  // files
  std::string network;
  std::string contents;  // of both, as a hash
  std::uint64_t seed = 0;
  LabelLoss loss = LabelLoss::kAuto;
  std::string targets = "outputs";
  std::string_view device = "cpu";
  bool controls = true;
  // Which penalty is right depends on the network, and nobody has published one for it.
  methods::MaskSpec mask = {.steps = 5'000, .beta = std::nullopt};
};

std::vector<SpecSetting<ScriptMaskingSpec>> file_rows() {
  return {
      row<ScriptMaskingSpec>(
          "task", "FILE", "samples, as numpy.savez writes them: inputs and labels, perhaps test_inputs and test_labels",
          kNamed, [](ScriptMaskingSpec& spec, const std::string& text) { spec.samples = text; },
          [](const ScriptMaskingSpec& spec) { return json(spec.samples); }, {.role = Setting::Role::kTask}),
      row<ScriptMaskingSpec>(
          "model", "masked", "masked: a network that is trained is masked for each target", kNamed,
          [](ScriptMaskingSpec&, const std::string& text) {
            if (text != methods::kMaskedModel) {
              throw ConfigError(fmt::format("model '{}' is not masked", text));
            }
          },
          [](const ScriptMaskingSpec&) { return json(methods::kMaskedModel); }, {.role = Setting::Role::kModel}),
      row<ScriptMaskingSpec>(
          "network", "FILE", "what is masked: TorchScript, as torch.jit.save writes it", kNamed,
          [](ScriptMaskingSpec& spec, const std::string& text) { spec.network = text; },
          [](const ScriptMaskingSpec& spec) { return json(spec.network); }),
      row<ScriptMaskingSpec>(
          "contents", "HASH", "of both files, found by itself: other contents are other runs", kNamed,
          [](ScriptMaskingSpec& spec, const std::string& text) { spec.contents = text; },
          [](const ScriptMaskingSpec& spec) { return json(spec.contents); }),
      row<ScriptMaskingSpec>(
          "seed", "N", "seed of batches and masks", modlab::models::kFree,
          [](ScriptMaskingSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(settings::read_integer(
                "seed", text, 0, std::numeric_limits<long long>::max(), "a whole number that is not negative"));
          },
          [](const ScriptMaskingSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
  };
}

std::vector<SpecSetting<ScriptMaskingSpec>> use_rows() {
  return {
      row<ScriptMaskingSpec>(
          "loss", "auto|mse",
          "auto: a label is a class, or columns of 0 and 1; mse: labels are real numbers, and accuracies how much of "
          "their variance is explained",
          kNamed,
          [](ScriptMaskingSpec& spec, const std::string& text) {
            spec.loss = settings::read_word("loss", text, kLosses);
          },
          [](const ScriptMaskingSpec& spec) { return json(settings::word_for(spec.loss, kLosses)); }),
      row<ScriptMaskingSpec>(
          "targets", "WHAT",
          "what masks are for: outputs (each column of labels), classes (everything but one), or a CSV with a column "
          "for each target and a line of 0 and 1 for each sample",
          kNamed, [](ScriptMaskingSpec& spec, const std::string& text) { spec.targets = text; },
          [](const ScriptMaskingSpec& spec) { return json(spec.targets); }),
      device_row<ScriptMaskingSpec>(),
      row<ScriptMaskingSpec>(
          "controls", "true|false", "train every mask twice", kPlain,
          [](ScriptMaskingSpec& spec, const std::string& text) {
            spec.controls = settings::read_truth("controls", text);
          },
          [](const ScriptMaskingSpec& spec) { return json(spec.controls); }),
  };
}

const settings::SpecTable<ScriptMaskingSpec>& script_settings() {
  static const settings::SpecTable<ScriptMaskingSpec> kTable([] {
    std::vector<SpecSetting<ScriptMaskingSpec>> rows = file_rows();
    std::ranges::move(use_rows(), std::back_inserter(rows));
    std::ranges::move(settings::rows_of_part(methods::mask_settings(), &ScriptMaskingSpec::mask),
                      std::back_inserter(rows));
    return rows;
  }());
  return kTable;
}

ScriptMaskingSpec script_spec(const Values& values) {
  ScriptMaskingSpec spec;
  script_settings().read(values, spec);
  return spec;
}

std::vector<std::string> files_of(const ScriptMaskingSpec& spec) {
  std::vector<std::string> files = {spec.network, spec.samples};
  if (spec.targets.ends_with(".csv")) {
    files.push_back(spec.targets);
  }
  return files;
}

void check_script(const ScriptMaskingSpec& spec) {
  if (spec.network.empty()) {
    throw ConfigError("samples of one's own need a network of one's own: --model FILE, as torch.jit.save writes it");
  }
  check_torch_masks(spec.mask);
}

// Samples and targets of runs that share them.
struct ScriptTask {
  ScriptFile file;
  std::shared_ptr<const GivenSamples> samples;
  methods::SampleTargets targets;
};

class MaskedScriptWork : public SoloMaskWork {
 public:
  MaskedScriptWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    for (const Run& run : runs) {
      specs_.push_back(script_spec(run.values));
      tasks_.push_back(task_of(specs_.back()));
      add_steps(methods::all_steps(masking_of(specs_.size() - 1, 1)));
    }
  }

  double estimate_seconds() override {
    std::map<const ScriptTask*, double> known;  // of a step
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(tasks_[at].get());
      if (is_new) {
        const auto network = open(at, 1);
        found->second = methods::torch_step_seconds(*network, tasks_[at]->targets.whole.rows, 0, specs_[at].mask,
                                                    *resources().kernels)
                            .mask;
      }
      total += found->second * static_cast<double>(methods::all_steps(masking_of(at, 1)));
    }
    return total / resources().threads;
  }

 private:
  // Opens the network once, so that whatever does not fit is said before anything is trained.
  std::shared_ptr<const ScriptTask> task_of(const ScriptMaskingSpec& spec) {
    std::shared_ptr<const ScriptTask>& known =
        known_[spec.contents + spec.targets + settings::word_for(spec.loss, kLosses)];
    if (known != nullptr) {
      return known;
    }
    check_contents(files_of(spec), spec.contents);
    auto task = std::make_shared<ScriptTask>();
    task->file = checked_script(spec.network);
    task->samples = std::make_shared<const GivenSamples>(modlab::models::read_samples(spec.samples, spec.loss));
    task->targets = methods::sample_targets(spec.targets, *task->samples);
    const auto network =
        modlab::models::torch_library().open_script(task->file, task->samples, {std::string(spec.device), 1});
    methods::masked_parameters(network->layout(), spec.mask);
    known = std::move(task);
    return known;
  }

  std::unique_ptr<TorchNetwork> open(std::size_t at, int threads) const {
    return modlab::models::torch_library().open_script(tasks_[at]->file, tasks_[at]->samples,
                                                       {std::string(specs_[at].device), threads});
  }

  methods::TorchMasking masking_of(std::size_t at, int outputs) const {
    const ScriptTask& task = *tasks_[at];
    return {.spec = specs_[at].mask,
            .seed = specs_[at].seed,
            .controls = specs_[at].controls,
            .whole = task.targets.whole,
            .targets = task.targets.targets,
            .tests = task.samples->test_rows(),
            .judge = [&task, outputs](const std::vector<float>& said) {
              return methods::judge_samples(said, outputs, *task.samples, task.targets);
            }};
  }

  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const auto network = open(at, threads);
    const std::vector<float> weights = network->initial();
    const std::optional<methods::MaskOutcome> outcome = methods::mask_on_torch(
        *network, weights, masking_of(at, network->answers()), *resources().kernels, progress, unfinished(at));
    if (!outcome) {
      return std::nullopt;
    }
    Result result;
    result.snapshots["best"] = mask_numbers(*outcome, {}, false);
    result.blobs["details"] = mask_json(*outcome).dump();
    if (wanted_.best_weights) {
      result.blobs[kMaskPicture] = mask_picture(*outcome).dump();
    }
    result.seconds = thread_seconds() - begin;
    if (wanted_.network_file) {
      add_mask_files(network->layout(), methods::masked_parameters(network->layout(), specs_[at].mask), weights,
                     *outcome, run(at).kind->run_json(run(at), result), result.blobs);
    }
    return result;
  }

  Wanted wanted_;
  std::vector<ScriptMaskingSpec> specs_;
  std::vector<std::shared_ptr<const ScriptTask>> tasks_;  // [run]
  std::map<std::string, std::shared_ptr<const ScriptTask>> known_;
};

class MaskedScriptKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-script"; }
  std::string_view title() const override {
    return "Networks of PyTorch's that are masked on samples of their own (model masked, task FILE.npz)";
  }
  std::span<const Setting> settings() const override { return script_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = mask_measures();
    return kMeasures;
  }
  bool takes(const std::string& task) const override { return task.ends_with(".npz"); }
  bool is_replayable() const override { return false; }
  std::vector<const Setting*> settings_for(const Given& /*given*/) const override {
    return script_settings().settings_for(ScriptMaskingSpec{});
  }
  Values resolve(const Given& given) const override {
    ScriptMaskingSpec spec;
    script_settings().apply(given, spec);
    check_script(spec);
    if (spec.contents.empty()) {
      spec.contents = contents_of(files_of(spec));
    }
    return script_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return script_settings().by_name(ScriptMaskingSpec{});
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = script_settings().by_name(ScriptMaskingSpec{});
      for (const char* always : {"model", "task", "network", "contents"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const ScriptMaskingSpec spec = script_spec(run.values);
    return static_cast<double>(spec.mask.steps) * spec.mask.batch_size;
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedScriptWork>(runs, resources, wanted);
  }
};

}  // namespace

const Experiment& masked_script() {
  static const MaskedScriptKind kKind;
  return kKind;
}

}  // namespace modlab::experiments
