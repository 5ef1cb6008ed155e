#include "models/module.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlab::models {

using engine::Units;

template <typename T>
Module<T>::Module(std::vector<int> widths, int max_rows, const engine::Kernels<T>& kernels)
    : kernels_(kernels), widths_(std::move(widths)) {
  for (std::size_t layer = 0; layer + 1 < widths_.size(); ++layer) {
    weights_.push_back(size_);
    size_ += static_cast<std::size_t>(widths_[layer] + 1) * widths_[layer + 1];
  }
  if (!has_kernel()) {
    for (std::size_t layer = 1; layer + 1 < widths_.size(); ++layer) {
      activations_.emplace_back(widths_[layer], max_rows, kernels.lanes);
      gradients_.emplace_back(widths_[layer], max_rows, kernels.lanes);
    }
  }
}

template <typename T>
bool Module<T>::has_kernel() const {
  return widths_.size() == 3 && widths_[0] <= engine::kMaxModuleFanIn;
}

template <typename T>
void Module<T>::hidden_layers(const T* parameters, Units<const T> z, int rows) {
  Units<const T> x = z;
  for (std::size_t layer = 0; layer + 2 < widths_.size(); ++layer) {
    const T* weights = parameters + weights_[layer] * kernels_.lanes;
    const Units<T> y = activations_[layer].view();
    kernels_.dense_forward(
        {.x = x,
         .weights = weights,
         .bias = weights + static_cast<std::size_t>(widths_[layer]) * widths_[layer + 1] * kernels_.lanes,
         .y = y,
         .rows = rows,
         .in = widths_[layer],
         .out = widths_[layer + 1],
         .relu = true});
    x = y;
  }
}

template <typename T>
void Module<T>::forward(const T* parameters, Units<const T> z, T* out, int rows) {
  if (has_kernel()) {
    kernels_.module_forward(
        {.z = z, .parameters = parameters, .out = out, .rows = rows, .fan_in = widths_[0], .hidden = widths_[1]});
    return;
  }
  hidden_layers(parameters, z, rows);
  const int in = widths_[widths_.size() - 2];
  const T* weights = parameters + weights_.back() * kernels_.lanes;
  kernels_.dense_forward({.x = activations_.empty() ? z : activations_.back().view(),
                          .weights = weights,
                          .bias = weights + static_cast<std::size_t>(in) * kernels_.lanes,
                          .y = {out, 0},
                          .rows = rows,
                          .in = in,
                          .out = 1,
                          .relu = false});
}

template <typename T>
void Module<T>::backward(const T* parameters, Units<const T> z, const T* dout, Units<T> dz, T* gradients, int rows,
                         Gradients mode) {
  if (has_kernel()) {
    kernels_.module_backward({.z = z,
                              .parameters = parameters,
                              .dout = dout,
                              .dz = dz,
                              .gradients = gradients,
                              .overwrite = mode == Gradients::kOverwrite,
                              .rows = rows,
                              .fan_in = widths_[0],
                              .hidden = widths_[1]});
    return;
  }
  if (mode == Gradients::kOverwrite) {
    std::fill_n(gradients, size_ * kernels_.lanes, T{0});
  }
  hidden_layers(parameters, z, rows);
  Units<const T> dy = {dout, 0};
  for (std::size_t layer = widths_.size() - 1; layer-- > 0;) {
    const Units<const T> x = layer == 0 ? z : activations_[layer - 1].view();
    const Units<T> dx = layer == 0 ? dz : gradients_[layer - 1].view();
    const int in = widths_[layer];
    const int out = widths_[layer + 1];
    const std::size_t weights = weights_[layer] * kernels_.lanes;
    const std::size_t bias = weights + static_cast<std::size_t>(in) * out * kernels_.lanes;
    kernels_.dense_weight_gradient({.x = x,
                                    .dy = dy,
                                    .weights = gradients + weights,
                                    .bias = gradients + bias,
                                    .rows = rows,
                                    .in = in,
                                    .out = out});
    kernels_.dense_input_gradient({.dy = dy,
                                   .weights = parameters + weights,
                                   .x = x,
                                   .dx = dx,
                                   .rows = rows,
                                   .in = in,
                                   .out = out,
                                   .relu = layer > 0});
    dy = dx;
  }
}

template class Module<float>;
template class Module<double>;

void add_module_tensors(engine::Layout& layout, const std::string& name, const std::vector<int>& widths) {
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const int in = widths[layer];
    const int out = widths[layer + 1];
    layout.add(fmt::format("{}.layer{}.weight", name, layer), {out, in}, engine::Rate::kFunctional, in, out);
    layout.add(fmt::format("{}.layer{}.bias", name, layer), {out}, engine::Rate::kFunctional, in, out);
  }
}

}  // namespace modlab::models
