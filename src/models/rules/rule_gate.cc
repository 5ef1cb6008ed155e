#include "models/rules/rule_gate.h"

#include <algorithm>

#include "models/rules/gates.h"

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

template <typename T>
RuleGate<T>::RuleGate(LayerStack<T> layers, int rules, int modules, const engine::solo::Kernels<T>& kernels)
    : layers_(std::move(layers)),
      rules_(rules),
      modules_(modules),
      kernels_(kernels),
      use_(layers_.make_use(rules)),
      gates_(static_cast<std::size_t>(rules) * padded(modules)) {}

template <typename T>
const T* RuleGate<T>::forward(Parameters<T>& parameters, const T* codes) {
  std::copy_n(layers_.forward(parameters, codes, rules_, use_), gates_.size(), gates_.begin());
  softmax_rows(kernels_, gates_.data(), rules_, modules_);
  return gates_.data();
}

template <typename T>
T* RuleGate<T>::begin_backward(Parameters<T>& parameters) {
  layers_.begin_backward(parameters);
  std::ranges::fill(use_.dy.back(), T{0});
  return use_.dy.back().data();
}

template <typename T>
const AlignedVector<T>& RuleGate<T>::backward(Parameters<T>& parameters, const T* codes, bool wants_dcodes) {
  for (int rule = 0; rule < rules_; ++rule) {
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(rule) * padded(modules_);
    T* asked = use_.dy.back().data() + place;
    softmax_gradient(gates_.data() + place, asked, modules_, asked);
  }
  layers_.backward(parameters, codes, false, wants_dcodes, rules_, use_);
  return use_.dx;
}

template class RuleGate<float>;
template class RuleGate<double>;

}  // namespace modlab::models
