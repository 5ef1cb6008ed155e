#include "experiments/torch/masked_cifar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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
#include "experiments/torch/class_record.h"
#include "io/safetensors.h"
#include "methods/torch/class_removal.h"
#include "methods/torch/flat_mask_trainer.h"
#include "methods/torch/torch_training.h"
#include "models/training_settings-inl.h"
#include "tasks/cifar_files.h"
#include "tasks/published_split.h"

namespace modlab::experiments {
namespace {

using methods::ClassTarget;
using methods::FlatOptimizerKind;
using modlab::models::ColourNetworkKind;
using modlab::models::ColourSamples;
using modlab::models::ColourShape;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using modlab::models::TorchNetwork;
using nlohmann::json;
using settings::SpecSetting;

constexpr auto kCifarTask = "cifar10";
constexpr auto kOutLayer = "out_layer";

enum class ClassTargets { kRemoved, kPairs };

constexpr settings::Word<ColourNetworkKind> kColourNetworks[] = {{"cnn", ColourNetworkKind::kCnn},
                                                                 {"resnet", ColourNetworkKind::kResnet}};
constexpr settings::Word<FlatOptimizerKind> kFlatOptimizers[] = {{"adam", FlatOptimizerKind::kAdam},
                                                                 {"momentum", FlatOptimizerKind::kMomentum}};
constexpr settings::Word<ClassTargets> kClassTargets[] = {{"removed", ClassTargets::kRemoved},
                                                          {"pairs", ClassTargets::kPairs}};
constexpr settings::Word<bool> kLossClasses[] = {{"all", false}, {"present", true}};
constexpr settings::Word<std::string_view> kCifarDevices[] = {{"cpu", "cpu"}, {"cuda", "cuda"}};

// As the CNN was published; published_resnet() has what differs.
struct CifarMaskingSpec {
  std::string images;  // a file; empty: CIFAR-10
  ColourShape shape;
  std::uint64_t seed = 0;
  int train_images = 0;  // 0: all
  int test_images = 0;
  int steps = 20'000;
  int batch_size = 128;
  methods::FlatOptimizerSpec optimizer = {.kind = FlatOptimizerKind::kAdam, .lr = 1e-3, .clip = 1};
  std::vector<int> lr_drops = {};  // steps at which the learning rate becomes a tenth
  ClassTargets targets = ClassTargets::kRemoved;
  std::string classes = "all";  // that are removed, by name
  bool only_present = false;
  bool keep_last = true;
  int pairs = 10;
  bool cosine = false;
  bool controls = false;
  std::string_view device = "cpu";
  methods::MaskSpec mask = {.lr = 1e-3, .beta = 3e-4, .exclude = {}};
};

CifarMaskingSpec published_resnet() {
  CifarMaskingSpec spec;
  spec.shape = {.kind = ColourNetworkKind::kResnet, .channels = {16, 32, 64}, .dropout = false, .augments = true};
  spec.steps = 64'000;
  spec.optimizer = {.kind = FlatOptimizerKind::kMomentum, .lr = 0.1, .momentum = 0.9, .decay = 1e-4, .clip = 0};
  spec.lr_drops = {32'000, 48'000};
  // The published 2e-5 is divided by the batch of the weights, which is half that of the masks.
  spec.mask = {.steps = 30'000, .batch_size = 256, .lr = 0.03, .beta = 4e-5, .exclude = {}};
  return spec;
}

bool is_cnn(const CifarMaskingSpec& spec) { return spec.shape.kind == ColourNetworkKind::kCnn; }
bool is_resnet(const CifarMaskingSpec& spec) { return !is_cnn(spec); }
bool removes(const CifarMaskingSpec& spec) { return spec.targets == ClassTargets::kRemoved; }
bool compares_pairs(const CifarMaskingSpec& spec) { return !removes(spec); }

using CifarRow = SpecSetting<CifarMaskingSpec>;

CifarRow of_part(CifarRow made, bool (*applies)(const CifarMaskingSpec&), const char* of) {
  made.applies = applies;
  made.setting.of = of;
  return made;
}

template <int CifarMaskingSpec::*kMember>
CifarRow count_row(const char* name, const char* help, long long low, long long high, unsigned traits) {
  CifarRow made = row<CifarMaskingSpec>(name, "N", help, traits, nullptr,
                                        [](const CifarMaskingSpec& spec) { return json(spec.*kMember); });
  made.set = [=](CifarMaskingSpec& spec, const std::string& text) {
    const std::string allowed = fmt::format("a whole number from {} to {}", low, high);
    spec.*kMember = static_cast<int>(settings::read_integer(name, text, low, high, allowed.c_str()));
  };
  return made;
}

template <typename Member>
CifarRow truth_row(const char* name, const char* help, unsigned traits, Member member) {
  CifarRow made = row<CifarMaskingSpec>(name, "true|false", help, traits, nullptr, nullptr);
  made.set = [=](CifarMaskingSpec& spec, const std::string& text) { member(spec) = settings::read_truth(name, text); };
  made.get = [=](const CifarMaskingSpec& spec) {
    CifarMaskingSpec copy = spec;
    return json(static_cast<bool>(member(copy)));
  };
  return made;
}

CifarRow chooser_of_masks(CifarRow made) {
  made.setting.is_chooser = true;
  made.setting.of = kCifarTask;
  return made;
}

std::vector<CifarRow> cifar_task_rows() {
  CifarRow network = row<CifarMaskingSpec>(
      "network", "cnn|resnet", "what is masked: four convolutions, or three groups of residual blocks", kNamed,
      [](CifarMaskingSpec& spec, const std::string& text) {
        spec.shape.kind = settings::read_word("network", text, kColourNetworks);
      },
      [](const CifarMaskingSpec& spec) { return json(settings::word_for(spec.shape.kind, kColourNetworks)); });
  network.setting.is_chooser = true;
  return {
      row<CifarMaskingSpec>(
          "task", "NAME", "cifar10: images in colour, of ten classes", kNamed,
          [](CifarMaskingSpec&, const std::string& text) {
            if (text != kCifarTask) {
              throw ConfigError(fmt::format("task '{}' is not {}", text, kCifarTask));
            }
          },
          [](const CifarMaskingSpec&) { return json(kCifarTask); }, {.role = Setting::Role::kTask}),
      row<CifarMaskingSpec>(
          "model", "masked", "masked: a network is trained, frozen, and masked for each target", kNamed,
          [](CifarMaskingSpec&, const std::string& text) {
            if (text != methods::kMaskedModel) {
              throw ConfigError(fmt::format("model '{}' is not masked", text));
            }
          },
          [](const CifarMaskingSpec&) { return json(methods::kMaskedModel); }, {.role = Setting::Role::kModel}),
      network,
      chooser_of_masks(row<CifarMaskingSpec>(
          "masks_for", "removed|pairs",
          "what masks are for: all classes but one, for each; or pairs of classes, a mask trained twice for each",
          kNamed,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.targets = settings::read_word("masks_for", text, kClassTargets);
          },
          [](const CifarMaskingSpec& spec) { return json(settings::word_for(spec.targets, kClassTargets)); })),
      row<CifarMaskingSpec>(
          "seed", "N", "seed of initial weights, batches, masks and pairs", modlab::models::kFree,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(settings::read_integer(
                "seed", text, 0, std::numeric_limits<long long>::max(), "a whole number that is not negative"));
          },
          [](const CifarMaskingSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
      row<CifarMaskingSpec>(
          "images", "FILE",
          "images of one's own in the place of CIFAR-10, as numpy.savez writes them: inputs (N, 3, side, side) from 0 "
          "to "
          "255 and labels, perhaps test_inputs and test_labels",
          kPlain, [](CifarMaskingSpec& spec, const std::string& text) { spec.images = text; },
          [](const CifarMaskingSpec& spec) { return json(spec.images); }),
      count_row<&CifarMaskingSpec::train_images>("train_images", "images to learn from, the first so many; 0: all", 0,
                                                 10'000'000, kNamed),
      count_row<&CifarMaskingSpec::test_images>("test_images", "images to be tested on; 0: all", 0, 10'000'000, kPlain),
  };
}

std::vector<CifarRow> cifar_network_rows() {
  return {
      row<CifarMaskingSpec>(
          "channels", "WIDTHS", "channels of the CNN's four convolutions, or of the ResNet's three groups",
          kList | kNamed,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.shape.channels = settings::read_sizes("channels", text);
          },
          [](const CifarMaskingSpec& spec) { return json(spec.shape.channels); }),
      of_part(row<CifarMaskingSpec>(
                  "blocks", "N", "residual blocks of a group; 18 are 110 layers", kNamed,
                  [](CifarMaskingSpec& spec, const std::string& text) {
                    spec.shape.blocks = static_cast<int>(
                        settings::read_integer("blocks", text, 1, 200, "a whole number from 1 to 200"));
                  },
                  [](const CifarMaskingSpec& spec) { return json(spec.shape.blocks); }),
              &is_resnet, "resnet"),
      of_part(truth_row("dropout", "while weights are trained: 0.25 after the third convolution, 0.5 after the fourth",
                        kNamed, [](CifarMaskingSpec& spec) -> bool& { return spec.shape.dropout; }),
              &is_cnn, "cnn"),
      truth_row("augment", "images that are learned from are moved by up to four pixels and mirrored, for masks too",
                kPlain, [](CifarMaskingSpec& spec) -> bool& { return spec.shape.augments; }),
      count_row<&CifarMaskingSpec::steps>("steps", "training steps of the network", 1, 10'000'000, kNamed),
      count_row<&CifarMaskingSpec::batch_size>("batch_size", "images of such a step", 1, 65'536, kPlain),
      row<CifarMaskingSpec>(
          "optimizer", "adam|momentum", "of the network: Adam, or SGD with momentum 0.9, not Nesterov's", kPlain,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.optimizer.kind = settings::read_word("optimizer", text, kFlatOptimizers);
          },
          [](const CifarMaskingSpec& spec) { return json(settings::word_for(spec.optimizer.kind, kFlatOptimizers)); }),
      row<CifarMaskingSpec>(
          "lr", "RATE", "learning rate of the network", kPlain,
          [](CifarMaskingSpec& spec, const std::string& text) { spec.optimizer.lr = settings::read_rate("lr", text); },
          [](const CifarMaskingSpec& spec) { return json(spec.optimizer.lr); }),
      row<CifarMaskingSpec>(
          "lr_drops", "STEPS|none", "steps at which that rate becomes a tenth", kList,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.lr_drops.clear();
            for (const std::string& step : text == "none" ? std::vector<std::string>{} : split_text(text, ',')) {
              spec.lr_drops.push_back(static_cast<int>(
                  settings::read_integer("lr_drops", step, 1, 10'000'000, "none or whole numbers from 1 to 10000000")));
            }
          },
          [](const CifarMaskingSpec& spec) {
            std::vector<std::string> steps;
            std::ranges::transform(spec.lr_drops, std::back_inserter(steps),
                                   [](int step) { return std::to_string(step); });
            return json(steps.empty() ? "none" : join_text(steps, ","));
          }),
      row<CifarMaskingSpec>(
          "weight_decay", "D", "L2 weight decay, added to every gradient", kPlain,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.optimizer.decay = settings::read_real("weight_decay", text, 0, 1e6, "a number that is not negative");
          },
          [](const CifarMaskingSpec& spec) { return json(spec.optimizer.decay); }),
      row<CifarMaskingSpec>(
          "clip", "LENGTH|off", "length that the network's gradient is cut to", kPlain,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.optimizer.clip =
                text == "off" ? 0 : settings::read_real("clip", text, 1e-9, 1e9, "a positive number or off");
          },
          [](const CifarMaskingSpec& spec) {
            return spec.optimizer.clip > 0 ? json(spec.optimizer.clip) : json("off");
          }),
  };
}

std::vector<CifarRow> cifar_mask_rows() {
  return {
      of_part(row<CifarMaskingSpec>(
                  "classes", "NAMES", "classes that are removed, one at a time, as cat,dog; or all", kList | kNamed,
                  [](CifarMaskingSpec& spec, const std::string& text) { spec.classes = text; },
                  [](const CifarMaskingSpec& spec) { return json(spec.classes); }),
              &removes, "removed"),
      of_part(
          row<CifarMaskingSpec>(
              "loss_classes", "all|present",
              "what a mask may answer while it is trained: also the class that is missing, of which never to say it "
              "is rewarded; or only classes that are there",
              kNamed,
              [](CifarMaskingSpec& spec, const std::string& text) {
                spec.only_present = settings::read_word("loss_classes", text, kLossClasses);
              },
              [](const CifarMaskingSpec& spec) { return json(settings::word_for(spec.only_present, kLossClasses)); }),
          &removes, "removed"),
      of_part(truth_row("keep_last", "all masks keep of the last layer what the control mask keeps", kPlain,
                        [](CifarMaskingSpec& spec) -> bool& { return spec.keep_last; }),
              &removes, "removed"),
      of_part(
          truth_row("cosine",
                    "compare gradients of the network with those of its masked layers, under the first class's mask",
                    kPlain, [](CifarMaskingSpec& spec) -> bool& { return spec.cosine; }),
          &removes, "removed"),
      of_part(truth_row("controls", "train every mask twice", kPlain,
                        [](CifarMaskingSpec& spec) -> bool& { return spec.controls; }),
              &removes, "removed"),
      of_part(count_row<&CifarMaskingSpec::pairs>("pairs", "pairs of classes, drawn by the seed", 1, 4'950, kNamed),
              &compares_pairs, "pairs"),
      row<CifarMaskingSpec>(
          "device", "cpu|cuda", "where libtorch computes", kPlain,
          [](CifarMaskingSpec& spec, const std::string& text) {
            spec.device = settings::read_word("device", text, kCifarDevices);
          },
          [](const CifarMaskingSpec& spec) { return json(std::string(spec.device)); }),
  };
}

const settings::SpecTable<CifarMaskingSpec>& cifar_settings() {
  static const settings::SpecTable<CifarMaskingSpec> kTable([] {
    std::vector<CifarRow> rows = cifar_task_rows();
    std::ranges::move(cifar_network_rows(), std::back_inserter(rows));
    std::ranges::move(cifar_mask_rows(), std::back_inserter(rows));
    std::ranges::move(settings::rows_of_part(methods::mask_settings(), &CifarMaskingSpec::mask),
                      std::back_inserter(rows));
    return rows;
  }());
  return kTable;
}

// Settings whose defaults follow from the network.
constexpr std::array<std::string_view, 13> kByNetwork = {"channels", "augment", "steps",       "optimizer",  "lr",
                                                         "lr_drops", "clip",    "mask_steps",  "mask_batch", "mask_lr",
                                                         "beta",     "dropout", "weight_decay"};

CifarMaskingSpec cifar_start(const Given& given) {
  CifarMaskingSpec spec;
  if (const auto found = given.find("network"); found != given.end()) {
    cifar_settings().set(spec, "network", found->second);
  }
  if (is_resnet(spec)) {
    spec = published_resnet();
  }
  if (const auto found = given.find("masks_for"); found != given.end()) {
    cifar_settings().set(spec, "masks_for", found->second);
  }
  return spec;
}

CifarMaskingSpec cifar_spec(const Values& values) {
  CifarMaskingSpec spec;
  cifar_settings().read(values, spec);
  spec.shape.seed = spec.seed;
  return spec;
}

// The numbers of classes that are removed. Throws ConfigError for a name that none has.
std::vector<int> removed_classes(const std::string& classes, const std::vector<std::string>& names) {
  std::vector<int> removed;
  if (classes == "all") {
    removed.resize(names.size());
    std::iota(removed.begin(), removed.end(), 0);
    return removed;
  }
  for (const std::string& name : split_text(classes, ',')) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw ConfigError(fmt::format("classes: there is no class '{}'{}; there are {}", name, did_you_mean(name, names),
                                    join_text(names, ", ")));
    }
    removed.push_back(static_cast<int>(found - names.begin()));
  }
  std::vector<int> sorted = removed;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw ConfigError("classes: a class is named twice; each is removed once");
  }
  return removed;
}

void check_cifar(const CifarMaskingSpec& spec) {
  methods::check_solo(spec.mask);
  const std::size_t wanted = is_cnn(spec) ? 4 : 3;
  if (spec.shape.channels.size() != wanted) {
    throw ConfigError(fmt::format("channels: a {} has {} widths, not {}", is_cnn(spec) ? "CNN" : "ResNet", wanted,
                                  spec.shape.channels.size()));
  }
  if (spec.mask.active) {
    throw ConfigError("active_set: is for networks on arithmetic; leave it out");
  }
  if (spec.mask.clip_of == methods::MaskClip::kPublished) {
    throw ConfigError("clip_of: published is for networks on arithmetic; leave it out");
  }
  if (spec.images.empty()) {
    removed_classes(spec.classes, {tasks::kCifarClasses.begin(), tasks::kCifarClasses.end()});
  }
}

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
    const double all = static_cast<double>(samples.learned * plane);
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
    std::map<std::string, std::pair<double, double>> known;  // of a step of the weights, and of a mask
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const auto [found, is_new] = known.try_emplace(cifar_settings().shared_key(specs_[at]));
      if (is_new) {
        found->second = step_seconds(at);
      }
      total += specs_[at].steps * found->second.first +
               static_cast<double>(methods::all_steps(masking_of(at))) * found->second.second;
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
    task.scale = spec.images.empty() && is_resnet(spec) ? published_scale() : measured_scale(*samples);
    task.classes.names = samples->names;
    task.classes.labels = samples->labels;
    // The CNN is tested on some of the training images, as published, the ResNet on the test images.
    if (is_cnn(spec) || samples->learned == samples->count()) {
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
    if (removes(spec)) {
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
                                  .controls = compares_pairs(spec) || spec.controls,
                                  .whole = {"all", task.classes.train},
                                  .tests = task.classes.test,
                                  .judge = [&task](const std::vector<float>& said) {
                                    return methods::judge_classes(said, task.classes, task.targets);
                                  }};
    for (const ClassTarget& target : task.targets) {
      masking.targets.push_back(target.target);
    }
    if (removes(spec) && spec.keep_last) {
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

  std::pair<double, double> step_seconds(std::size_t at) const {
    const auto network = open(at, 1);
    const CifarMaskingSpec& spec = specs_[at];
    const std::vector<std::uint32_t>& rows = tasks_[at].classes.train;
    methods::TorchTraining training = training_of(at);
    methods::DigitProgress progress;
    const auto train = [&](int steps) {
      training.steps = steps;
      const double begin = thread_seconds();
      methods::train_on_torch(*network, network->initial(), rows, training, progress);
      return thread_seconds() - begin;
    };
    train(1);
    const double weights = train(2) / 2;
    const methods::MaskedParameters masked = methods::masked_parameters(network->layout(), spec.mask);
    methods::FlatMaskTrainer trainer(*network, masked, network->initial(),
                                     std::vector<float>(static_cast<std::size_t>(masked.logits), 2.0F), spec.mask, 0, 0,
                                     0, engine::solo::masked_kernels_for(resources().kernels->target));
    std::vector<std::uint32_t> batch;
    for (int place = 0; place < spec.mask.batch_size; ++place) {
      batch.push_back(rows[static_cast<std::size_t>(place) % rows.size()]);
    }
    trainer.step(batch, {});
    const double begin = thread_seconds();
    trainer.step(batch, {});
    return {weights, thread_seconds() - begin};
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
    if (removes(specs_[at]) && specs_[at].cosine) {
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
    const double removed = removes(spec)
                               ? static_cast<double>(spec.classes == "all" ? tasks::kCifarClasses.size()
                                                                           : split_text(spec.classes, ',').size())
                               : 2.0 * spec.pairs;
    const double masks = 1 + removed * (removes(spec) && spec.controls ? 2 : 1);
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
