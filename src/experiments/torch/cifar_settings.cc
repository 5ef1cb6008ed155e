#include "experiments/torch/cifar_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/torch/torch_settings.h"
#include "methods/mask/mask_settings.h"
#include "models/training_settings-inl.h"
#include "tasks/cifar_files.h"

namespace modlab::experiments {
namespace {

using methods::FlatOptimizerKind;
using modlab::models::ColourNetworkKind;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using nlohmann::json;
using settings::Given;
using settings::Setting;
using settings::SpecSetting;
using settings::Values;

constexpr settings::Word<ColourNetworkKind> kColourNetworks[] = {{"cnn", ColourNetworkKind::kCnn},
                                                                 {"resnet", ColourNetworkKind::kResnet}};
constexpr settings::Word<FlatOptimizerKind> kFlatOptimizers[] = {{"adam", FlatOptimizerKind::kAdam},
                                                                 {"momentum", FlatOptimizerKind::kMomentum}};
constexpr settings::Word<ClassTargets> kClassTargets[] = {{"removed", ClassTargets::kRemoved},
                                                          {"pairs", ClassTargets::kPairs}};
constexpr settings::Word<bool> kLossClasses[] = {{"all", false}, {"present", true}};

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

bool is_cnn(const CifarMaskingSpec& spec) { return spec.is_cnn(); }
bool is_resnet(const CifarMaskingSpec& spec) { return !spec.is_cnn(); }
bool removes(const CifarMaskingSpec& spec) { return spec.removes(); }
bool compares_pairs(const CifarMaskingSpec& spec) { return !spec.removes(); }

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
      device_row<CifarMaskingSpec>(),
  };
}

}  // namespace

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
  check_torch_masks(spec.mask);
  const std::size_t wanted = is_cnn(spec) ? 4 : 3;
  if (spec.shape.channels.size() != wanted) {
    throw ConfigError(fmt::format("channels: a {} has {} widths, not {}", is_cnn(spec) ? "CNN" : "ResNet", wanted,
                                  spec.shape.channels.size()));
  }
  if (spec.images.empty()) {
    removed_classes(spec.classes, {tasks::kCifarClasses.begin(), tasks::kCifarClasses.end()});
  }
}

}  // namespace modlab::experiments
