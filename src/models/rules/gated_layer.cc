#include "models/rules/gated_layer.h"

#include <algorithm>
#include <type_traits>

#include "models/rules/rule_stack.h"

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

namespace {

// Calls work(units) with a constant where modules have few units: loops over them are then unrolled.
template <typename Work>
void with_units(int units, const Work& work) {
  switch (units) {
    case 1:
      return work(std::integral_constant<int, 1>());
    case 2:
      return work(std::integral_constant<int, 2>());
    case 4:
      return work(std::integral_constant<int, 4>());
    case 8:
      return work(std::integral_constant<int, 8>());
    case 16:
      return work(std::integral_constant<int, 16>());
    default:
      return work(units);
  }
}

// The sum of a * b in four partial sums, since one would wait for itself.
template <typename T, typename Units>
T dot_of(const T* a, const T* b, Units units) {
  T partial[4] = {};
  int unit = 0;
  for (; unit + 4 <= units; unit += 4) {
    for (int part = 0; part < 4; ++part) {
      partial[part] += a[unit + part] * b[unit + part];
    }
  }
  T sum = (partial[0] + partial[2]) + (partial[1] + partial[3]);
  for (; unit < units; ++unit) {
    sum += a[unit] * b[unit];
  }
  return sum;
}

}  // namespace

template <typename T>
GatedLayer<T>::GatedLayer(const RuleShape& shape, const engine::Layout& layout, int units, int outputs,
                          const engine::solo::Kernels<T>& kernels)
    : shape_(shape),
      units_(units),
      outputs_(outputs),
      weights_(tensor_of(layout, "modules.layer1.weight")),
      scores_(tensor_of(layout, "scores.weight")),
      kernels_(kernels),
      gating_(shape, kernels) {}

template <typename T>
void GatedLayer<T>::make_room(int rows) {
  rows_ = rows;
  const auto by = [&](int units) { return static_cast<std::size_t>(rows) * padded(units); };
  hidden_.assign(by(hidden()), T{0});
  dhidden_.assign(by(hidden()), T{0});
  mixed_.assign(by(mixed()), T{0});
  dmixed_.assign(by(mixed()), T{0});
  mixture_.assign(by(outputs_), T{0});
  asked_.assign(static_cast<std::size_t>(padded(shape_.modules)), T{0});
}

template <typename T>
const T* GatedLayer<T>::forward(Parameters<T>& parameters, const RuleBatch& batch, const T* rule_scores) {
  choose_gates(parameters, batch, rule_scores);
  with_units(units_, [&](auto units) {
    for (int row = 0; row < rows_; ++row) {
      const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
      const T* gate = gating_.gates(row);
      T* weighed = mixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
      std::copy_n(gate, shape_.modules, weighed + hidden());
      for (int module = 0; module < shape_.modules; ++module, h += units, weighed += units) {
        for (int unit = 0; unit < units; ++unit) {
          weighed[unit] = gate[module] * h[unit];
        }
      }
    }
  });
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
void GatedLayer<T>::choose_gates(Parameters<T>& parameters, const RuleBatch& batch, const T* rule_scores) {
  gating_.begin_forward(batch);
  for (int row = 0; row < rows_ && shape_.model == RuleModel::kModularOp; ++row) {
    const std::ptrdiff_t rule = batch.said[static_cast<std::size_t>(row)];
    std::copy_n(rule_scores + rule * padded(shape_.modules), shape_.modules, gating_.scores(row));
  }
  if (shape_.model == RuleModel::kModular) {
    with_units(units_, [&](auto units) {
      const T* weights = parameters.values(scores_);
      const T* biases = parameters.values(scores_ + 1);
      for (int row = 0; row < rows_; ++row) {
        const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
        T* scores = gating_.scores(row);
        for (int module = 0; module < shape_.modules; ++module) {
          scores[module] = biases[module] + dot_of(weights + module * units, h + module * units, units);
        }
      }
    });
  }
  gating_.choose(0, rows_);
}

template <typename T>
const T* GatedLayer<T>::backward(Parameters<T>& parameters, const RuleBatch& batch, const T* doutputs,
                                 T* drule_scores) {
  kernels_.layer_weight_gradient({.x = mixed_.data(),
                                  .x_stride = padded(mixed()),
                                  .dy = doutputs,
                                  .weights = parameters.gradients(weights_),
                                  .bias = nullptr,
                                  .rows = rows_,
                                  .in = mixed(),
                                  .out = outputs_});
  turn_weights(kernels_, parameters.values(weights_), mixed(), outputs_, turned_);
  kernels_.layer_input_gradient({.dy = doutputs,
                                 .transposed = turned_.data(),
                                 .x = nullptr,
                                 .dx = dmixed_.data(),
                                 .rows = rows_,
                                 .in = mixed(),
                                 .out = outputs_});
  gating_.begin_backward();
  with_units(units_, [&](auto units) {
    for (int row = 0; row < rows_; ++row) {
      backward_row(parameters, batch, row, drule_scores, units);
    }
  });
  return dhidden_.data();
}

// From what the weighed units get to the units themselves and to the gates.
template <typename T>
template <typename Units>
void GatedLayer<T>::backward_row(Parameters<T>& parameters, const RuleBatch& batch, int row, T* drule_scores,
                                 Units units) {
  const T* h = hidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
  const T* gate = gating_.gates(row);
  const T* d = dmixed_.data() + static_cast<std::ptrdiff_t>(row) * padded(mixed());
  T* dh = dhidden_.data() + static_cast<std::ptrdiff_t>(row) * padded(hidden());
  for (int module = 0; module < shape_.modules; ++module) {
    asked_[static_cast<std::size_t>(module)] =
        d[hidden() + module] + dot_of(d + module * units, h + module * units, units);
    for (int unit = module * units; unit < (module + 1) * units; ++unit) {
      dh[unit] = gate[module] * d[unit];
    }
  }
  gating_.ask_scores(row, asked_.data());
  if (shape_.model == RuleModel::kModular) {
    const T* weights = parameters.values(scores_);
    T* dweights = parameters.gradients(scores_);
    T* dbiases = parameters.gradients(scores_ + 1);
    for (int module = 0; module < shape_.modules; ++module) {
      const T dscore = asked_[static_cast<std::size_t>(module)];
      dbiases[module] += dscore;
      for (int unit = module * units; unit < (module + 1) * units; ++unit) {
        dweights[unit] += dscore * h[unit];
      }
      for (int unit = module * units; unit < (module + 1) * units; ++unit) {
        dh[unit] += dscore * weights[unit];
      }
    }
  } else if (shape_.model == RuleModel::kModularOp) {
    // Rows that say one rule have the same scores: what they ask of them is added up first.
    const std::ptrdiff_t rule = batch.said[static_cast<std::size_t>(row)];
    T* asked = drule_scores + rule * padded(shape_.modules);
    for (int module = 0; module < shape_.modules; ++module) {
      asked[module] += asked_[static_cast<std::size_t>(module)];
    }
  }
  for (int unit = 0; unit < hidden(); ++unit) {
    dh[unit] = h[unit] > 0 ? dh[unit] : T{0};
  }
}

template class GatedLayer<float>;
template class GatedLayer<double>;

}  // namespace modlab::models
