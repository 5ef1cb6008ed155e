#pragma once

#include <vector>

#include "models/rules/rule_samples.h"
#include "models/rules/rule_spec.h"

namespace modlab::models {

inline constexpr int kEvaluationSamples = 256;  // of a batch that is not trained on

// The batches that a network is trained on: fresh samples in every step, or some of a set that is drawn once.
class TrainingSamples {
 public:
  TrainingSamples(const RuleSpec& spec, RuleSampler& sampler);

  void draw(int iteration, RuleBatch& batch);

 private:
  RuleDraw fresh(int iteration) const;
  void draw_set();
  void pick(int iteration, RuleBatch& batch) const;

  const RuleSpec& spec_;
  RuleSampler& sampler_;
  std::vector<double> frequencies_;  // of the rules; empty: all alike
  std::vector<RuleBatch> set_;       // of kEvaluationSamples each, as an evaluation draws them
};

}  // namespace modlab::models
