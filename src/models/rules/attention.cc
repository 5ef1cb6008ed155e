#include "models/rules/attention.h"

#include <algorithm>
#include <cmath>

namespace modlab::models {

using engine::solo::padded;

template <typename T>
Attention<T>::Attention(int heads, int width, const engine::solo::Kernels<T>& kernels)
    : kernels_(kernels),
      shape_{.samples = 0,
             .length = 0,
             .heads = heads,
             .width = width,
             .stride = padded(heads * width),
             .scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(width)))} {}

template <typename T>
void Attention<T>::make_room(int samples, int length) {
  shape_.samples = samples;
  shape_.length = length;
  found_.assign(static_cast<std::size_t>(samples) * length * shape_.stride, T{0});
  lanes_.resize(shape_.lanes_size());
  shares_.resize(shape_.shares_size());
  scratch_.resize(shape_.scratch_size());
}

template <typename T>
const T* Attention<T>::forward(const T* queries, const T* keys, const T* values) {
  if (!is_alone()) {
    kernels_.attention_forward({.shape = shape_,
                                .queries = queries,
                                .keys = keys,
                                .values = values,
                                .found = found_.data(),
                                .lanes = lanes_.data(),
                                .shares = shares_.data(),
                                .scratch = scratch_.data()});
  }
  return found_.data();
}

template <typename T>
void Attention<T>::backward(const T* dfound, T* dqueries, T* dkeys, T* dvalues) {
  if (is_alone()) {
    for (T* cleared : {dqueries, dkeys, dvalues}) {
      std::fill_n(cleared, found_.size(), T{0});
    }
    return;
  }
  kernels_.attention_backward({.shape = shape_,
                               .dfound = dfound,
                               .dqueries = dqueries,
                               .dkeys = dkeys,
                               .dvalues = dvalues,
                               .lanes = lanes_.data(),
                               .shares = shares_.data(),
                               .scratch = scratch_.data()});
}

template class Attention<float>;
template class Attention<double>;

}  // namespace modlab::models
