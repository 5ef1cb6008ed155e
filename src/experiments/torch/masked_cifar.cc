#include "experiments/torch/masked_cifar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "core/errors.h"
#include "core/text.h"
#include "core/thread_seconds.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "experiments/torch/cifar_settings.h"
#include "experiments/torch/class_record.h"
#include "io/safetensors.h"
#include "methods/torch/class_removal.h"
#include "methods/torch/step_seconds.h"
#include "methods/torch/torch_training.h"
#include "tasks/cifar_files.h"
#include "tasks/published_split.h"

namespace modlab::experiments {
namespace {

using methods::ClassTarget;
using modlab::models::ColourSamples;
using modlab::models::TorchNetwork;

constexpr auto kOutLayer = "out_layer";

void keep_first(std::vector<std::uint32_t>& rows, int count) {
  if (count > 0 && static_cast<std::size_t>(count) < rows.size()) {
    rows.resize(static_cast<std::size_t>(count));
  }
}

// Of each colour of these images, the mean and the deviation.
modlab::models::ColourScale measured_scale(const ColourSamples& samples) {
  modlab::models::ColourScale scale;
  const std::size_t plane = samples.image_bytes() / ColourSamples::kColours;
  for (std::size_t colour = 0; colour < ColourSamples::kColours; ++colour) {
    std::array<double, 256> counts{};
    for (std::size_t image = 0; image < samples.learned; ++image) {
      const std::uint8_t* pixels = samples.pixels.data() + image * samples.image_bytes() + colour * plane;
      std::for_each_n(pixels, plane, [&](std::uint8_t shade) { ++counts[shade]; });
    }
    const auto all = static_cast<double>(samples.learned * plane);
    double mean = 0;
    double square = 0;
    for (std::size_t shade = 0; shade < counts.size(); ++shade) {
      const auto value = static_cast<double>(shade);
      mean += value * counts[shade] / all;
      square += value * value * counts[shade] / all;
    }
    scale.mean[colour] = static_cast<float>(mean);
    scale.deviation[colour] = static_cast<float>(std::sqrt(std::max(1e-6, square - mean * mean)));
  }
  return scale;
}

// What ResNets on CIFAR-10 are published with, in shades from 0 to 1.
modlab::models::ColourScale published_scale() {
  constexpr std::array<float, 3> kMean = {0.4914F, 0.4822F, 0.4465F};
  constexpr std::array<float, 3> kDeviation = {0.2023F, 0.1994F, 0.2010F};
  modlab::models::ColourScale scale;
  std::ranges::transform(kMean, scale.mean.begin(), [](float shade) { return 255 * shade; });
  std::ranges::transform(kDeviation, scale.deviation.begin(), [](float shade) { return 255 * shade; });
  return scale;
}

// Images, how they are split, and what masks are for: of one run.
struct CifarTask {
  std::shared_ptr<const ColourSamples> samples;
  modlab::models::ColourScale scale;
  methods::ClassTask classes;
  std::vector<int> removed;
  std::vector<ClassTarget> targets;
};

class MaskedCifarWork : public SoloMaskWork {
 public:
  MaskedCifarWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    for (const Run& run : runs) {
      CifarMaskingSpec& spec = specs_.emplace_back(cifar_spec(run.values));
      tasks_.push_back(task_of(spec));
      spec.shape.classes = static_cast<int>(tasks_.back().classes.names.size());
      spec.shape.scale = tasks_.back().scale;
      methods::masked_parameters(modlab::models::colour_layout(spec.shape), spec.mask);
      add_steps(spec.steps + methods::all_steps(masking_of(specs_.size() - 1)));
    }
    if (!runs.empty()) {
      open(0, 1);  // so that a library that is missing is said before anything is trained
    }
  }

  double estimate_seconds() override {
    std::map<std::string, methods::TorchStepSeconds> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(cifar_settings().shared_key(specs_[at]));
      if (is_new) {
        const auto network = open(at, 1);
        found->second = methods::torch_step_seconds(*network, tasks_[at].classes.train, specs_[at].batch_size,
                                                    specs_[at].mask, *resources().kernels);
      }
      total += specs_[at].steps * found->second.weights +
               static_cast<double>(methods::all_steps(masking_of(at))) * found->second.mask;
    }
    return total / resources().threads;
  }

 private:
  CifarTask task_of(const CifarMaskingSpec& spec) {
    CifarTask task;
    std::shared_ptr<const ColourSamples>& samples = samples_[spec.images];
    if (samples == nullptr) {
      samples = spec.images.empty()
                    ? modlab::models::load_cifar10()
                    : std::make_shared<const ColourSamples>(modlab::models::read_colour_samples(spec.images));
    }
    task.samples = samples;
    task.scale = spec.images.empty() && !spec.is_cnn() ? published_scale() : measured_scale(*samples);
    task.classes.names = samples->names;
    task.classes.labels = samples->labels;
    // The CNN is tested on some of the training images, as published, the ResNet on the test images.
    if (spec.is_cnn() || samples->learned == samples->count()) {
      tasks::PublishedSplit split = tasks::published_split(samples->learned);
      task.classes.train = std::move(split.train);
      task.classes.test = std::move(split.test);
    } else {
      task.classes.train.resize(samples->learned);
      std::iota(task.classes.train.begin(), task.classes.train.end(), 0U);
      task.classes.test.resize(samples->count() - samples->learned);
      std::iota(task.classes.test.begin(), task.classes.test.end(), static_cast<std::uint32_t>(samples->learned));
    }
    keep_first(task.classes.train, spec.train_images);
    keep_first(task.classes.test, spec.test_images);
    if (spec.removes()) {
      task.removed = removed_classes(spec.classes, samples->names);
      task.targets = methods::without_classes(task.classes, task.removed, spec.only_present);
    } else {
      task.targets = methods::class_pairs(task.classes, spec.pairs, spec.seed);
    }
    methods::check(task.classes, task.targets);
    return task;
  }

  std::unique_ptr<TorchNetwork> open(std::size_t at, int threads) const {
    return modlab::models::torch_library().open_colour(specs_[at].shape, tasks_[at].samples,
                                                       {std::string(specs_[at].device), threads});
  }

  methods::TorchMasking masking_of(std::size_t at) const {
    const CifarMaskingSpec& spec = specs_[at];
    const CifarTask& task = tasks_[at];
    methods::TorchMasking masking{.spec = spec.mask,
                                  .seed = spec.seed,
                                  .controls = !spec.removes() || spec.controls,
                                  .whole = {"all", task.classes.train},
                                  .tests = task.classes.test,
                                  .judge = [&task](const std::vector<float>& said) {
                                    return methods::judge_classes(said, task.classes, task.targets);
                                  }};
    for (const ClassTarget& target : task.targets) {
      masking.targets.push_back(target.target);
    }
    if (spec.removes() && spec.keep_last) {
      masking.from_control = {fmt::format("{}.weight", kOutLayer), fmt::format("{}.bias", kOutLayer)};
    }
    return masking;
  }

  methods::TorchTraining training_of(std::size_t at) const {
    const CifarMaskingSpec& spec = specs_[at];
    return {.optimizer = spec.optimizer,
            .steps = spec.steps,
            .batch_size = spec.batch_size,
            .seed = spec.seed,
            .rate_factor = [&spec](int step) {
              const auto passed = std::ranges::count_if(spec.lr_drops, [&](int drop) { return step >= drop; });
              return std::pow(0.1, passed);
            }};
  }

  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const auto network = open(at, threads);
    const std::optional<std::vector<float>> weights = methods::train_on_torch(
        *network, network->initial(), tasks_[at].classes.train, training_of(at), progress, unfinished(at));
    if (!weights) {
      return std::nullopt;
    }
    const methods::TorchMasking masking = masking_of(at);
    std::optional<methods::MaskOutcome> outcome =
        methods::mask_on_torch(*network, *weights, masking, *resources().kernels, progress, unfinished(at));
    if (!outcome) {
      return std::nullopt;
    }
    outcome->class_names = tasks_[at].classes.names;
    Result result;
    result.snapshots["best"] = numbers_of(at, *network, *weights, masking, *outcome);
    result.blobs["details"] = mask_json(*outcome).dump();
    if (wanted_.best_weights) {
      result.blobs[kMaskPicture] = mask_picture(*outcome).dump();
    }
    result.seconds = thread_seconds() - begin;
    if (wanted_.network_file) {
      add_mask_files(network->layout(), methods::masked_parameters(network->layout(), specs_[at].mask), *weights,
                     *outcome, run(at).kind->run_json(run(at), result), result.blobs);
      add_statistics(*network, result.blobs);
    }
    return result;
  }

  Numbers numbers_of(std::size_t at, TorchNetwork& network, const std::vector<float>& weights,
                     const methods::TorchMasking& masking, const methods::MaskOutcome& outcome) const {
    Numbers numbers = mask_numbers(outcome, {}, false);
    const methods::MaskedParameters masked = methods::masked_parameters(network.layout(), specs_[at].mask);
    const modlab::models::WeightMask& control = outcome.stages.front().mask;
    const auto everything = [&](const std::vector<float>& some) {
      return masking.judge(network.say(some, masking.tests)).everything;
    };
    numbers["everything"] = everything(weights);
    numbers["half_full"] = everything(methods::masked_weights(masked, control, weights));
    const auto drop = [&](bool early) {
      return numbers["half_full"] -
             everything(methods::masked_weights(masked, methods::half_of_layers(control, early), weights));
    };
    numbers["drop_early"] = drop(true);
    numbers["drop_late"] = drop(false);
    numbers["early_above_late"] = numbers["drop_early"] - numbers["drop_late"];
    add_class_numbers(outcome, tasks_[at].removed, numbers);
    if (specs_[at].removes() && specs_[at].cosine) {
      const std::vector<double> cosines =
          methods::gradient_cosines(network, weights, masked, outcome.of_target(0).mask, masking.tests);
      for (std::size_t layers = 0; layers < std::min<std::size_t>(cosines.size(), 5); ++layers) {
        numbers[fmt::format("cosine_{}", layers + 1)] = cosines[layers];
      }
    }
    return numbers;
  }

  // What norms have measured is no parameter, and without it the network says something else.
  static void add_statistics(const TorchNetwork& network, std::map<std::string, std::string>& blobs) {
    const std::vector<float> all = network.buffers();
    io::TensorFile file;
    std::size_t first = 0;
    for (const engine::Tensor& tensor : network.layout().tensors) {
      // Norms alone have a weight that is a vector.
      if (tensor.shape.size() == 1 && tensor.name.ends_with(".weight")) {
        const std::string norm = tensor.name.substr(0, tensor.name.rfind('.'));
        for (const char* statistic : {"running_mean", "running_var"}) {
          const auto values = std::span(all).subspan(first, tensor.count);
          file.tensors.push_back({norm + "." + statistic, {tensor.count}, {values.begin(), values.end()}});
          first += tensor.count;
        }
      }
    }
    if (!file.tensors.empty()) {
      blobs["file.statistics.safetensors"] = io::encode_safetensors(file);
    }
  }

  Wanted wanted_;
  std::vector<CifarMaskingSpec> specs_;
  std::vector<CifarTask> tasks_;  // [run]
  std::map<std::string, std::shared_ptr<const ColourSamples>> samples_;
};

class MaskedCifarKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-cifar"; }
  std::string_view title() const override {
    return "Networks on images in colour that are masked, on libtorch (model masked, task cifar10)";
  }
  std::span<const Setting> settings() const override { return cifar_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = mask_measures();
      std::ranges::move(class_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return {"relative_drop", "control_accuracy", "", "", ""}; }
  std::vector<Column> columns() const override {
    return {{"unmasked %", "everything", Column::Show::kMean, 1},
            {"control %", "half_full", Column::Show::kMean, 1},
            {"kept %", "kept", Column::Show::kMean, 1},
            {"class lost %", "relative_drop", Column::Show::kMeanAndError, 1},
            {"worst other", "worst_other", Column::Show::kMean, 1},
            {"trained again", "stability", Column::Show::kMean, 3}};
  }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "Accuracies are of test images, without a mask and under the control mask. Class lost: of the accuracy of a "
           "class under the control mask, what a mask trained without the class loses; worst other: the largest such "
           "loss of another class, in percent of it. Trained again: IoU of a mask with itself. `modlab mask` says more "
           "of each.";
  }
  std::string table_title() const override {
    return "Of a class's accuracy, what a mask without the class loses, in percent ± standard error";
  }
  bool takes(const std::string& task) const override { return task == kCifarTask; }
  bool is_replayable() const override { return false; }
  std::vector<OwnTask> own_tasks() const override {
    return {{kCifarTask, "images in colour of ten classes, on libtorch"}};
  }
  std::vector<const Setting*> settings_for(const Given& given) const override {
    return cifar_settings().settings_for(cifar_start(given));
  }
  Values resolve(const Given& given) const override {
    CifarMaskingSpec spec = cifar_start(given);
    cifar_settings().apply(given, spec);
    check_cifar(spec);
    return cifar_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    auto defaults = cifar_settings().by_name(CifarMaskingSpec{});
    for (const std::string_view name : kByNetwork) {
      defaults[std::string(name)] = nullptr;
    }
    return defaults;
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = cifar_settings().by_name(CifarMaskingSpec{});
      for (const char* always : {"model", "task", "network", "masks_for"}) {
        defaults.erase(always);
      }
      for (const std::string_view name : kByNetwork) {
        defaults.erase(std::string(name));
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const CifarMaskingSpec spec = cifar_spec(run.values);
    constexpr double kOperations = 6;  // of a product forward and backward
    const double removed = spec.removes()
                               ? static_cast<double>(spec.classes == "all" ? tasks::kCifarClasses.size()
                                                                           : split_text(spec.classes, ',').size())
                               : 2.0 * spec.pairs;
    const double masks = 1 + removed * (spec.removes() && spec.controls ? 2 : 1);
    return kOperations * modlab::models::colour_products(spec.shape, tasks::ColourSet::kSide) *
           (static_cast<double>(spec.steps) * spec.batch_size +
            masks * static_cast<double>(spec.mask.steps) * spec.mask.batch_size);
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedCifarWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    return {{"parameters", static_cast<double>(modlab::models::colour_layout(cifar_spec(run.values).shape).count)}};
  }
};

}  // namespace

const Experiment& masked_cifar() {
  static const MaskedCifarKind kKind;
  return kKind;
}

}  // namespace modlab::experiments
