#pragma once

#include <vector>

#include "engine/network.h"

namespace modlab::models {

// One module: a small MLP with one output, of any widths. The papers' shape (one hidden layer, narrow fan-in) has a
// kernel of its own; others are made of dense layers. Hidden activations are computed again in the backward pass.
template <typename T>
class Module {
 public:
  Module(std::vector<int> widths, int max_rows, const engine::Kernels<T>& kernels);

  // Parameters of one module, in the order of module_tensors.
  std::size_t size() const { return size_; }
  void forward(const T* parameters, engine::Units<const T> z, T* out, int rows);
  // Overwrites dz, and adds to gradients or overwrites them too.
  enum class Gradients { kAdd, kOverwrite };
  void backward(const T* parameters, engine::Units<const T> z, const T* dout, engine::Units<T> dz, T* gradients,
                int rows, Gradients mode = Gradients::kAdd);

 private:
  bool has_kernel() const;
  void hidden_layers(const T* parameters, engine::Units<const T> z, int rows);

  const engine::Kernels<T>& kernels_;
  std::vector<int> widths_;
  std::size_t size_ = 0;
  std::vector<std::size_t> weights_;  // offset of each layer's weights, its bias follows
  std::vector<engine::UnitBuffer<T>> activations_;
  std::vector<engine::UnitBuffer<T>> gradients_;
};

// Appends the tensors of one module to a layout.
void add_module_tensors(engine::Layout& layout, const std::string& name, const std::vector<int>& widths);

}  // namespace modlab::models
