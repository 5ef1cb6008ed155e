#pragma once

#include "models/rules/rule_samples.h"

namespace modlab::models {

// Losses of what a network says and their gradients: absolute errors of numbers, cross-entropy of classes.
class RuleLoss {
 public:
  RuleLoss(tasks::RuleOutput output, int outputs, const engine::solo::Kernels<float>& kernels);

  // Sums over all rows and outputs.
  struct Sums {
    double loss = 0;
    double wrong = 0;  // classes
  };
  // The gradient is that of `scale` times the sum.
  Sums compare(const RuleBatch& batch, const float* said, float scale);
  const float* gradient() const { return gradient_.data(); }

 private:
  Sums absolute(const RuleBatch& batch, const float* said, float scale);
  Sums entropy(const RuleBatch& batch, const float* said, float scale);

  tasks::RuleOutput output_;
  int outputs_;
  const engine::solo::Kernels<float>& kernels_;
  AlignedVector<float> gradient_, logits_, targets_, slopes_, losses_;
};

}  // namespace modlab::models
