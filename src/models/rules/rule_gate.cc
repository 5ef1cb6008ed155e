#include "models/rules/rule_gate.h"

#include <algorithm>

namespace modlab::models {

using engine::solo::Parameters;

template <typename T>
RuleGate<T>::RuleGate(LayerStack<T> layers, int rules)
    : layers_(std::move(layers)), rules_(rules), use_(layers_.make_use(rules)) {}

template <typename T>
const T* RuleGate<T>::forward(Parameters<T>& parameters, const T* codes) {
  return layers_.forward(parameters, codes, rules_, use_);
}

template <typename T>
T* RuleGate<T>::begin_backward(Parameters<T>& parameters) {
  layers_.begin_backward(parameters);
  std::ranges::fill(use_.dy.back(), T{0});
  return use_.dy.back().data();
}

template <typename T>
const AlignedVector<T>& RuleGate<T>::backward(Parameters<T>& parameters, const T* codes, bool wants_dcodes) {
  layers_.backward(parameters, codes, false, wants_dcodes, rules_, use_);
  return use_.dx;
}

template class RuleGate<float>;
template class RuleGate<double>;

}  // namespace modlab::models
