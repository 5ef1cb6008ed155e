#include "methods/torch/torch_masking.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/flush_denormals.h"
#include "methods/mask/derived_masks.h"
#include "methods/mask/drawn_rows.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/masked_bits.h"
#include "methods/mask/stage_numbers.h"
#include "methods/torch/checkpoint_clock.h"
#include "methods/torch/flat_mask_trainer.h"

namespace modlab::methods {
namespace {

class TorchMasker {
 public:
  TorchMasker(models::TorchNetwork& network, std::span<const float> weights, const TorchMasking& masking,
              const engine::Kernels<float>& kernels, DigitProgress& progress, const io::Unfinished& unfinished)
      : network_(network),
        weights_(weights),
        masking_(masking),
        kernels_(engine::solo::masked_kernels_for(kernels.target)),
        progress_(progress),
        unfinished_(unfinished),
        masked_(masked_parameters(network.layout(), masking.spec)) {
    for (const TorchTarget& target : masking.targets) {
      outcome_.targets.push_back(target.name);
    }
    outcome_.other_tests = masking.other_tests;
    outcome_.idle_logits = idle_logits(masked_, weights_);
  }

  std::optional<MaskOutcome> run() {
    const TorchJudgement unmasked = judged({weights_.begin(), weights_.end()});
    outcome_.unmasked = unmasked.accuracy;
    outcome_.unmasked_classes = unmasked.classes;
    outcome_.unmasked_other = unmasked.other;
    if (!masking_.masks) {
      outcome_.has_control = false;
      return std::move(outcome_);
    }
    if (!find_beta(unmasked.everything) || !train_stage(masking_.whole, 0)) {
      return std::nullopt;
    }
    for (std::uint32_t target = 0; target < masking_.targets.size(); ++target) {
      if (!train_stage(masking_.targets[target], target + 1)) {
        return std::nullopt;
      }
    }
    for (std::uint32_t target = 0; masking_.controls && target < masking_.targets.size(); ++target) {
      const auto again = train_mask(masking_.targets[target], kAgainStages + target + 1, outcome_.beta);
      if (!again) {
        return std::nullopt;
      }
      MaskStage& stage = outcome_.stages[target + 1];
      stage.again = measures::overlap_of(stage.mask, kept_weights(masked_, *again, weights_, ""));
    }
    return std::move(outcome_);
  }

 private:
  TorchJudgement judged(const std::vector<float>& weights) {
    return masking_.judge(network_.say(weights, masking_.tests));
  }

  // The logits of a mask; nothing if it was asked to stop.
  std::optional<std::vector<float>> train_mask(const TorchTarget& target, std::uint32_t stage, double beta) {
    const std::string part = fmt::format("mask-{}", stage);
    const std::string begun = fmt::format("begun-{}", stage);
    if (auto known = unfinished_.find(part, static_cast<std::size_t>(masked_.logits))) {
      progress_.found.fetch_add(masking_.spec.steps, std::memory_order_relaxed);
      return known;
    }
    FlatMaskTrainer trainer(
        network_, masked_, weights_,
        std::vector<float>(static_cast<std::size_t>(masked_.logits), static_cast<float>(masking_.spec.init)),
        masking_.spec, beta, masking_.seed, stage, kernels_);
    FlatMask& mask = trainer.mask();
    for (const std::string& tensor : masking_.from_control) {
      if (!outcome_.stages.empty()) {
        mask.freeze(tensor, outcome_.stages.front().logits);
      }
    }
    if (const auto state = unfinished_.find(begun, FlatMask::state_size(network_.layout(), masked_))) {
      mask.restore(*state);
      progress_.found.fetch_add(mask.steps(), std::memory_order_relaxed);
    }
    const DrawnRows rows(masking_.seed, stage, target.rows.size());
    CheckpointClock clock;
    while (mask.steps() < static_cast<std::uint32_t>(masking_.spec.steps)) {
      std::vector<std::uint32_t> drawn = rows.draw(mask.steps(), masking_.spec.batch_size);
      for (std::uint32_t& row : drawn) {
        row = target.rows[row];
      }
      trainer.step(drawn, target.outputs);
      progress_.steps.fetch_add(1, std::memory_order_relaxed);
      const bool stops = progress_.stop.load(std::memory_order_relaxed);
      if (stops || clock.is_time()) {
        unfinished_.keep(begun, mask.state());
      }
      if (stops) {
        return std::nullopt;
      }
    }
    std::vector<float> logits = mask.logits();
    unfinished_.keep(part, logits);
    return logits;
  }

  bool find_beta(double unmasked) {
    if (masking_.spec.beta) {
      outcome_.beta = *masking_.spec.beta;
      return true;
    }
    // Raised until too much is lost: larger ones need not be tried.
    std::uint32_t number = kBetaStages;
    for (const double beta : beta_candidates()) {
      const auto logits = train_mask(masking_.whole, number++, beta);
      if (!logits) {
        return false;
      }
      const models::WeightMask mask = kept_weights(masked_, *logits, weights_, "");
      outcome_.beta_table.push_back({beta, kept_percent(mask),
                                     judged(masked_weights(masked_, mask, weights_)).everything,
                                     100 * ambiguous_share(*logits, outcome_.idle_logits)});
      outcome_.beta = chosen_beta(outcome_.beta_table, unmasked);
      if (outcome_.beta != beta) {
        return true;
      }
    }
    return true;
  }

  bool train_stage(const TorchTarget& target, std::uint32_t number) {
    const auto logits = train_mask(target, number, outcome_.beta);
    if (!logits) {
      return false;
    }
    MaskStage& stage = outcome_.stages.emplace_back();
    stage.name = target.name;
    stage.logits = *logits;
    stage.mask = kept_weights(masked_, *logits, weights_, stage.name);
    stage.ambiguous = 100 * ambiguous_share(stage.logits, outcome_.idle_logits);
    const TorchJudgement kept = judged(masked_weights(masked_, stage.mask, weights_));
    stage.accuracy = kept.accuracy;
    stage.class_confusion = kept.classes;
    stage.other = kept.other;
    const models::WeightMask inverse = inverse_mask(stage.mask, outcome_.stages.front().mask, masking_.spec.inverse_io);
    const TorchJudgement left = judged(masked_weights(masked_, inverse, weights_));
    stage.inverse = left.accuracy;
    stage.live = live_weights(stage.mask, target.outputs).value_or(std::vector<std::size_t>{});
    return true;
  }

  models::TorchNetwork& network_;
  std::span<const float> weights_;
  const TorchMasking& masking_;
  const engine::solo::MaskedKernels<float>& kernels_;
  DigitProgress& progress_;
  const io::Unfinished& unfinished_;
  MaskedParameters masked_;
  MaskOutcome outcome_;
};

}  // namespace

std::int64_t all_steps(const TorchMasking& masking) {
  if (!masking.masks) {
    return 0;
  }
  const std::int64_t betas = masking.spec.beta ? 0 : std::ssize(beta_candidates());
  const std::int64_t targets = std::ssize(masking.targets);
  return (betas + 1 + targets * (masking.controls ? 2 : 1)) * masking.spec.steps;
}

std::optional<MaskOutcome> mask_on_torch(models::TorchNetwork& network, std::span<const float> weights,
                                         const TorchMasking& masking, const engine::Kernels<float>& kernels,
                                         DigitProgress& progress, const io::Unfinished& unfinished) {
  const engine::FlushDenormals flush;
  return TorchMasker(network, weights, masking, kernels, progress, unfinished).run();
}

}  // namespace modlab::methods
