#pragma once

#include <vector>

#include "models/rules/gating.h"
#include "models/rules/rule_stack.h"

namespace modlab::models {

// The last layer of the modules of the family kMlp where one small network scores them: it looks at what a module says
// and at the raw sample. Every module's output has to be there by itself.
template <typename T>
class ScoredModules {
 public:
  ScoredModules(const RuleShape& shape, const engine::Layout& layout, const engine::solo::Kernels<T>& kernels);

  void make_room(int rows);

  // `hidden`: [row][unit], module after module. Gives the mixture, [row][second width].
  const T* forward(engine::solo::Parameters<T>& parameters, const RuleBatch& batch, const T* hidden);
  // From the gradient of what forward gave to that of hidden units before their ReLU.
  const T* backward(engine::solo::Parameters<T>& parameters, const T* hidden, const T* doutputs);

  const T* values() const { return mixture_.data(); }
  const T* gates() const { return gating_.gates(); }

 private:
  int units() const { return module_units(shape_); }
  int hidden() const { return units() * shape_.modules; }
  int outputs() const { return shape_.second_width(); }
  // What the scorer reads: a module's outputs, the sample's numbers, and a 1 in the column of its rule.
  int read() const { return outputs() + shape_.data_columns + shape_.rules; }
  // The weights of a module's hidden units and, as one more of them, of its bias: [unit][output].
  void take_weights(engine::solo::Parameters<T>& parameters, int module);
  // A module's hidden units of all rows, and a 1.
  void take_hidden(const T* hidden, int module);

  RuleShape shape_;
  std::size_t weights_;
  const engine::solo::Kernels<T>& kernels_;
  LayerStack<T> scorer_;
  typename LayerStack<T>::Use of_scorer_;
  Gating<T> gating_;
  int rows_ = 0;
  AlignedVector<T> seen_;  // [module][row][read]: each module's outputs stand in it
  AlignedVector<T> mixture_, dhidden_;
  // Of one module.
  AlignedVector<T> own_, down_, own_hidden_, own_weights_, dweights_, dunits_, turned_;
  AlignedVector<T> asked_;  // [row][padded module]
};

}  // namespace modlab::models
