#include "models/rules/oracle_modules.h"

#include <algorithm>
#include <string>

#include "models/rules/rule_stack.h"

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

template <typename T>
OracleModules<T>::OracleModules(const RuleShape& shape, const engine::Layout& layout, int inputs, int units,
                                int outputs, const engine::solo::Kernels<T>& kernels)
    : shape_(shape),
      inputs_(inputs),
      units_(units),
      outputs_of_module_(outputs),
      first_(tensor_of(layout, "modules.layer0.weight")),
      second_(tensor_of(layout, "modules.layer1.weight")),
      kernels_(kernels),
      route_(shape),
      groups_(static_cast<std::size_t>(shape.modules)) {
  for (int module = 0; module < shape.modules && first_ == layout.tensors.size(); ++module) {
    own_.push_back(tensor_of(layout, "module" + std::to_string(module) + ".layer0.weight"));
  }
}

template <typename T>
void OracleModules<T>::make_room(int rows) {
  outputs_.assign(static_cast<std::size_t>(rows) * padded(outputs_of_module_), T{0});
  gates_.assign(static_cast<std::size_t>(rows) * padded(shape_.modules), T{0});
  dz_.assign(static_cast<std::size_t>(rows) * padded(inputs()), T{0});
}

template <typename T>
void OracleModules<T>::take_weights(Parameters<T>& parameters, int module, Group& group) const {
  const int all_units = units() * shape_.modules;
  const int wide = padded(outputs_of_module_);
  // What lies beyond the units stays zero.
  group.first.resize(static_cast<std::size_t>(inputs()) * padded(units()));
  group.bias.resize(static_cast<std::size_t>(padded(units())));
  group.second.resize(static_cast<std::size_t>(mixed()) * wide);
  if (own_.empty()) {
    copy_columns(parameters.values(first_) + module * units(), padded(all_units), inputs(), units(), group.first.data(),
                 padded(units()));
    std::copy_n(parameters.values(first_ + 1) + module * units(), units(), group.bias.begin());
  } else {
    const std::size_t own = own_[static_cast<std::size_t>(module)];
    std::copy_n(parameters.values(own), group.first.size(), group.first.begin());
    std::copy_n(parameters.values(own + 1), group.bias.size(), group.bias.begin());
  }
  const T* second = parameters.values(second_);
  std::copy_n(second + static_cast<std::ptrdiff_t>(module) * units() * wide,
              static_cast<std::ptrdiff_t>(units()) * wide, group.second.begin());
  std::copy_n(second + static_cast<std::ptrdiff_t>(all_units + module) * wide, wide,
              group.second.begin() + static_cast<std::ptrdiff_t>(units()) * wide);
}

template <typename T>
void OracleModules<T>::find_modules(const RuleBatch& batch) {
  for (Group& group : groups_) {
    group.rows.clear();
  }
  std::ranges::fill(gates_, T{0});
  route_.find(batch);
  for (int row = 0; row < batch.rows(); ++row) {
    const int module = route_[row];
    groups_[static_cast<std::size_t>(module)].rows.push_back(row);
    gates_[static_cast<std::size_t>(row) * padded(shape_.modules) + static_cast<std::size_t>(module)] = 1;
  }
}

template <typename T>
const T* OracleModules<T>::forward(Parameters<T>& parameters, const T* z) {
  for (int module = 0; module < shape_.modules; ++module) {
    Group& group = groups_[static_cast<std::size_t>(module)];
    const auto count = static_cast<int>(group.rows.size());
    if (count == 0) {
      continue;
    }
    take_weights(parameters, module, group);
    gather_rows(z, inputs(), group.rows, group.z);
    AlignedVector<T>& hidden = dhidden_;
    hidden.resize(static_cast<std::size_t>(count) * padded(units()));
    kernels_.layer_forward({.x = group.z.data(),
                            .x_stride = padded(inputs()),
                            .weights = group.first.data(),
                            .bias = group.bias.data(),
                            .y = hidden.data(),
                            .rows = count,
                            .in = inputs(),
                            .out = units(),
                            .relu = true});
    // Beyond the units and the one of the bias there are zeros, and those stay.
    group.hidden.resize(static_cast<std::size_t>(count) * padded(mixed()));
    copy_columns(hidden.data(), padded(units()), count, units(), group.hidden.data(), padded(mixed()));
    for (int place = 0; place < count; ++place) {
      group.hidden[static_cast<std::size_t>(place) * padded(mixed()) + units()] = 1;
    }
    group.outputs.resize(static_cast<std::size_t>(count) * padded(outputs_of_module_));
    kernels_.layer_forward({.x = group.hidden.data(),
                            .x_stride = padded(mixed()),
                            .weights = group.second.data(),
                            .bias = nullptr,
                            .y = group.outputs.data(),
                            .rows = count,
                            .in = mixed(),
                            .out = outputs_of_module_,
                            .relu = false});
    scatter_rows(group.outputs, outputs_of_module_, group.rows, outputs_.data());
  }
  return outputs_.data();
}

template <typename T>
const T* OracleModules<T>::backward(Parameters<T>& parameters, const T* doutputs) {
  for (int module = 0; module < shape_.modules; ++module) {
    Group& group = groups_[static_cast<std::size_t>(module)];
    const auto count = static_cast<int>(group.rows.size());
    if (count == 0) {
      continue;
    }
    gather_rows(doutputs, outputs_of_module_, group.rows, doutputs_);
    // A module's rows of these weights lie side by side, but for that of its bias.
    const int all_units = units() * shape_.modules;
    const std::ptrdiff_t wide = padded(outputs_of_module_);
    kernels_.layer_weight_gradient({.x = group.hidden.data(),
                                    .x_stride = padded(mixed()),
                                    .dy = doutputs_.data(),
                                    .weights = parameters.gradients(second_) + module * units() * wide,
                                    .bias = parameters.gradients(second_) + (all_units + module) * wide,
                                    .rows = count,
                                    .in = units(),
                                    .out = outputs_of_module_});
    turn_weights(kernels_, group.second.data(), mixed(), outputs_of_module_, turned_);
    dhidden_.resize(static_cast<std::size_t>(count) * padded(mixed()));
    kernels_.layer_input_gradient({.dy = doutputs_.data(),
                                   .transposed = turned_.data(),
                                   .x = group.hidden.data(),
                                   .dx = dhidden_.data(),
                                   .rows = count,
                                   .in = mixed(),
                                   .out = outputs_of_module_});
    // The one for the bias is no unit. Rows may be narrower without it.
    for (int place = 0; place < count; ++place) {
      T* to = dhidden_.data() + static_cast<std::ptrdiff_t>(place) * padded(units());
      const T* from = dhidden_.data() + static_cast<std::ptrdiff_t>(place) * padded(mixed());
      std::copy(from, from + units(), to);
      std::fill(to + units(), to + padded(units()), T{0});
    }
    dfirst_.assign(group.first.size(), T{0});
    dbias_.assign(group.bias.size(), T{0});
    kernels_.layer_weight_gradient({.x = group.z.data(),
                                    .x_stride = padded(inputs()),
                                    .dy = dhidden_.data(),
                                    .weights = dfirst_.data(),
                                    .bias = dbias_.data(),
                                    .rows = count,
                                    .in = inputs(),
                                    .out = units()});
    turn_weights(kernels_, group.first.data(), inputs(), units(), turned_);
    dz_group_.resize(static_cast<std::size_t>(count) * padded(inputs()));
    kernels_.layer_input_gradient({.dy = dhidden_.data(),
                                   .transposed = turned_.data(),
                                   .x = nullptr,
                                   .dx = dz_group_.data(),
                                   .rows = count,
                                   .in = inputs(),
                                   .out = units()});
    scatter_rows(dz_group_, inputs(), group.rows, dz_.data());
    add_gradients(parameters, module);
  }
  return dz_.data();
}

template <typename T>
void OracleModules<T>::add_gradients(Parameters<T>& parameters, int module) {
  const int all_units = units() * shape_.modules;
  if (!own_.empty()) {
    const std::size_t own = own_[static_cast<std::size_t>(module)];
    add_columns(dfirst_.data(), 0, 1, static_cast<int>(dfirst_.size()), parameters.gradients(own), 0);
    add_columns(dbias_.data(), 0, 1, static_cast<int>(dbias_.size()), parameters.gradients(own + 1), 0);
    return;
  }
  add_columns(dfirst_.data(), padded(units()), inputs(), units(), parameters.gradients(first_) + module * units(),
              padded(all_units));
  add_columns(dbias_.data(), 0, 1, units(), parameters.gradients(first_ + 1) + module * units(), 0);
}

template class OracleModules<float>;
template class OracleModules<double>;

}  // namespace modlab::models
