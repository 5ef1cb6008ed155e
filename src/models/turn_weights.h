#pragma once

#include <algorithm>

#include "engine/solo/kernels.h"

namespace modlab::models {

// Weights [input][padded unit] as [unit][padded input], which products with their transpose read. Block by block: the
// lines of a block are read and written while they are in the first cache level.
template <typename T>
void turn_weights(const engine::solo::Kernels<T>& kernels, const T* weights, int in, int out,
                  AlignedVector<T>& turned) {
  using engine::solo::padded;
  constexpr int kBlock = 16;
  const std::ptrdiff_t from_stride = padded(out);
  const std::ptrdiff_t to_stride = padded(in);
  turned.resize(static_cast<std::size_t>(out) * static_cast<std::size_t>(to_stride));
  for (int unit = 0; unit < out; unit += kBlock) {
    for (int input = 0; input < in; input += kBlock) {
      kernels.turn(weights + input * from_stride + unit, from_stride, std::min(kBlock, in - input),
                   std::min(kBlock, out - unit), turned.data() + unit * to_stride + input, to_stride);
    }
  }
}

}  // namespace modlab::models
