#include "engine/solo/train_solo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/random.h"
#include "engine/epoch_order.h"
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
              const BlockSettings& settings, const LaneSettings& lane, Progress& progress)
      : lane_kernels_(kernels),
        kernels_(kernels_for(kernels.target)),
        network_(network),
        data_(data),
        settings_(settings),
        lane_(lane),
        progress_(progress),
        outputs_(data.outputs),
        optimizer_(kernels, network.parameters(), network.layout(), settings.optimizer, lane),
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

  std::vector<LaneResult> run() {
    std::vector<LaneResult> results(1);
    LaneResult& result = results.front();
    AlignedVector<float> best;
    std::optional<std::uint32_t> best_validation;
    int curve_epoch = 1;  // the next one that the curve keeps
    for (int epoch = 1; epoch <= settings_.epochs; ++epoch) {
      const double factor = schedule_factor(lane_.schedule, lane_.gamma, epoch, settings_.epochs);
      Scores scores;
      train_epoch(factor, scores.parts[static_cast<std::size_t>(Part::kTrain)]);
      const bool evaluates = epoch % settings_.evaluate_every == 0 || epoch == settings_.epochs;
      if (evaluates) {
        evaluate(scores);
      }
      if (is_stopped()) {
        return {};  // the epoch may have been cut short
      }
      if (evaluates) {
        if (epoch >= curve_epoch || epoch == settings_.epochs) {
          result.curve.push_back(scores);
          curve_epoch = next_curve_epoch(epoch);
        }
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
      progress_.epochs_done.fetch_add(1, std::memory_order_relaxed);
    }
    result.best.parameters = canonical(network_.parameters().in_order(best));
    result.last.parameters = canonical(network_.parameters().save());
    return results;
  }

 private:
  const SampleList& train() const { return data_[Part::kTrain]; }
  // Asked before every chunk of rows, since an epoch may take minutes. Once it is true it stays so.
  bool is_stopped() const { return progress_.stop.load(std::memory_order_relaxed); }

  static std::vector<float> canonical(std::vector<float> numbers) {
    std::ranges::replace_if(
        numbers, [](float number) { return std::isnan(number); }, std::numeric_limits<float>::quiet_NaN());
    return numbers;
  }

  // One batch an epoch needs no order: its sums do not ask.
  void shuffle() {
    if (settings_.batch_size < train().count()) {
      shuffle_order(order_, order_random_);
    }
  }

  void train_epoch(double rate_factor, PartScore& score) {
    shuffle();
    Sums sums;
    const int count = train().count();
    for (int first = 0; first < count && !is_stopped(); first += settings_.batch_size) {
      step(first, std::min(settings_.batch_size, count - first), rate_factor, sums);
    }
    score = sums.score(count, data_.outputs);
  }

  void step(int first, int batch_rows, double rate_factor, Sums& sums) {
    draw_noise();
    step_.late = batch_rows <= kChunkRows;
    network_.begin_step(step_);
    for (int done = 0; done < batch_rows && !(done > 0 && is_stopped()); done += kChunkRows) {
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
          evaluate_samples(network_, kernels_, data_, data_[part], settings_.loss, nullptr, &progress_.stop);
    }
  }

  const engine::Kernels<float>& lane_kernels_;
  const Kernels<float>& kernels_;
  Network<float>& network_;
  const Data& data_;
  const BlockSettings& settings_;
  const LaneSettings& lane_;
  Progress& progress_;
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
                           const SampleList& samples, LossKind loss, std::vector<std::uint8_t>* right,
                           const std::atomic<bool>* stop) {
  Outputs outputs(data.outputs);
  Sums sums;
  if (right != nullptr) {
    right->resize(static_cast<std::size_t>(samples.count()));
  }
  const auto is_stopped = [&] { return stop != nullptr && stop->load(std::memory_order_relaxed); };
  for (int first = 0; first < samples.count() && !is_stopped(); first += kChunkRows) {
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
  return SoloTrainer(kernels, network, data, settings, lane, progress).run();
}

}  // namespace modlab::engine::solo
