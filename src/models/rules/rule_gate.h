#pragma once

#include <vector>

#include "models/layer_stack.h"

namespace modlab::models {

// Scores of a gate that sees the rule alone: layers on what stands for each rule. Computed once for each rule.
template <typename T>
class RuleGate {
 public:
  RuleGate(LayerStack<T> layers, int rules);

  // `codes`: what stands for each rule, [rule][input]. Gives [rule][padded module].
  const T* forward(engine::solo::Parameters<T>& parameters, const T* codes);
  // Before rows ask: [rule][padded module], zero.
  T* begin_backward(engine::solo::Parameters<T>& parameters);
  // After they have asked. Gives the gradient of the codes, if asked for.
  const AlignedVector<T>& backward(engine::solo::Parameters<T>& parameters, const T* codes, bool wants_dcodes);

 private:
  LayerStack<T> layers_;
  int rules_;
  typename LayerStack<T>::Use use_;
};

}  // namespace modlab::models
