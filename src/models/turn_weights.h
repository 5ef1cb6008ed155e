#pragma once

#include <algorithm>

#include "engine/solo/kernels.h"

namespace modlab::models {

// Weights [input][padded unit] as [unit][padded input], which products with their transpose read. Block by block: the
// lines of a block are read and written while they are in the first cache level.
template <typename T>
void turn_weights(const T* weights, int in, int out, AlignedVector<T>& turned) {
  using engine::solo::padded;
  constexpr int kBlock = 16;
  const std::ptrdiff_t from_stride = padded(out);
  const std::ptrdiff_t to_stride = padded(in);
  turned.resize(static_cast<std::size_t>(out) * static_cast<std::size_t>(to_stride));
  for (int first_unit = 0; first_unit < out; first_unit += kBlock) {
    const int last_unit = std::min(first_unit + kBlock, out);
    for (int first_input = 0; first_input < in; first_input += kBlock) {
      const int last_input = std::min(first_input + kBlock, in);
      for (int unit = first_unit; unit < last_unit; ++unit) {
        T* to = turned.data() + unit * to_stride;
        for (int input = first_input; input < last_input; ++input) {
          to[input] = weights[input * from_stride + unit];
        }
      }
    }
  }
}

}  // namespace modlab::models
