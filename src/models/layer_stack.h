#pragma once

#include <vector>

#include "engine/solo/network.h"

namespace modlab::models {

// Fully connected layers with ReLU between them, [row][padded unit]. One stack may be used several times in a step,
// each use on rows of its own.
template <typename T>
class LayerStack {
 public:
  // The activations of one use.
  struct Use {
    std::vector<AlignedVector<T>> y;   // [layer]
    std::vector<AlignedVector<T>> dy;  // [layer]; the last is what backward is given
    AlignedVector<T> dx;
  };

  // `tensors`: the weight of each layer; its bias is the next tensor. The first layer reads rows `x_stride` apart.
  LayerStack(std::vector<int> widths, std::vector<std::size_t> tensors, int x_stride,
             const engine::solo::Kernels<T>& kernels);

  Use make_use(int rows) const;
  // Before the first backward of a step.
  void begin_backward(engine::solo::Parameters<T>& parameters);

  const T* forward(engine::solo::Parameters<T>& parameters, const T* x, int rows, Use& use) const;
  // From use.dy.back() to the gradients of weights and, if asked for, use.dx: zeroed where x came out of a ReLU at zero
  // if `x_is_relu`.
  void backward(engine::solo::Parameters<T>& parameters, const T* x, bool x_is_relu, bool wants_dx, int rows,
                Use& use) const;

 private:
  std::size_t layers() const { return tensors_.size(); }

  std::vector<int> widths_;
  std::vector<std::size_t> tensors_;
  int x_stride_;
  const engine::solo::Kernels<T>& kernels_;
  std::vector<AlignedVector<T>> transposed_;  // [layer]: weights as [unit][padded input]
};

}  // namespace modlab::models
