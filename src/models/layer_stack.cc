#include "models/layer_stack.h"

#include "models/turn_weights.h"

namespace modlab::models {

using engine::solo::padded;
using engine::solo::Parameters;

template <typename T>
LayerStack<T>::LayerStack(std::vector<int> widths, std::vector<std::size_t> tensors, int x_stride,
                          const engine::solo::Kernels<T>& kernels)
    : widths_(std::move(widths)), tensors_(std::move(tensors)), x_stride_(x_stride), kernels_(kernels) {
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    transposed_.emplace_back(static_cast<std::size_t>(widths_[layer + 1]) * padded(widths_[layer]));
  }
}

template <typename T>
typename LayerStack<T>::Use LayerStack<T>::make_use(int rows) const {
  Use use;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    const std::size_t size = static_cast<std::size_t>(rows) * padded(widths_[layer + 1]);
    use.y.emplace_back(size);
    use.dy.emplace_back(size);
  }
  use.dx.resize(static_cast<std::size_t>(rows) * padded(widths_.front()));
  return use;
}

template <typename T>
void LayerStack<T>::begin_backward(Parameters<T>& parameters) {
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    turn_weights(kernels_, parameters.values(tensors_[layer]), widths_[layer], widths_[layer + 1], transposed_[layer]);
  }
}

template <typename T>
const T* LayerStack<T>::forward(Parameters<T>& parameters, const T* x, int rows, Use& use) const {
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    kernels_.layer_forward({.x = layer == 0 ? x : use.y[layer - 1].data(),
                            .x_stride = layer == 0 ? x_stride_ : padded(widths_[layer]),
                            .weights = parameters.values(tensors_[layer]),
                            .bias = parameters.values(tensors_[layer] + 1),
                            .y = use.y[layer].data(),
                            .rows = rows,
                            .in = widths_[layer],
                            .out = widths_[layer + 1],
                            .relu = layer + 1 < layers()});
  }
  return use.y.back().data();
}

template <typename T>
void LayerStack<T>::backward(Parameters<T>& parameters, const T* x, bool x_is_relu, bool wants_dx, int rows,
                             Use& use) const {
  for (std::size_t layer = layers(); layer-- > 0;) {
    const T* below = layer == 0 ? x : use.y[layer - 1].data();
    kernels_.layer_weight_gradient({.x = below,
                                    .x_stride = layer == 0 ? x_stride_ : padded(widths_[layer]),
                                    .dy = use.dy[layer].data(),
                                    .weights = parameters.gradients(tensors_[layer]),
                                    .bias = parameters.gradients(tensors_[layer] + 1),
                                    .rows = rows,
                                    .in = widths_[layer],
                                    .out = widths_[layer + 1]});
    if (layer == 0 && !wants_dx) {
      return;
    }
    kernels_.layer_input_gradient({.dy = use.dy[layer].data(),
                                   .transposed = transposed_[layer].data(),
                                   .x = layer > 0 || x_is_relu ? below : nullptr,
                                   .dx = layer == 0 ? use.dx.data() : use.dy[layer - 1].data(),
                                   .rows = rows,
                                   .in = widths_[layer],
                                   .out = widths_[layer + 1]});
  }
}

template class LayerStack<float>;
template class LayerStack<double>;

}  // namespace modlab::models
