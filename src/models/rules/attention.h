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
  // From the gradient of what was found; overwrites the others.
  void backward(const T* queries, const T* keys, const T* values, const T* dfound, T* dqueries, T* dkeys, T* dvalues);

 private:
  int units() const { return heads_ * width_; }
  // How much a token attends to each of its sample.
  T* weights_of(int sample, int head, int token);

  int heads_;
  int width_;
  T scale_;
  const engine::solo::Kernels<T>& kernels_;
  int samples_ = 0;
  int length_ = 0;
  AlignedVector<T> weights_;  // [sample][head][token][padded token]
  AlignedVector<T> found_;
  AlignedVector<T> dweights_;  // of one token
};

}  // namespace modlab::models
