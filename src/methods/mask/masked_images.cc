#include "methods/mask/masked_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/thread_seconds.h"
#include "engine/flush_denormals.h"
#include "methods/mask/derived_masks.h"
#include "methods/mask/digit_training.h"
#include "methods/mask/drawn_rows.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/stage_numbers.h"
#include "models/digits/pixel_batch.h"

namespace modlab::methods {
namespace {

// Images that are looked at together in a test: so many fit the second cache level beside a layer.
constexpr std::size_t kTestImages = 512;

// Some images that are learned from, by their numbers.
std::vector<std::uint32_t> draw_images(const tasks::PermutedImages& images, const DrawnRows& rows, std::uint32_t step,
                                       int count) {
  std::vector<std::uint32_t> drawn = rows.draw(step, count);
  for (std::uint32_t& number : drawn) {
    number = images.train[number];
  }
  return drawn;
}

DigitMaskTraining joint_training(const ImageMaskingSpec& spec, std::uint32_t stage) {
  return {.samples = spec.mask.samples,
          .lr = spec.mask.lr,
          .alpha = spec.mask.beta.value_or(0) / spec.mask.batch_size,
          .of_count = spec.mask.penalty == MaskPenaltyKind::kCount,
          .clip = spec.mask.clip,
          .tau = spec.mask.tau,
          .sampler = spec.mask.sampler,
          .seed = spec.seed,
          .stage = stage,
          .weight_lr = spec.lr};
}

class ImagesMasker {
 public:
  ImagesMasker(const ImageMaskingSpec& spec, const tasks::PermutedImages& images, int threads,
               const engine::Kernels<float>& kernels, DigitProgress& progress, const io::Unfinished& unfinished)
      : spec_(spec),
        images_(images),
        kernels_(kernels),
        progress_(progress),
        unfinished_(unfinished),
        team_(threads),
        network_(models::make_digit_network<float>(image_shape(spec, images.data->train.pixel_count()),
                                                   engine::solo::masked_kernels_for(kernels.target), team_)),
        masked_(masked_parameters(network_->layout(), spec.mask)),
        is_masked_(masked_tensors(network_->layout(), masked_)),
        kept_(network_->layout()) {
    outcome_.has_control = false;
    outcome_.beta = spec.mask.beta.value_or(0);
    for (int task = 0; task < spec.tasks; ++task) {
      outcome_.targets.push_back(fmt::format("T{}", task + 1));
      orders_.push_back(tasks::pixel_order(images.data->train.pixel_count(), task));
    }
    if (spec.reset_first) {
      for (std::size_t tensor = 0; tensor < 2; ++tensor) {
        outcome_.own_tensors.push_back(network_->layout().tensors[tensor].name);
      }
    }
  }

  std::optional<MaskedImages> run() {
    for (int task = 0; task < spec_.tasks; ++task) {
      if (!learn(task)) {
        return std::nullopt;
      }
    }
    return MaskedImages{std::move(weights_), std::move(outcome_)};
  }

 private:
  bool goes_on() {
    progress_.steps.fetch_add(1, std::memory_order_relaxed);
    return !progress_.stop.load(std::memory_order_relaxed);
  }

  bool learn(int task) {
    const auto number = static_cast<std::uint32_t>(task);
    if (task > 0 && spec_.reset_first) {
      kept_.forget_first_layer(network_->layout());
    }
    const std::string part = fmt::format("task-{}", task + 1);
    const auto count = static_cast<std::ptrdiff_t>(network_->layout().count);
    if (const auto known = unfinished_.find(part, 2 * network_->layout().count)) {
      progress_.found.fetch_add(spec_.steps + spec_.mask.steps, std::memory_order_relaxed);
      weights_.assign(known->begin(), known->begin() + count);
      look(task, {known->begin() + count, known->end()});
      return true;
    }
    network_->load(kept_.restored(weights_, models::initial_task_parameters(network_->shape(), spec_.seed, number)));
    if (!train_weights(task)) {
      return false;
    }
    const double used_init = spec_.mask.init;
    const double new_init = task == 0 ? used_init : spec_.prefer_old.value_or(used_init);
    DigitMaskTrainer trainer(*network_, is_masked_, kept_.initial_logits(used_init, new_init),
                             joint_training(spec_, number), team_, kernels_, kept_.used());
    if (!train(trainer, task, number, spec_.mask.steps)) {
      return false;
    }
    weights_ = network_->save();
    const std::vector<float> logits = trainer.logits();
    std::vector<float> learned = weights_;
    learned.insert(learned.end(), logits.begin(), logits.end());
    unfinished_.keep(part, learned);
    look(task, logits);
    return true;
  }

  bool train_weights(int task) {
    if (spec_.steps == 0) {
      return true;
    }
    DigitWeightTrainer trainer(*network_, {.lr = spec_.lr, .clip = spec_.mask.clip}, team_, kernels_, kept_.used());
    return train(trainer, task, kWeightStage + static_cast<std::uint32_t>(task), spec_.steps);
  }

  template <typename Trainer>
  bool train(Trainer& trainer, int task, std::uint32_t stage, int steps) {
    const DrawnRows rows(spec_.seed, stage, images_.train.size());
    for (int step = 0; step < steps; ++step) {
      const models::DigitBatch batch =
          models::pixel_batch(images_, orders_[static_cast<std::size_t>(task)],
                              draw_images(images_, rows, static_cast<std::uint32_t>(step), spec_.mask.batch_size));
      trainer.step({&batch, 1});
      if (!goes_on()) {
        return false;
      }
    }
    return true;
  }

  void look(int task, const std::vector<float>& all_logits) {
    MaskStage& stage = outcome_.stages.emplace_back();
    stage.name = outcome_.targets[static_cast<std::size_t>(task)];
    stage.logits = logits_of(masked_, all_logits);
    stage.mask = kept_weights(masked_, stage.logits, weights_, stage.name);
    stage.ambiguous = 100 * ambiguous_share(stage.logits, {});
    stage.live = live_weights(stage.mask, {}).value_or(std::vector<std::size_t>{});
    if (task > 0) {
      const models::WeightMask earlier = kept_.as_mask(masked_);
      for (std::size_t tensor = 0; tensor < earlier.tensors.size(); ++tensor) {
        stage.earlier.push_back(measures::overlap_of(stage.mask.tensors[tensor], earlier.tensors[tensor]));
      }
    }
    stage.weights = weights_;
    kept_.add(masked_, stage.mask);
    outcome_.unmasked.push_back(accuracy(weights_, task));
    const std::vector<float> left = masked_weights(masked_, stage.mask, weights_);
    const std::vector<float> others =
        masked_weights(masked_, inverse_mask(stage.mask, stage.mask, spec_.mask.inverse_io), weights_);
    for (int target = 0; target <= task; ++target) {
      stage.accuracy.push_back(accuracy(left, target));
      stage.inverse.push_back(accuracy(others, target));
    }
  }

  // In percent.
  double accuracy(const std::vector<float>& weights, int task) {
    network_->load(weights);
    std::size_t right = 0;
    for (std::size_t first = 0; first < images_.test.size(); first += kTestImages) {
      const auto numbers = std::span(images_.test).subspan(first, std::min(kTestImages, images_.test.size() - first));
      const models::DigitBatch batch = models::pixel_batch(images_, orders_[static_cast<std::size_t>(task)], numbers);
      const float* said = network_->evaluate(batch);
      for (std::size_t row = 0; row < numbers.size(); ++row) {
        const float* classes = said + row * models::kDigitClasses;
        right += std::max_element(classes, classes + models::kDigitClasses) - classes == batch.digits[row] ? 1 : 0;
      }
    }
    return 100 * static_cast<double>(right) / static_cast<double>(images_.test.size());
  }

  const ImageMaskingSpec& spec_;
  const tasks::PermutedImages& images_;
  const engine::Kernels<float>& kernels_;
  DigitProgress& progress_;
  const io::Unfinished& unfinished_;
  Team team_;
  std::unique_ptr<models::DigitNetwork> network_;
  MaskedParameters masked_;
  std::vector<std::uint8_t> is_masked_;             // [tensor]
  std::vector<std::vector<std::uint32_t>> orders_;  // of pixels, [task]
  KeptByEarlier kept_;
  std::vector<float> weights_;
  MaskOutcome outcome_;
};

}  // namespace

models::DigitShape image_shape(const ImageMaskingSpec& spec, int pixels) {
  return {.kind = models::DigitNetworkKind::kFnn,
          .inputs = pixels,
          .outputs = models::kDigitClasses,
          .hidden = spec.hidden,
          .masks_biases = true};
}

void KeptByEarlier::add(const MaskedParameters& masked, const models::WeightMask& mask) {
  for (std::size_t tensor = 0; tensor < mask.tensors.size(); ++tensor) {
    const std::vector<std::uint8_t>& kept = mask.tensors[tensor].kept;
    for (std::size_t place = 0; place < kept.size(); ++place) {
      std::uint8_t& used = used_[masked.tensors[tensor].offset + place];
      used = used != 0 || kept[place] != 0 ? 1 : 0;
    }
  }
}

void KeptByEarlier::forget_first_layer(const engine::Layout& layout) {
  const engine::Tensor& bias = layout.tensors[1];
  std::fill_n(used_.begin(), bias.offset + bias.count, std::uint8_t{0});
}

std::vector<float> KeptByEarlier::restored(std::span<const float> old, std::vector<float> fresh) const {
  for (std::size_t place = 0; place < old.size(); ++place) {
    if (used_[place] != 0) {
      fresh[place] = old[place];
    }
  }
  return fresh;
}

std::vector<float> KeptByEarlier::initial_logits(double of_used, double of_new) const {
  std::vector<float> logits;
  logits.reserve(used_.size());
  for (const std::uint8_t used : used_) {
    logits.push_back(static_cast<float>(used != 0 ? of_used : of_new));
  }
  return logits;
}

models::WeightMask KeptByEarlier::as_mask(const MaskedParameters& masked) const {
  models::WeightMask mask;
  for (const MaskedTensor& tensor : masked.tensors) {
    const auto begin = used_.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
    mask.tensors.push_back({.name = tensor.name,
                            .shape = {tensor.shape.begin(), tensor.shape.end()},
                            .kept = {begin, begin + static_cast<std::ptrdiff_t>(tensor.count)}});
  }
  return mask;
}

std::int64_t all_steps(const ImageMaskingSpec& spec) {
  return static_cast<std::int64_t>(spec.tasks) * (spec.steps + spec.mask.steps);
}

std::int64_t all_tests(const ImageMaskingSpec& spec, const tasks::PermutedImages& images) {
  // A task's mask and its inverse are tested on it and those before it, and the whole network on it alone.
  const auto tasks = static_cast<std::int64_t>(spec.tasks);
  return (tasks * (tasks + 1) + tasks) * std::ssize(images.test);
}

std::optional<MaskedImages> mask_images(const ImageMaskingSpec& spec, const tasks::PermutedImages& images, int threads,
                                        const engine::Kernels<float>& kernels, DigitProgress& progress,
                                        const io::Unfinished& unfinished) {
  const engine::FlushDenormals flush;
  return ImagesMasker(spec, images, threads, kernels, progress, unfinished).run();
}

ImageStepSeconds image_step_seconds(const ImageMaskingSpec& spec, const tasks::PermutedImages& images,
                                    const engine::Kernels<float>& kernels) {
  constexpr int kTries = 2;
  const engine::FlushDenormals flush;
  Team team(1);
  const auto network = models::make_digit_network<float>(image_shape(spec, images.data->train.pixel_count()),
                                                         engine::solo::masked_kernels_for(kernels.target), team);
  network->load(models::initial_task_parameters(network->shape(), spec.seed, 0));
  const std::vector<std::uint32_t> order = tasks::pixel_order(images.data->train.pixel_count(), 1);
  const DrawnRows drawn(spec.seed, kWeightStage, images.train.size());
  const auto fastest = [&](int rows, const auto& work) {
    double best = 1e9;
    for (int attempt = 0; attempt <= kTries; ++attempt) {
      const std::vector<std::uint32_t> numbers = draw_images(images, drawn, 0, rows);
      const double begin = thread_seconds();
      work(models::pixel_batch(images, order, numbers));
      best = std::min(best, thread_seconds() - begin);
    }
    return best;
  };
  DigitWeightTrainer weights(*network, {.lr = spec.lr}, team, kernels);
  DigitMaskTrainer mask(*network, masked_tensors(network->layout(), masked_parameters(network->layout(), spec.mask)),
                        std::vector<float>(network->layout().count, 2.0F), joint_training(spec, 0), team, kernels);
  const int rows = spec.mask.batch_size;
  ImageStepSeconds seconds;
  seconds.test = fastest(static_cast<int>(kTestImages), [&](const auto& batch) { network->evaluate(batch); }) /
                 static_cast<double>(kTestImages);
  seconds.weights = fastest(rows, [&](const auto& batch) { weights.step({&batch, 1}); });
  seconds.mask = fastest(rows, [&](const auto& batch) { mask.step({&batch, 1}); });
  return seconds;
}

}  // namespace modlab::methods
