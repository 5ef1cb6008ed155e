#include "engine/solo/train_solo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/random.h"
#include "engine/flush_denormals.h"
#include "engine/solo/optimizer.h"

namespace modlab::engine::solo {
namespace {

// Sums of an evaluation.
struct Sums {
  double loss = 0;
  std::uint32_t bits = 0;
  std::uint32_t rows = 0;

  PartScore score(int samples, int outputs) const {
    const double mean = samples == 0 ? 0 : loss / (static_cast<double>(samples) * outputs);
    // Which of the many not-a-numbers comes out of a diverged network depends on the target.
    return {std::isnan(mean) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(mean), bits, rows};
  }
};

// Targets, losses and gradients of a chunk: [output][row].
class Outputs {
 public:
  explicit Outputs(int outputs)
      : outputs_(outputs),
        targets_(static_cast<std::size_t>(outputs) * kChunkRows),
        losses_(targets_.size()),
        gradients_(targets_.size()) {}

  // Adds to the sums; gradients only if `scale` is not zero. `right`, if given, takes each row's count of right bits.
  void compare(const Kernels<float>& kernels, Logits<float> logits, const std::uint32_t* targets, int rows,
               LossKind kind, float scale, Sums& sums, std::uint8_t* right) {
    for (int output = 0; output < outputs_; ++output) {
      float* wanted = targets_.data() + static_cast<std::size_t>(output) * kChunkRows;
      for (int row = 0; row < rows; ++row) {
        wanted[row] = ((targets[row] >> output) & 1U) != 0 ? 1.0F : 0.0F;
      }
      std::fill(wanted + rows, wanted + padded(rows), 0.0F);
      kernels.output_loss(
          {.z = logits.values + static_cast<std::size_t>(output) * logits.stride,
           .targets = wanted,
           .d = scale != 0 ? gradients_.data() + static_cast<std::size_t>(output) * kChunkRows : nullptr,
           .loss = losses_.data() + static_cast<std::size_t>(output) * kChunkRows,
           .scale = scale,
           .kind = kind,
           .count = padded(rows)});
    }
    for (int row = 0; row < rows; ++row) {
      std::uint32_t says = 0;
      for (int output = 0; output < outputs_; ++output) {
        sums.loss += losses_[static_cast<std::size_t>(output) * kChunkRows + row];
        // Predicted 1 means p > 0.5, that is z > 0: a network that says exactly 0.5 says 0.
        const bool is_one = logits.values[static_cast<std::size_t>(output) * logits.stride + row] > 0;
        says |= static_cast<std::uint32_t>(is_one) << output;
      }
      const int bits = outputs_ - std::popcount(says ^ targets[row]);
      sums.bits += static_cast<std::uint32_t>(bits);
      sums.rows += bits == outputs_ ? 1 : 0;
      if (right != nullptr) {
        right[row] = static_cast<std::uint8_t>(bits);
      }
    }
  }
  const float* gradients() const { return gradients_.data(); }

 private:
  int outputs_;
  AlignedVector<float> targets_, losses_, gradients_;
};

class SoloTrainer {
 public:
  SoloTrainer(const engine::Kernels<float>& kernels, Network<float>& network, const Data& data,
              const BlockSettings& settings, const LaneSettings& lane)
      : lane_kernels_(kernels),
        kernels_(kernels_for(kernels.target)),
        network_(network),
        data_(data),
        settings_(settings),
        lane_(lane),
        outputs_(data.outputs),
        optimizer_(kernels, network, settings.optimizer, lane),
        order_random_(lane.seed, Stream::kBatchOrder) {
    network.parameters().load(lane.initial);
    std::ranges::fill(network.parameters().all_gradients(), 0.0F);
    order_.resize(static_cast<std::size_t>(train().count()));
    std::iota(order_.begin(), order_.end(), 0U);
    step_.inverse_tau = static_cast<float>(lane.inverse_tau);
    if (settings.gumbel != Gumbel::kOff && network.layout().structural_count > 0) {
      noise_.resize(network.layout().structural_count);
      gumbel_.resize(noise_.size() * kernels.lanes);
      const Words4 key = stream_key(lane.seed, Stream::kGumbel);
      for (const std::uint32_t word : key) {
        gumbel_keys_.insert(gumbel_keys_.end(), static_cast<std::size_t>(kernels.lanes), word);
      }
      step_.noise = noise_.data();
    }
  }

  std::vector<LaneResult> run(Progress& progress) {
    std::vector<LaneResult> results(1);
    LaneResult& result = results.front();
    AlignedVector<float> best;
    std::optional<std::uint32_t> best_validation;
    for (int epoch = 1; epoch <= settings_.epochs; ++epoch) {
      const double factor = schedule_factor(lane_.schedule, lane_.gamma, epoch, settings_.epochs);
      Scores scores;
      if (!train_epoch(factor, progress, scores.parts[static_cast<std::size_t>(Part::kTrain)])) {
        return {};
      }
      const bool evaluates = epoch % settings_.evaluate_every == 0 || epoch == settings_.epochs;
      if (evaluates) {
        evaluate(scores);
        result.curve.push_back(scores);
        result.diverged = result.diverged || !std::isfinite(scores[Part::kTrain].loss);
        if (!best_validation || scores[Part::kValidation].right_bits > *best_validation) {
          best_validation = scores[Part::kValidation].right_bits;
          result.best.epoch = epoch;
          result.best.scores = scores;
          best = network_.parameters().all_values();
        }
        result.last.epoch = epoch;
        result.last.scores = scores;
      }
      progress.epochs_done.fetch_add(1, std::memory_order_relaxed);
    }
    result.best.parameters = canonical(network_.parameters().in_order(best));
    result.last.parameters = canonical(network_.parameters().save());
    return results;
  }

 private:
  const SampleList& train() const { return data_[Part::kTrain]; }

  static std::vector<float> canonical(std::vector<float> numbers) {
    std::ranges::replace_if(
        numbers, [](float number) { return std::isnan(number); }, std::numeric_limits<float>::quiet_NaN());
    return numbers;
  }

  // A uniform shuffle (Fisher and Yates). One batch an epoch needs none: its sums do not ask.
  void shuffle() {
    for (std::size_t left = order_.size(); left > 1 && settings_.batch_size < train().count(); --left) {
      const std::uint64_t scaled = static_cast<std::uint64_t>(order_random_.next_word()) * left;
      std::swap(order_[left - 1], order_[scaled >> 32]);
    }
  }

  // False if it was asked to stop.
  bool train_epoch(double rate_factor, Progress& progress, PartScore& score) {
    shuffle();
    Sums sums;
    const int count = train().count();
    for (int first = 0; first < count; first += settings_.batch_size) {
      if (progress.stop.load(std::memory_order_relaxed)) {
        return false;
      }
      step(first, std::min(settings_.batch_size, count - first), rate_factor, sums);
    }
    score = sums.score(count, data_.outputs);
    return true;
  }

  void step(int first, int batch_rows, double rate_factor, Sums& sums) {
    draw_noise();
    step_.late = batch_rows <= kChunkRows;
    network_.begin_step(step_);
    for (int done = 0; done < batch_rows; done += kChunkRows) {
      const int rows = std::min(kChunkRows, batch_rows - done);
      for (int row = 0; row < rows; ++row) {
        const std::size_t sample = order_[first + done + row];
        targets_[row] = train().targets[sample];
        std::copy_n(train().numbers.begin() + static_cast<std::ptrdiff_t>(sample * data_.images), data_.images,
                    numbers_.begin() + static_cast<std::ptrdiff_t>(row) * data_.images);
      }
      const Samples samples{train().images, numbers_.data(), rows};
      const auto scale = static_cast<float>(1.0 / (static_cast<double>(batch_rows) * data_.outputs));
      outputs_.compare(kernels_, network_.forward(samples), targets_.data(), rows, settings_.loss, scale, sums,
                       nullptr);
      network_.backward(samples, outputs_.gradients());
    }
    network_.end_step(step_);
    optimizer_.update(rate_factor, step_.late ? network_.late_gradients() : std::vector<LateGradient<float>*>{});
    ++step_count_;
  }

  void draw_noise() {
    if (noise_.empty()) {
      return;
    }
    lane_kernels_.gumbel_noise({.draw = {gumbel_keys_.data(), static_cast<std::uint32_t>(step_count_), 0},
                                .out = gumbel_.data(),
                                .count = static_cast<int>(noise_.size())});
    for (std::size_t index = 0; index < noise_.size(); ++index) {
      noise_[index] = gumbel_[index * lane_kernels_.lanes];
    }
  }

  void evaluate(Scores& scores) {
    network_.begin_evaluation();
    for (const Part part : {Part::kValidation, Part::kTest, Part::kSeen}) {
      scores.parts[static_cast<std::size_t>(part)] =
          evaluate_samples(network_, kernels_, data_, data_[part], settings_.loss);
    }
  }

  const engine::Kernels<float>& lane_kernels_;
  const Kernels<float>& kernels_;
  Network<float>& network_;
  const Data& data_;
  const BlockSettings& settings_;
  const LaneSettings& lane_;
  Outputs outputs_;
  Optimizer optimizer_;
  RandomSequence order_random_;
  std::vector<std::uint32_t> order_;
  std::array<std::uint32_t, kChunkRows> targets_{};
  std::vector<std::uint32_t> numbers_ = std::vector<std::uint32_t>(static_cast<std::size_t>(kChunkRows) * data_.images);
  int step_count_ = 0;
  Step<float> step_;
  std::vector<float> noise_;
  AlignedVector<float> gumbel_;
  std::vector<std::uint32_t> gumbel_keys_;
};

}  // namespace

PartScore evaluate_samples(Network<float>& network, const Kernels<float>& kernels, const Data& data,
                           const SampleList& samples, LossKind loss, std::vector<std::uint8_t>* right) {
  Outputs outputs(data.outputs);
  Sums sums;
  if (right != nullptr) {
    right->resize(static_cast<std::size_t>(samples.count()));
  }
  for (int first = 0; first < samples.count(); first += kChunkRows) {
    const int rows = std::min(kChunkRows, samples.count() - first);
    const Samples chunk{samples.images, samples.numbers.data() + static_cast<std::size_t>(first) * data.images, rows};
    outputs.compare(kernels, network.evaluate(chunk), samples.targets.data() + first, rows, loss, 0, sums,
                    right != nullptr ? right->data() + first : nullptr);
  }
  return sums.score(samples.count(), data.outputs);
}

std::vector<LaneResult> train_solo(const engine::Kernels<float>& kernels, Network<float>& network, const Data& data,
                                   const BlockSettings& settings, const LaneSettings& lane, Progress& progress) {
  const FlushDenormals flush;
  return SoloTrainer(kernels, network, data, settings, lane).run(progress);
}

}  // namespace modlab::engine::solo
