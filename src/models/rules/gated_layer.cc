#include "models/rules/gated_layer.h"

#include <algorithm>

#include "models/rules/gates.h"
#include "models/rules/rule_stack.h"

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

template <typename T>
GatedLayer<T>::GatedLayer(const RuleShape& shape, const engine::Layout& layout, int units, int outputs,
                          const engine::solo::Kernels<T>& kernels)
    : shape_(shape),
      units_(units),
      outputs_(outputs),
      weights_(tensor_of(layout, "modules.layer1.weight")),
      scores_(tensor_of(layout, "scores.weight")),
      kernels_(kernels) {}

template <typename T>
void GatedLayer<T>::make_room(int rows) {
  rows_ = rows;
  const auto by = [&](int units) { return static_cast<std::size_t>(rows) * padded(units); };
  hidden_.assign(by(hidden()), T{0});
  dhidden_.assign(by(hidden()), T{0});
  mixed_.assign(by(mixed()), T{0});
  dmixed_.assign(by(mixed()), T{0});
  mixture_.assign(by(outputs_), T{0});
  gates_.assign(by(shape_.modules), T{0});
  dgates_.assign(static_cast<std::size_t>(padded(shape_.modules)), T{0});
}

template <typename T>
const T* GatedLayer<T>::forward(Parameters<T>& parameters, const RuleBatch& batch, const T* rule_gates) {
  choose_gates(parameters, batch, rule_gates);
  for (int row = 0; row < rows_; ++row) {
    const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
    const T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * padded(shape_.modules);
    T* weighed = mixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
    for (int module = 0; module < shape_.modules; ++module) {
      for (int unit = module * units_; unit < (module + 1) * units_; ++unit) {
        weighed[unit] = gate[module] * h[unit];
      }
      weighed[hidden() + module] = gate[module];
    }
  }
  kernels_.layer_forward({.x = mixed_.data(),
                          .x_stride = padded(mixed()),
                          .weights = parameters.values(weights_),
                          .bias = nullptr,
                          .y = mixture_.data(),
                          .rows = rows_,
                          .in = mixed(),
                          .out = outputs_,
                          .relu = false});
  return mixture_.data();
}

template <typename T>
void GatedLayer<T>::choose_gates(Parameters<T>& parameters, const RuleBatch& batch, const T* rule_gates) {
  const int stride = padded(shape_.modules);
  for (int row = 0; row < rows_; ++row) {
    T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * stride;
    const int rule = batch.rules[static_cast<std::size_t>(row)];
    if (shape_.model == RuleModel::kModularOp) {
      std::copy_n(rule_gates + static_cast<std::ptrdiff_t>(rule) * stride, stride, gate);
      continue;
    }
    if (shape_.model == RuleModel::kGtModular) {
      std::fill_n(gate, stride, T{0});
      gate[rule % shape_.modules] = 1;
      continue;
    }
    const T* weights = parameters.values(scores_);
    const T* biases = parameters.values(scores_ + 1);
    const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
    for (int module = 0; module < shape_.modules; ++module) {
      T score = biases[module];
      for (int unit = module * units_; unit < (module + 1) * units_; ++unit) {
        score += weights[unit] * h[unit];
      }
      gate[module] = score;
    }
  }
  if (shape_.model == RuleModel::kModular) {
    softmax_rows(kernels_, gates_.data(), rows_, shape_.modules);
  }
}

template <typename T>
const T* GatedLayer<T>::backward(Parameters<T>& parameters, const RuleBatch& batch, const T* doutputs, T* drule_gates) {
  kernels_.layer_weight_gradient({.x = mixed_.data(),
                                  .x_stride = padded(mixed()),
                                  .dy = doutputs,
                                  .weights = parameters.gradients(weights_),
                                  .bias = nullptr,
                                  .rows = rows_,
                                  .in = mixed(),
                                  .out = outputs_});
  turn_weights(parameters.values(weights_), mixed(), outputs_, turned_);
  kernels_.layer_input_gradient({.dy = doutputs,
                                 .transposed = turned_.data(),
                                 .x = nullptr,
                                 .dx = dmixed_.data(),
                                 .rows = rows_,
                                 .in = mixed(),
                                 .out = outputs_});
  for (int row = 0; row < rows_; ++row) {
    backward_row(parameters, batch, row, drule_gates);
  }
  return dhidden_.data();
}

// From what the weighed units get to the units themselves and to the gates.
template <typename T>
void GatedLayer<T>::backward_row(Parameters<T>& parameters, const RuleBatch& batch, int row, T* drule_gates) {
  const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
  const T* gate = gates_.data() + static_cast<std::ptrdiff_t>(row) * padded(shape_.modules);
  const T* d = dmixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
  T* dh = dhidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
  for (int module = 0; module < shape_.modules; ++module) {
    T sum = d[hidden() + module];
    for (int unit = module * units_; unit < (module + 1) * units_; ++unit) {
      sum += d[unit] * h[unit];
      dh[unit] = gate[module] * d[unit];
    }
    dgates_[static_cast<std::size_t>(module)] = sum;
  }
  if (shape_.model == RuleModel::kModular) {
    softmax_gradient(gate, dgates_.data(), shape_.modules, dgates_.data());
    const T* weights = parameters.values(scores_);
    T* dweights = parameters.gradients(scores_);
    T* dbiases = parameters.gradients(scores_ + 1);
    for (int module = 0; module < shape_.modules; ++module) {
      const T dscore = dgates_[static_cast<std::size_t>(module)];
      dbiases[module] += dscore;
      for (int unit = module * units_; unit < (module + 1) * units_; ++unit) {
        dweights[unit] += dscore * h[unit];
        dh[unit] += dscore * weights[unit];
      }
    }
  } else if (shape_.model == RuleModel::kModularOp) {
    // Rows of one rule have one gate: what they ask of it is added up first.
    const std::ptrdiff_t rule = batch.rules[static_cast<std::size_t>(row)];
    T* asked = drule_gates + rule * padded(shape_.modules);
    for (int module = 0; module < shape_.modules; ++module) {
      asked[module] += dgates_[static_cast<std::size_t>(module)];
    }
  }
  for (int unit = 0; unit < hidden(); ++unit) {
    dh[unit] = h[unit] > 0 ? dh[unit] : T{0};
  }
}

template class GatedLayer<float>;
template class GatedLayer<double>;

}  // namespace modlab::models
