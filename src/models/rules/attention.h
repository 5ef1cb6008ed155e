#pragma once

#include "engine/solo/kernels.h"

namespace modlab::models {

// Attention among the tokens of each sample, every token to all but itself, head by head. Rows are the tokens of a
// sample one after the other; queries, keys, values and what is found are [row][padded head * width], heads side by
// side.
template <typename T>
class Attention {
 public:
  Attention(int heads, int width, const engine::solo::Kernels<T>& kernels);

  void make_room(int samples, int length);

  const T* forward(const T* queries, const T* keys, const T* values);
  // Of the last forward, from the gradient of what was found; overwrites the others.
  void backward(const T* dfound, T* dqueries, T* dkeys, T* dvalues);

 private:
  // A token by itself finds nothing.
  bool is_alone() const { return shape_.length < 2; }

  const engine::solo::Kernels<T>& kernels_;
  engine::solo::AttentionShape<T> shape_;
  AlignedVector<T> lanes_, shares_, scratch_;
  AlignedVector<T> found_;
};

}  // namespace modlab::models
