#include "experiments/mask/masked_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "core/errors.h"
#include "core/thread_seconds.h"
#include "engine/solo/masked_kernels.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_kind.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/solo_mask_work.h"
#include "experiments/mask/transfer_record.h"
#include "methods/mask/masked_images.h"
#include "models/training_settings-inl.h"

namespace modlab::experiments {
namespace {

using methods::ImageMaskingSpec;
using methods::MaskedImages;
using modlab::models::kList;
using modlab::models::kNamed;
using modlab::models::kPlain;
using modlab::models::row;
using nlohmann::json;
using settings::read_integer;
using settings::SpecSetting;

constexpr auto kPermutedMnist = "permuted-mnist";
constexpr int kMostTasks = 100;
constexpr int kMnistPixels = 28 * 28;

SpecSetting<ImageMaskingSpec> of_images(SpecSetting<ImageMaskingSpec> made) {
  made.setting.of = kPermutedMnist;
  return made;
}

std::vector<SpecSetting<ImageMaskingSpec>> image_task_rows() {
  return {
      row<ImageMaskingSpec>(
          "task", "NAME", "permuted-mnist: MNIST, and then MNIST with its pixels in other orders", kNamed,
          [](ImageMaskingSpec&, const std::string& text) {
            if (text != kPermutedMnist) {
              throw ConfigError(fmt::format("task '{}' is not {}", text, kPermutedMnist));
            }
          },
          [](const ImageMaskingSpec&) { return json(kPermutedMnist); }, {.role = Setting::Role::kTask}),
      row<ImageMaskingSpec>(
          "model", "masked", "masked: weights and a mask over them are trained together, task by task", kNamed,
          [](ImageMaskingSpec&, const std::string& text) {
            if (text != methods::kMaskedModel) {
              throw ConfigError(fmt::format("model '{}' is not masked", text));
            }
          },
          [](const ImageMaskingSpec&) { return json(methods::kMaskedModel); }, {.role = Setting::Role::kModel}),
      row<ImageMaskingSpec>(
          "seed", "N", "seed of initial weights, batches and masks", modlab::models::kFree,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(read_integer("seed", text, 0, std::numeric_limits<long long>::max(),
                                                                "a whole number that is not negative"));
          },
          [](const ImageMaskingSpec& spec) { return json(spec.seed); }, {.role = Setting::Role::kSeed}),
      of_images(row<ImageMaskingSpec>(
          "tasks", "N", "tasks one after the other, each with the pixels in another order", kNamed,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.tasks = static_cast<int>(read_integer("tasks", text, 1, kMostTasks, "a whole number from 1 to 100"));
          },
          [](const ImageMaskingSpec& spec) { return json(spec.tasks); })),
      row<ImageMaskingSpec>(
          "images", "FILES", "IDX files (also .gz) of the training and the test images; default: MNIST", kList,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.files.images = settings::read_files("images", text);
          },
          [](const ImageMaskingSpec& spec) { return json(spec.files.images); }),
      row<ImageMaskingSpec>(
          "labels", "FILES", "IDX files of their labels, in the same order", kList,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.files.labels = settings::read_files("labels", text);
          },
          [](const ImageMaskingSpec& spec) { return json(spec.files.labels); }),
  };
}

std::vector<SpecSetting<ImageMaskingSpec>> image_network_rows() {
  return {
      row<ImageMaskingSpec>(
          "hidden", "WIDTHS", "hidden layers of the network", kList | kNamed,
          [](ImageMaskingSpec& spec, const std::string& text) { spec.hidden = settings::read_sizes("hidden", text); },
          [](const ImageMaskingSpec& spec) { return json(spec.hidden); }, {.label = "hidden units"}),
      of_images(row<ImageMaskingSpec>(
          "prefer_old", "L|off",
          "logit that weights begin with which no earlier mask keeps, those of earlier masks having mask_init; off: "
          "the same; published: off, 0 and -1",
          kNamed,
          [](ImageMaskingSpec& spec, const std::string& text) {
            if (text == "off") {
              spec.prefer_old.reset();
              return;
            }
            spec.prefer_old = settings::read_real("prefer_old", text, -50, 50, "off or a number from -50 to 50");
          },
          [](const ImageMaskingSpec& spec) { return spec.prefer_old ? json(*spec.prefer_old) : json("off"); })),
      of_images(row<ImageMaskingSpec>(
          "reset_first", "true|false",
          "every task has a first layer of its own, of which nothing is kept; false: earlier tasks stay as they are",
          kPlain,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.reset_first = settings::read_truth("reset_first", text);
          },
          [](const ImageMaskingSpec& spec) { return json(spec.reset_first); })),
      row<ImageMaskingSpec>(
          "steps", "N", "training steps of the weights alone, before those of a task's mask with them; published: 0",
          kNamed,
          [](ImageMaskingSpec& spec, const std::string& text) {
            spec.steps =
                static_cast<int>(read_integer("steps", text, 0, 10'000'000, "a whole number from 0 to 10000000"));
          },
          [](const ImageMaskingSpec& spec) { return json(spec.steps); }),
      row<ImageMaskingSpec>(
          "lr", "RATE", "learning rate of the weights", kPlain,
          [](ImageMaskingSpec& spec, const std::string& text) { spec.lr = settings::read_rate("lr", text); },
          [](const ImageMaskingSpec& spec) { return json(spec.lr); }),
  };
}

const settings::SpecTable<ImageMaskingSpec>& masked_images_settings() {
  static const settings::SpecTable<ImageMaskingSpec> kTable([] {
    std::vector<SpecSetting<ImageMaskingSpec>> rows = image_task_rows();
    std::ranges::move(image_network_rows(), std::back_inserter(rows));
    std::ranges::move(settings::rows_of_part(methods::mask_settings(), &ImageMaskingSpec::mask),
                      std::back_inserter(rows));
    return rows;
  }());
  return kTable;
}

ImageMaskingSpec masked_images_spec(const Values& values) {
  ImageMaskingSpec spec;
  masked_images_settings().read(values, spec);
  return spec;
}

void check_masked_images(const ImageMaskingSpec& spec) {
  methods::check_solo(spec.mask);
  if (!has_bits(spec.mask)) {
    throw ConfigError(
        "sampler hard-concrete and grain unit are for weights that stay as they are; permuted-mnist trains them with "
        "their masks");
  }
  if (!spec.mask.beta) {
    throw ConfigError("beta: auto is for networks that are trained before they are masked; name a number");
  }
  if (spec.mask.active) {
    throw ConfigError(
        "active_set: the weights are trained too, and a logit that was given up could not return; leave it out");
  }
  if (spec.mask.clip_of == methods::MaskClip::kPublished) {
    throw ConfigError("clip_of: the weights are trained too, so that their gradients count in any case; leave it out");
  }
  if (spec.mask.inverse_io == methods::InverseEnds::kFullMask) {
    throw ConfigError("inverse_io: permuted-mnist has no control mask; choose none or ones");
  }
}

class MaskedImagesWork : public SoloMaskWork {
 public:
  MaskedImagesWork(std::span<const Run> runs, const Resources& resources, const Wanted& wanted)
      : SoloMaskWork(runs, resources), wanted_(wanted) {
    std::map<const tasks::ImageData*, std::shared_ptr<const tasks::PermutedImages>> known;
    for (const Run& run : runs) {
      specs_.push_back(masked_images_spec(run.values));
      const auto data = tasks::load_image_data(specs_.back().files);
      std::shared_ptr<const tasks::PermutedImages>& images = known[data.get()];
      if (images == nullptr) {
        images = std::make_shared<const tasks::PermutedImages>(tasks::permuted_images(data));
      }
      images_.push_back(images);
      methods::masked_parameters(layout_of(specs_.size() - 1), specs_.back().mask);
      add_steps(methods::all_steps(specs_.back()));
    }
  }

  double estimate_seconds() override {
    std::map<std::string, methods::ImageStepSeconds> known;
    double total = 0;
    for (std::size_t at = 0; at < specs_.size(); ++at) {
      const ImageMaskingSpec& spec = specs_[at];
      const auto [found, is_new] = known.try_emplace(masked_images_settings().shared_key(spec));
      if (is_new) {
        found->second = methods::image_step_seconds(spec, *images_[at], *resources().kernels);
      }
      const double tasks = spec.tasks;
      total += tasks * (spec.steps * found->second.weights + spec.mask.steps * found->second.mask) +
               static_cast<double>(methods::all_tests(spec, *images_[at])) * found->second.test;
    }
    return total / resources().threads;
  }

 private:
  engine::Layout layout_of(std::size_t at) const {
    return modlab::models::digit_layout(methods::image_shape(specs_[at], images_[at]->data->train.pixel_count()));
  }

  std::optional<Result> carry_out(std::size_t at, int threads, methods::DigitProgress& progress) const override {
    const double begin = thread_seconds();
    const std::optional<MaskedImages> masked =
        methods::mask_images(specs_[at], *images_[at], threads, *resources().kernels, progress, unfinished(at));
    if (!masked) {
      return std::nullopt;
    }
    Result result;
    Numbers& numbers = result.snapshots["best"] = mask_numbers(masked->outcome, {}, false);
    add_transfer_numbers(masked->outcome, numbers);
    result.blobs["details"] = mask_json(masked->outcome).dump();
    if (wanted_.best_weights) {
      result.blobs[kMaskPicture] = mask_picture(masked->outcome).dump();
    }
    result.seconds = thread_seconds() - begin;
    if (wanted_.network_file) {
      const engine::Layout layout = layout_of(at);
      add_mask_files(layout, methods::masked_parameters(layout, specs_[at].mask), masked->weights, masked->outcome,
                     run(at).kind->run_json(run(at), result), result.blobs);
    }
    return result;
  }

  Wanted wanted_;
  std::vector<ImageMaskingSpec> specs_;
  std::vector<std::shared_ptr<const tasks::PermutedImages>> images_;  // [run]
};

class MaskedImagesKind : public MaskKind {
 public:
  std::string_view name() const override { return "masked-images"; }
  std::string_view title() const override {
    return "Networks on one image task after the other, trained with masks (model masked, task permuted-mnist)";
  }
  std::span<const Setting> settings() const override { return masked_images_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const std::vector<Measure> kMeasures = [] {
      std::vector<Measure> list = mask_measures();
      std::ranges::move(transfer_measures(), std::back_inserter(list));
      return list;
    }();
    return kMeasures;
  }
  Parts parts() const override { return {"shared", "own_accuracy", "", "", ""}; }
  std::vector<Column> columns() const override {
    return {{"unmasked %", "unmasked_accuracy", Column::Show::kMean, 1},
            {"own %", "own_accuracy", Column::Show::kMean, 1},
            {"last task %", "last_task_accuracy", Column::Show::kMean, 1},
            {"kept %", "kept", Column::Show::kMean, 1},
            {"shared", "shared", Column::Show::kMeanAndError, 3},
            {"by chance", "shared_chance", Column::Show::kMean, 3}};
  }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "Accuracies are of images that were not learned from, of each task when it was learned: without a mask and "
           "under its own. Shared: what a task's mask keeps that earlier masks keep too, mean over tasks; by chance: a "
           "random mask that keeps as much. `modlab mask` says more of each.";
  }
  std::string table_title() const override { return "Of a task's mask, what earlier masks keep too, ± standard error"; }
  bool takes(const std::string& task) const override { return task == kPermutedMnist; }
  std::vector<OwnTask> own_tasks() const override {
    return {{kPermutedMnist, "MNIST, then with its pixels in one other order after the other"}};
  }
  std::vector<const Setting*> settings_for(const Given& /*given*/) const override {
    return masked_images_settings().settings_for(ImageMaskingSpec{});
  }
  Values resolve(const Given& given) const override {
    ImageMaskingSpec spec;
    masked_images_settings().apply(given, spec);
    check_masked_images(spec);
    return masked_images_settings().values(spec);
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return masked_images_settings().by_name(ImageMaskingSpec{});
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = masked_images_settings().by_name(ImageMaskingSpec{});
      for (const char* always : {"model", "task"}) {
        defaults.erase(always);
      }
      return defaults;
    }();
    return kDefaults;
  }
  double effort(const Run& run) const override {
    const ImageMaskingSpec spec = masked_images_spec(run.values);
    constexpr double kOperations = 6;  // of a weight forward and backward
    return kOperations * size_of(run).at("parameters") * spec.mask.batch_size *
           static_cast<double>(methods::all_steps(spec));
  }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& wanted) const override {
    return std::make_unique<MaskedImagesWork>(runs, resources, wanted);
  }
  Numbers size_of(const Run& run) const override {
    const ImageMaskingSpec spec = masked_images_spec(run.values);
    const int pixels = spec.files.is_mnist() ? kMnistPixels : tasks::load_image_data(spec.files)->train.pixel_count();
    return {
        {"parameters", static_cast<double>(modlab::models::digit_layout(methods::image_shape(spec, pixels)).count)}};
  }
};

}  // namespace

const Experiment& masked_images() {
  static const MaskedImagesKind kKind;
  return kKind;
}

}  // namespace modlab::experiments
