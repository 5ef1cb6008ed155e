#pragma once

#include "engine/solo/parameters.h"
#include "models/rules/gating.h"

namespace modlab::models {

// The last layer of all modules and the gates that weigh them, as one layer: a sum over modules of gate times output is
// a sum over all modules' hidden units, each times its module's gate, and the gates themselves are the inputs of the
// biases. Where a network learns its gates from the whole input, each module's score is one more output of its hidden
// units.
template <typename T>
class GatedLayer {
 public:
  // `units`: hidden units of a module. Its tensors are modules.layer1 and, if there are, scores.
  GatedLayer(const RuleShape& shape, const engine::Layout& layout, int units, int outputs,
             const engine::solo::Kernels<T>& kernels);

  void make_room(int rows);

  int hidden() const { return units_ * shape_.modules; }
  // [row][hidden unit], to be filled before forward: module after module, after a ReLU.
  T* hidden_values() { return hidden_.data(); }

  // `rule_scores`, [rule][padded module]: of networks whose gates see the rule alone.
  const T* forward(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, const T* rule_scores);
  // From the gradient of what forward gave to that of hidden units before their ReLU. `drule_scores` takes what the
  // rows that say a rule ask of its scores.
  const T* backward(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, const T* doutputs,
                    T* drule_scores);

  const T* values() const { return mixture_.data(); }
  const T* gates() const { return gating_.gates(); }

 private:
  int mixed() const { return hidden() + shape_.modules; }
  void choose_gates(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, const T* rule_scores);
  template <typename Units>
  void backward_row(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, int row, T* drule_scores,
                    Units units);

  RuleShape shape_;
  int units_;
  int outputs_;
  std::size_t weights_;
  std::size_t scores_;
  const engine::solo::Kernels<T>& kernels_;
  Gating<T> gating_;
  int rows_ = 0;
  AlignedVector<T> hidden_, dhidden_, mixed_, dmixed_, mixture_, turned_;
  AlignedVector<T> asked_;  // of one row's gates, then of its scores
};

}  // namespace modlab::models
