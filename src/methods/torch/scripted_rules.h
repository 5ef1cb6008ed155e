#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/flat_optimizer.h"
#include "models/rules/train_rules.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// Samples of rules as networks on libtorch take them, written over what is there: a sample is its numbers and then a 1
// in the place of the rule that it says it follows; of a sequence, that for each token.
void fill_rule_samples(const models::RuleBatch& batch, const tasks::RuleTaskSettings& task,
                       models::GivenSamples& samples);
// The shape of what a network says of one sample.
std::vector<std::size_t> rule_answer_shape(const tasks::RuleTaskSettings& task, int length);

// Someone's network on rule-based data: it learns and is judged as ours are. `source` is its file.
class ScriptedRules : public models::RuleLearner, private models::JudgedRuleNetwork<float> {
 public:
  // Begins with the parameters of the spec's seed. The network must outlive it.
  ScriptedRules(models::ScriptedNetwork& network, const models::RuleSpec& spec, std::string source);

  void step(const models::RuleBatch& batch) override;
  // And, behind them, what else training changes.
  std::vector<float> parameters() override;
  models::JudgedRuleNetwork<float>& judged() override { return *this; }

  // How many outputs it has for a row, and modules; found by asking it. Throws FormatError if it does not take samples
  // of one of these lengths, or names gates that are none.
  models::RuleShape find_shape(const std::vector<int>& lengths, const tasks::RuleTask& task,
                               const engine::Kernels<float>& kernels);

 private:
  void load(std::span<const float> parameters) override;
  const float* forward(const models::RuleBatch& batch) override;
  const float* gates() const override { return gates_.empty() ? nullptr : gates_.data(); }

  void give(const models::RuleBatch& batch);
  void take_gates(const models::RuleBatch& batch);

  models::ScriptedNetwork& network_;
  const models::RuleSpec& spec_;
  std::string source_;
  std::vector<float> parameters_;
  std::vector<float> gradients_;
  FlatOptimizer optimizer_;
  std::uint32_t steps_ = 0;
  std::shared_ptr<models::GivenSamples> samples_;
  std::vector<std::uint32_t> rows_;  // all samples of a batch
  int modules_ = 0;
  std::vector<float> said_;   // [row][padded output]
  std::vector<float> gates_;  // [row][padded module]
};

}  // namespace modlab::methods
