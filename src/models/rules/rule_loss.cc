#include "models/rules/rule_loss.h"

#include <cmath>

namespace modlab::models {

using engine::solo::padded;
using tasks::RuleOutput;

RuleLoss::RuleLoss(RuleOutput output, int outputs, const engine::solo::Kernels<float>& kernels)
    : output_(output), outputs_(outputs), kernels_(kernels) {}

RuleLoss::Sums RuleLoss::compare(const RuleBatch& batch, const float* said, float scale) {
  gradient_.assign(static_cast<std::size_t>(batch.rows()) * batch.outputs, 0.0F);
  return output_ == RuleOutput::kRegression ? absolute(batch, said, scale) : entropy(batch, said, scale);
}

RuleLoss::Sums RuleLoss::absolute(const RuleBatch& batch, const float* said, float scale) {
  Sums sums;
  for (int row = 0; row < batch.rows(); ++row) {
    for (int output = 0; output < outputs_; ++output) {
      const std::size_t place = static_cast<std::size_t>(row) * batch.outputs + output;
      const float error = said[place] - batch.targets[place];
      sums.loss += std::abs(error);
      gradient_[place] = error > 0 ? scale : error < 0 ? -scale : 0.0F;
    }
  }
  return sums;
}

// There is one output: the logit of a class.
RuleLoss::Sums RuleLoss::entropy(const RuleBatch& batch, const float* said, float scale) {
  const auto size = static_cast<std::size_t>(padded(batch.rows()));
  logits_.assign(size, 0.0F);
  targets_.assign(size, 0.0F);
  slopes_.resize(size);
  losses_.resize(size);
  for (int row = 0; row < batch.rows(); ++row) {
    const std::size_t place = static_cast<std::size_t>(row) * batch.outputs;
    logits_[static_cast<std::size_t>(row)] = said[place];
    targets_[static_cast<std::size_t>(row)] = batch.targets[place];
  }
  kernels_.output_loss({.z = logits_.data(),
                        .targets = targets_.data(),
                        .d = slopes_.data(),
                        .loss = losses_.data(),
                        .scale = scale,
                        .kind = engine::LossKind::kBce,
                        .count = static_cast<int>(size)});
  Sums sums;
  for (int row = 0; row < batch.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    sums.loss += losses_[at];
    sums.wrong += (logits_[at] >= 0) == (targets_[at] > 0) ? 0 : 1;
    gradient_[at * static_cast<std::size_t>(batch.outputs)] = slopes_[at];
  }
  return sums;
}

}  // namespace modlab::models
