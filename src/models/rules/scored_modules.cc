#include "models/rules/scored_modules.h"

#include <algorithm>

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

namespace {

std::ptrdiff_t at(int row, int units) { return static_cast<std::ptrdiff_t>(row) * padded(units); }

}  // namespace

template <typename T>
ScoredModules<T>::ScoredModules(const RuleShape& shape, const engine::Layout& layout,
                                const engine::solo::Kernels<T>& kernels)
    : shape_(shape),
      weights_(tensor_of(layout, "modules.layer1.weight")),
      kernels_(kernels),
      scorer_(stack_of(layout, "scorer", {read(), shape.width, 1}, padded(read()), kernels)),
      gating_(shape, kernels) {}

template <typename T>
void ScoredModules<T>::make_room(int rows) {
  rows_ = rows;
  const auto by = [](int count, int units) { return static_cast<std::size_t>(at(count, units)); };
  of_scorer_ = scorer_.make_use(rows * shape_.modules);
  seen_.assign(by(rows * shape_.modules, read()), T{0});
  mixture_.assign(by(rows, outputs()), T{0});
  dhidden_.assign(by(rows, hidden()), T{0});
  own_.assign(by(rows, outputs()), T{0});
  down_.assign(by(rows, outputs()), T{0});
  own_hidden_.assign(by(rows, units() + 1), T{0});
  dunits_.assign(by(rows, units() + 1), T{0});
  own_weights_.assign(by(units() + 1, outputs()), T{0});
  asked_.assign(by(rows, shape_.modules), T{0});
}

template <typename T>
void ScoredModules<T>::take_weights(Parameters<T>& parameters, int module) {
  const T* weights = parameters.values(weights_);
  std::copy_n(weights + at(module * units(), outputs()), at(units(), outputs()), own_weights_.begin());
  std::copy_n(weights + at(hidden() + module, outputs()), padded(outputs()),
              own_weights_.begin() + at(units(), outputs()));
}

template <typename T>
void ScoredModules<T>::take_hidden(const T* hidden_values, int module) {
  for (int row = 0; row < rows_; ++row) {
    T* to = own_hidden_.data() + at(row, units() + 1);
    std::copy_n(hidden_values + at(row, hidden()) + static_cast<std::ptrdiff_t>(module) * units(), units(), to);
    to[units()] = 1;
  }
}

template <typename T>
const T* ScoredModules<T>::forward(Parameters<T>& parameters, const RuleBatch& batch, const T* hidden_values) {
  for (int module = 0; module < shape_.modules; ++module) {
    take_weights(parameters, module);
    take_hidden(hidden_values, module);
    kernels_.layer_forward({.x = own_hidden_.data(),
                            .x_stride = padded(units() + 1),
                            .weights = own_weights_.data(),
                            .bias = nullptr,
                            .y = own_.data(),
                            .rows = rows_,
                            .in = units() + 1,
                            .out = outputs(),
                            .relu = false});
    for (int row = 0; row < rows_; ++row) {
      T* seen = seen_.data() + at(module * rows_ + row, read());
      std::copy_n(own_.data() + at(row, outputs()), outputs(), seen);
      std::copy_n(batch.data.data() + static_cast<std::ptrdiff_t>(row) * batch.columns, shape_.data_columns,
                  seen + outputs());
      std::fill_n(seen + outputs() + shape_.data_columns, shape_.rules, T{0});
      seen[outputs() + shape_.data_columns + batch.said[static_cast<std::size_t>(row)]] = 1;
    }
  }
  const T* scores = scorer_.forward(parameters, seen_.data(), rows_ * shape_.modules, of_scorer_);
  gating_.begin_forward(batch);
  for (int row = 0; row < rows_; ++row) {
    for (int module = 0; module < shape_.modules; ++module) {
      gating_.scores(row)[module] = scores[at(module * rows_ + row, 1)];
    }
  }
  gating_.choose(0, rows_);
  std::ranges::fill(mixture_, T{0});
  for (int module = 0; module < shape_.modules; ++module) {
    for (int row = 0; row < rows_; ++row) {
      const T gate = gating_.gates(row)[module];
      const T* own = seen_.data() + at(module * rows_ + row, read());
      T* mixture = mixture_.data() + at(row, outputs());
      for (int unit = 0; unit < outputs(); ++unit) {
        mixture[unit] += gate * own[unit];
      }
    }
  }
  return mixture_.data();
}

template <typename T>
const T* ScoredModules<T>::backward(Parameters<T>& parameters, const T* hidden_values, const T* doutputs) {
  gating_.begin_backward();
  for (int row = 0; row < rows_; ++row) {
    const T* d = doutputs + at(row, outputs());
    T* asked = asked_.data() + at(row, shape_.modules);
    for (int module = 0; module < shape_.modules; ++module) {
      const T* own = seen_.data() + at(module * rows_ + row, read());
      T sum = 0;
      for (int unit = 0; unit < outputs(); ++unit) {
        sum += d[unit] * own[unit];
      }
      asked[module] = sum;
    }
    gating_.ask_scores(row, asked);
    for (int module = 0; module < shape_.modules; ++module) {
      of_scorer_.dy.back()[static_cast<std::size_t>(at(module * rows_ + row, 1))] = asked[module];
    }
  }
  scorer_.begin_backward(parameters);
  scorer_.backward(parameters, seen_.data(), false, true, rows_ * shape_.modules, of_scorer_);
  for (int module = 0; module < shape_.modules; ++module) {
    // A module's outputs are asked for by the mixture and by the scorer.
    for (int row = 0; row < rows_; ++row) {
      const T gate = gating_.gates(row)[module];
      const T* d = doutputs + at(row, outputs());
      const T* by_scorer = of_scorer_.dx.data() + at(module * rows_ + row, read());
      T* down = down_.data() + at(row, outputs());
      for (int unit = 0; unit < outputs(); ++unit) {
        down[unit] = gate * d[unit] + by_scorer[unit];
      }
    }
    take_weights(parameters, module);
    take_hidden(hidden_values, module);
    dweights_.assign(own_weights_.size(), T{0});
    kernels_.layer_weight_gradient({.x = own_hidden_.data(),
                                    .x_stride = padded(units() + 1),
                                    .dy = down_.data(),
                                    .weights = dweights_.data(),
                                    .bias = nullptr,
                                    .rows = rows_,
                                    .in = units() + 1,
                                    .out = outputs()});
    T* gradients = parameters.gradients(weights_);
    for (int unit = 0; unit <= units(); ++unit) {
      T* to = gradients + at(unit < units() ? module * units() + unit : hidden() + module, outputs());
      const T* from = dweights_.data() + at(unit, outputs());
      for (int output = 0; output < outputs(); ++output) {
        to[output] += from[output];
      }
    }
    turn_weights(kernels_, own_weights_.data(), units() + 1, outputs(), turned_);
    kernels_.layer_input_gradient({.dy = down_.data(),
                                   .transposed = turned_.data(),
                                   .x = own_hidden_.data(),
                                   .dx = dunits_.data(),
                                   .rows = rows_,
                                   .in = units() + 1,
                                   .out = outputs()});
    for (int row = 0; row < rows_; ++row) {
      std::copy_n(dunits_.data() + at(row, units() + 1), units(),
                  dhidden_.data() + at(row, hidden()) + static_cast<std::ptrdiff_t>(module) * units());
    }
  }
  return dhidden_.data();
}

template class ScoredModules<float>;
template class ScoredModules<double>;

}  // namespace modlab::models
