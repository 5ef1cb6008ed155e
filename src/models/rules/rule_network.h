#pragma once

#include <memory>

#include "engine/solo/parameters.h"
#include "models/rules/rule_samples.h"
#include "models/rules/rule_shape.h"

namespace modlab::models {

// What a network on rule-based data is to whoever judges it, whatever it runs on.
template <typename T>
class JudgedRuleNetwork {
 public:
  virtual ~JudgedRuleNetwork() = default;

  // Parameters as a snapshot has them.
  virtual void load(std::span<const float> parameters) = 0;
  // What it says of every row, [row][padded output]: numbers, or the logits of a class.
  virtual const T* forward(const RuleBatch& batch) = 0;
  // Of the last forward, [row][padded module]: how much each module counts. Null where there are none.
  virtual const T* gates() const = 0;
};

// A network on rule-based data: one network at a time, on the solo kernels. It owns its parameters and its activations.
template <typename T>
class RuleNetwork : public JudgedRuleNetwork<T> {
 public:
  virtual const engine::Layout& layout() const = 0;
  virtual engine::solo::Parameters<T>& parameters() = 0;
  void load(std::span<const float> flat) override { parameters().load(flat); }

  // Of the batch of the last forward, from the gradient of what was said. Adds to the parameters' gradients.
  virtual void backward(const RuleBatch& batch, const T* dsaid) = 0;
};

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_network(const RuleShape& shape, const engine::solo::Kernels<T>& kernels);

// Of one family each. `all_modules`: an oracle's modules are all computed, as others' are, although its rows need one;
// the numbers are the same.
template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mlp(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules = false);
template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_mha(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules = false);
template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_rnn(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules = false);

}  // namespace modlab::models
