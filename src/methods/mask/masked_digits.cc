#include "methods/mask/masked_digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "core/thread_seconds.h"
#include "engine/flush_denormals.h"
#include "methods/mask/derived_masks.h"
#include "methods/mask/digit_mask_by_sample.h"
#include "methods/mask/digit_training.h"
#include "methods/mask/drawn_rows.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/masked_bits.h"
#include "methods/mask/stage_numbers.h"

namespace modlab::methods {
namespace {

using models::DigitBatch;
using models::kAllTargets;
using tasks::ArithmeticSample;

using Samples = std::vector<ArithmeticSample>;

// The published set, or those of it that ask for a target. Drawn once, and shared by all who learn from it.
std::shared_ptr<const Samples> training_samples(const models::DigitTask& task, int target) {
  static std::mutex mutex;
  static std::map<std::tuple<tasks::Arithmetic, int, int>, std::shared_ptr<const Samples>> kept;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Samples>& samples = kept[{task.kind, task.digits, target}];
  if (samples == nullptr) {
    Samples drawn =
        tasks::draw_arithmetic(task.kind, task.digits, tasks::kArithmeticTrainSeed, tasks::kArithmeticTrainSamples);
    if (target != kAllTargets) {
      std::erase_if(drawn, [&](const ArithmeticSample& sample) { return !asks_for(task, sample, target); });
    }
    samples = std::make_shared<const Samples>(std::move(drawn));
  }
  return samples;
}

// Samples that are learned from, drawn uniformly with replacement.
class TrainingRows {
 public:
  TrainingRows(const DigitMaskingSpec& spec, int target, std::uint32_t stage)
      : samples_(training_samples(spec.task, target)), rows_(spec.seed, stage, samples_->size()) {}

  std::vector<ArithmeticSample> draw(std::uint32_t step, int rows) const {
    std::vector<ArithmeticSample> drawn;
    for (const std::uint32_t row : rows_.draw(step, rows)) {
      drawn.push_back((*samples_)[row]);
    }
    return drawn;
  }

 private:
  std::shared_ptr<const Samples> samples_;
  DrawnRows rows_;
};

DigitMaskTraining training_of_bits(const DigitMaskingSpec& spec, std::uint32_t stage, double beta) {
  return {.samples = spec.mask.samples,
          .lr = spec.mask.lr,
          .alpha = beta / spec.mask.batch_size,
          .of_count = spec.mask.penalty == MaskPenaltyKind::kCount,
          .clip = spec.mask.clip,
          .tau = spec.mask.tau,
          .sampler = spec.mask.sampler,
          .clip_what = spec.mask.clip_of,
          .active = spec.mask.active,
          .seed = spec.seed,
          .stage = stage};
}

FlatMaskTraining by_sample_training(const DigitMaskingSpec& spec, std::uint32_t stage, double beta) {
  return {.spec = spec.mask, .beta = beta, .seed = spec.seed, .stage = stage};
}

// What a network said of the samples it is tested on.
struct Answers {
  std::vector<double> accuracy;                // of each target
  double everything = 0;                       // all answers of a sample right
  std::vector<std::vector<double>> confusion;  // of sums and products
};

class DigitsMasker {
 public:
  DigitsMasker(const DigitMaskingSpec& spec, int threads, const engine::Kernels<float>& kernels,
               DigitProgress& progress, const io::Unfinished& unfinished)
      : spec_(spec),
        kernels_(kernels),
        progress_(progress),
        unfinished_(unfinished),
        team_(threads),
        network_(models::make_digit_network<float>(digit_shape(spec), engine::solo::masked_kernels_for(kernels.target),
                                                   team_)),
        masked_(masked_parameters(network_->layout(), spec.mask)),
        is_masked_(masked_tensors(network_->layout(), masked_)),
        tests_(tasks::draw_arithmetic(spec.task.kind, spec.task.digits, tasks::kArithmeticTestSeed,
                                      tasks::kArithmeticTestSamples)) {
    outcome_.targets = tasks::arithmetic_targets(spec.task.kind);
  }

  std::optional<MaskedDigits> run() {
    initial_ = models::initial_digit_parameters(digit_shape(spec_), spec_.seed);
    network_->load(initial_);
    if (!train_weights()) {
      return std::nullopt;
    }
    weights_ = network_->save();
    if (spec_.copy_weights) {
      copy_second_pair(weights_);
    }
    const Answers unmasked = answers(weights_);
    outcome_.unmasked = unmasked.accuracy;
    if (!find_beta(unmasked.everything)) {
      return std::nullopt;
    }
    for (int target = kAllTargets; target < 2; ++target) {
      if (!train_stage(target)) {
        return std::nullopt;
      }
    }
    if (spec_.controls && !train_controls()) {
      return std::nullopt;
    }
    MaskedDigits result;
    result.everything = unmasked.everything;
    result.halves = half_masks();
    result.weights = std::move(weights_);
    result.outcome = std::move(outcome_);
    return result;
  }

 private:
  bool goes_on() {
    progress_.steps.fetch_add(1, std::memory_order_relaxed);
    return !progress_.stop.load(std::memory_order_relaxed);
  }

  bool train_weights() {
    constexpr auto kPart = "weights";
    if (const auto known = unfinished_.find(kPart, network_->layout().count)) {
      network_->load(*known);
      progress_.found.fetch_add(spec_.steps, std::memory_order_relaxed);
      return true;
    }
    const TrainingRows rows(spec_, kAllTargets, kWeightStage);
    DigitWeightTrainer trainer(*network_, {.lr = spec_.lr, .clip = spec_.clip}, team_, kernels_);
    for (int step = 0; step < spec_.steps; ++step) {
      trainer.step(digit_passes(spec_.task, rows.draw(static_cast<std::uint32_t>(step), spec_.batch_size),
                                step < spec_.delay ? 0 : kAllTargets, false));
      if (!goes_on()) {
        return false;
      }
    }
    unfinished_.keep(kPart, network_->save());
    return true;
  }

  // Input columns and output rows (and biases) of the first sum become those of the second.
  void copy_second_pair(std::vector<float>& weights) const {
    const std::vector<engine::Tensor>& tensors = network_->layout().tensors;
    const engine::Tensor& first = tensors.front();
    const auto inputs = static_cast<std::size_t>(first.shape[1]);
    for (std::size_t row = 0; row < static_cast<std::size_t>(first.shape[0]); ++row) {
      float* columns = weights.data() + first.offset + row * inputs;
      std::copy_n(columns + inputs / 2, inputs / 2, columns);
    }
    for (std::size_t tensor = tensors.size() - 2; tensor < tensors.size(); ++tensor) {
      float* rows = weights.data() + tensors[tensor].offset;
      std::copy_n(rows + tensors[tensor].count / 2, tensors[tensor].count / 2, rows);
    }
  }

  // The logits of a mask; nothing if it was asked to stop.
  std::optional<std::vector<float>> train_mask(const std::vector<float>& weights, int target, std::uint32_t stage,
                                               double beta) {
    const std::string part = fmt::format("mask-{}", stage);
    if (auto known = unfinished_.find(part, static_cast<std::size_t>(masked_.logits)); known && find_left(stage)) {
      progress_.found.fetch_add(spec_.mask.steps, std::memory_order_relaxed);
      return known;
    }
    std::vector<float> logits;
    if (has_bits(spec_.mask)) {
      network_->load(weights);
      const std::vector<float> start(network_->layout().count, static_cast<float>(spec_.mask.init));
      DigitMaskTrainer trainer(*network_, is_masked_, start, training_of_bits(spec_, stage, beta), team_, kernels_, {},
                               left_);
      if (!take_mask_steps(trainer, target, stage)) {
        return std::nullopt;
      }
      logits = logits_of(masked_, trainer.logits());
      keep_left(stage, trainer.left());
    } else {
      DigitMaskBySample trainer(*network_, masked_, weights, by_sample_training(spec_, stage, beta), kernels_);
      if (!take_mask_steps(trainer, target, stage)) {
        return std::nullopt;
      }
      logits = trainer.logits();
    }
    unfinished_.keep(part, logits);
    return logits;
  }

  template <typename Trainer>
  bool take_mask_steps(Trainer& trainer, int target, std::uint32_t stage) {
    const TrainingRows rows(spec_, target, stage);
    for (int step = 0; step < spec_.mask.steps; ++step) {
      trainer.step(
          digit_passes(spec_.task, rows.draw(static_cast<std::uint32_t>(step), spec_.mask.batch_size), target, true));
      if (!goes_on()) {
        return false;
      }
    }
    return true;
  }

  // What masks leave for the published clipping of those after them is kept with each.
  void keep_left(std::uint32_t stage, LeftGradients left) {
    if (spec_.mask.clip_of != MaskClip::kPublished) {
      return;
    }
    left_ = std::move(left);
    std::vector<float> numbers(left_.of_weights.begin(), left_.of_weights.end());
    numbers.push_back(left_.squares_of_masks);
    unfinished_.keep(fmt::format("left-{}", stage), numbers);
  }

  // Whether it is known, or nothing is left.
  bool find_left(std::uint32_t stage) {
    if (spec_.mask.clip_of != MaskClip::kPublished) {
      return true;
    }
    const auto known = unfinished_.find(fmt::format("left-{}", stage), network_->panels().size() + 1);
    if (!known) {
      return false;
    }
    left_.of_weights.assign(known->begin(), known->end() - 1);
    left_.squares_of_masks = known->back();
    return true;
  }

  bool find_beta(double unmasked) {
    if (spec_.mask.beta) {
      outcome_.beta = *spec_.mask.beta;
      return true;
    }
    // Raised until too much is lost: larger ones need not be tried.
    std::uint32_t number = kBetaStages;
    for (const double beta : beta_candidates()) {
      const auto logits = train_mask(weights_, kAllTargets, number++, beta);
      if (!logits) {
        return false;
      }
      const models::WeightMask mask = kept_weights(masked_, *logits, weights_, "");
      const double accuracy = answers(masked_weights(masked_, mask, weights_)).everything;
      outcome_.beta_table.push_back({beta, kept_percent(mask), accuracy, 100 * ambiguous_share(*logits, {})});
      outcome_.beta = chosen_beta(outcome_.beta_table, unmasked);
      if (outcome_.beta != beta) {
        return true;
      }
    }
    return true;
  }

  bool train_stage(int target) {
    const auto logits = train_mask(weights_, target, static_cast<std::uint32_t>(target + 1), outcome_.beta);
    if (!logits) {
      return false;
    }
    MaskStage& stage = outcome_.stages.emplace_back();
    stage.name = target == kAllTargets ? "all" : outcome_.targets[static_cast<std::size_t>(target)];
    stage.mask = kept_weights(masked_, *logits, weights_, stage.name);
    stage.logits = *logits;
    stage.ambiguous = 100 * ambiguous_share(stage.logits, {});
    const Answers kept = answers(masked_weights(masked_, stage.mask, weights_));
    stage.accuracy = kept.accuracy;
    stage.confusion = kept.confusion;
    const models::WeightMask inverse = inverse_mask(stage.mask, outcome_.stages.front().mask, spec_.mask.inverse_io);
    const Answers left = answers(masked_weights(masked_, inverse, weights_));
    stage.inverse = left.accuracy;
    stage.inverse_confusion = left.confusion;
    const models::WeightMask between = inverse_mask(stage.mask, outcome_.stages.front().mask, InverseEnds::kFullMask);
    stage.hidden_inverse = answers(masked_weights(masked_, between, weights_)).accuracy;
    stage.live = live_weights(stage.mask, wanted_outputs(target)).value_or(std::vector<std::size_t>{});
    return true;
  }

  std::vector<std::uint8_t> wanted_outputs(int target) const {
    if (target == kAllTargets || spec_.task.kind == tasks::Arithmetic::kAddMul || spec_.task.shares_outputs()) {
      return {};
    }
    std::vector<std::uint8_t> wanted;
    for (int output = 0; output < spec_.task.outputs(); ++output) {
      wanted.push_back(output / (spec_.task.digits * models::kDigitClasses) == target ? 1 : 0);
    }
    return wanted;
  }

  bool train_controls() {
    for (int target = 0; target < 2; ++target) {
      MaskStage& stage = outcome_.stages[static_cast<std::size_t>(target) + 1];
      const auto number = static_cast<std::uint32_t>(target + 1);
      const auto again = train_mask(weights_, target, kAgainStages + number, outcome_.beta);
      const auto untrained =
          again ? train_mask(initial_, target, kUntrainedStages + number, outcome_.beta) : std::nullopt;
      if (!untrained) {
        return false;
      }
      const models::WeightMask other = kept_weights(masked_, *again, weights_, "");
      stage.again = measures::overlap_of(stage.mask, other);
      const models::WeightMask alone = kept_weights(masked_, *untrained, initial_, "");
      stage.untrained = answers(masked_weights(masked_, alone, initial_)).accuracy[static_cast<std::size_t>(target)];
    }
    return true;
  }

  // The first half of the tensors is rounded down where two sums are asked for, and up otherwise, as published.
  HalfMasks half_masks() {
    const models::WeightMask& full = outcome_.stages.front().mask;
    const bool rounds_up = spec_.task.kind == tasks::Arithmetic::kAddMul;
    const auto of = [&](const models::WeightMask& mask) {
      return answers(masked_weights(masked_, mask, weights_)).everything;
    };
    return {of(full), of(half_mask(full, true, rounds_up)), of(half_mask(full, false, rounds_up))};
  }

  // Of the samples that everyone is tested on.
  Answers answers(const std::vector<float>& weights) {
    network_->load(weights);
    const int groups = spec_.task.groups();
    // [sample][answer]: the number that is said.
    std::vector<int> said(tests_.size() * static_cast<std::size_t>(spec_.task.answers()));
    for (const DigitBatch& batch : digit_passes(spec_.task, tests_, kAllTargets, false)) {
      const float* logits = network_->evaluate(batch);
      for (std::size_t row = 0; row < tests_.size(); ++row) {
        for (int group = 0; group < groups; ++group) {
          if (batch.counts[static_cast<std::size_t>(group)] == 0) {
            continue;
          }
          const float* classes = logits + (row * static_cast<std::size_t>(groups) + group) * models::kDigitClasses;
          const auto digit = static_cast<int>(std::max_element(classes, classes + models::kDigitClasses) - classes);
          int& number = said[row * static_cast<std::size_t>(spec_.task.answers()) + group / spec_.task.digits];
          int power = 1;
          for (int place = 0; place < group % spec_.task.digits; ++place) {
            power *= 10;
          }
          number += digit * power;
        }
      }
    }
    return judged(said);
  }

  Answers judged(const std::vector<int>& said) const {
    const bool is_double = spec_.task.kind == tasks::Arithmetic::kDoubleAddition;
    std::vector<double> right(2);
    std::vector<double> asked(2);
    std::vector<std::vector<double>> confusion(2, std::vector<double>(3));
    double everything = 0;
    for (std::size_t row = 0; row < tests_.size(); ++row) {
      const ArithmeticSample& sample = tests_[row];
      bool all = true;
      for (int answer = 0; answer < spec_.task.answers(); ++answer) {
        const std::size_t target = is_double ? static_cast<std::size_t>(answer) : sample.operation;
        const int number =
            said[row * static_cast<std::size_t>(spec_.task.answers()) + static_cast<std::size_t>(answer)];
        const bool is_right = number == right_answer(spec_.task, sample, answer);
        asked[target] += 1;
        right[target] += is_right ? 1 : 0;
        all = all && is_right;
        if (!is_double) {
          bool any = false;
          for (int operation = 0; operation < 2; ++operation) {
            const bool matches =
                number == tasks::arithmetic_result(sample.numbers[0], sample.numbers[1], operation, spec_.task.digits);
            confusion[target][static_cast<std::size_t>(operation)] += matches ? 1 : 0;
            any = any || matches;
          }
          confusion[target][2] += any ? 0 : 1;
        }
      }
      everything += all ? 1 : 0;
    }
    Answers found;
    found.everything = 100 * everything / static_cast<double>(tests_.size());
    for (std::size_t target = 0; target < 2; ++target) {
      found.accuracy.push_back(100 * right[target] / asked[target]);
    }
    if (!is_double) {
      // An answer that both operations give counts for both, so that a row is normalised by its own sum.
      for (std::vector<double>& row : confusion) {
        const double sum = row[0] + row[1] + row[2];
        for (double& share : row) {
          share *= 100 / sum;
        }
      }
      found.confusion = std::move(confusion);
    }
    return found;
  }

  const DigitMaskingSpec& spec_;
  const engine::Kernels<float>& kernels_;
  DigitProgress& progress_;
  const io::Unfinished& unfinished_;
  Team team_;
  std::unique_ptr<models::DigitNetwork> network_;
  MaskedParameters masked_;
  std::vector<std::uint8_t> is_masked_;  // [tensor]
  std::vector<ArithmeticSample> tests_;
  std::vector<float> initial_, weights_;
  LeftGradients left_;  // by all masks so far
  MaskOutcome outcome_;
};

}  // namespace

models::DigitShape digit_shape(const DigitMaskingSpec& spec) {
  return {.kind = spec.task.network,
          .inputs = spec.task.inputs(),
          .outputs = spec.task.outputs(),
          .hidden = spec.hidden,
          .state = spec.state,
          .layers = spec.layers};
}

std::int64_t all_steps(const DigitMaskingSpec& spec) {
  const std::int64_t betas = spec.mask.beta ? 0 : std::ssize(beta_candidates());
  return spec.steps + (betas + 3 + (spec.controls ? 4 : 0)) * static_cast<std::int64_t>(spec.mask.steps);
}

std::optional<MaskedDigits> mask_digits(const DigitMaskingSpec& spec, int threads,
                                        const engine::Kernels<float>& kernels, DigitProgress& progress,
                                        const io::Unfinished& unfinished) {
  const engine::FlushDenormals flush;
  return DigitsMasker(spec, threads, kernels, progress, unfinished).run();
}

DigitStepSeconds digit_step_seconds(const DigitMaskingSpec& spec, const engine::Kernels<float>& kernels) {
  constexpr std::uint32_t kTries = 2;
  const engine::FlushDenormals flush;
  Team team(1);
  const auto network =
      models::make_digit_network<float>(digit_shape(spec), engine::solo::masked_kernels_for(kernels.target), team);
  network->load(models::initial_digit_parameters(digit_shape(spec), spec.seed));
  const auto samples = tasks::draw_arithmetic(
      spec.task.kind, spec.task.digits, 0, static_cast<std::size_t>(std::max(spec.batch_size, spec.mask.batch_size)));
  const auto time_steps = [&](auto& trainer, int rows) {
    double best = 1e9;
    for (std::uint32_t attempt = 0; attempt <= kTries; ++attempt) {
      const double begin = thread_seconds();
      trainer.step(
          digit_passes(spec.task, std::span(samples).first(static_cast<std::size_t>(rows)), kAllTargets, false));
      best = std::min(best, thread_seconds() - begin);
    }
    return best;
  };
  DigitWeightTrainer weights(*network, {}, team, kernels);
  DigitStepSeconds seconds;
  seconds.weights = time_steps(weights, spec.batch_size);
  const MaskedParameters masked = masked_parameters(network->layout(), spec.mask);
  const double beta = spec.mask.beta.value_or(beta_candidates().front());
  if (has_bits(spec.mask)) {
    const std::vector<float> start(network->layout().count, static_cast<float>(spec.mask.init));
    DigitMaskTrainer mask(*network, masked_tensors(network->layout(), masked), start, training_of_bits(spec, 0, beta),
                          team, kernels);
    seconds.mask = time_steps(mask, spec.mask.batch_size);
  } else {
    DigitMaskBySample mask(*network, masked, network->save(), by_sample_training(spec, 0, beta), kernels);
    seconds.mask = time_steps(mask, spec.mask.batch_size);
  }
  return seconds;
}

}  // namespace modlab::methods
