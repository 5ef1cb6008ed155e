#include "models/rules/gates.h"

#include <algorithm>

namespace modlab::models {

using engine::solo::padded;

template <typename T>
void softmax_rows(const engine::solo::Kernels<T>& kernels, T* values, int rows, int modules) {
  const int stride = padded(modules);
  for (int row = 0; row < rows; ++row) {
    T* scores = values + static_cast<std::ptrdiff_t>(row) * stride;
    const T most = *std::max_element(scores, scores + modules);
    for (int module = 0; module < modules; ++module) {
      scores[module] -= most;
    }
    std::fill(scores + modules, scores + stride, T{0});
  }
  kernels.exponential(values, values, rows * stride);
  for (int row = 0; row < rows; ++row) {
    T* shares = values + static_cast<std::ptrdiff_t>(row) * stride;
    T sum = 0;
    for (int module = 0; module < modules; ++module) {
      sum += shares[module];
    }
    for (int module = 0; module < modules; ++module) {
      shares[module] /= sum;
    }
    std::fill(shares + modules, shares + stride, T{0});
  }
}

template <typename T>
void softmax_gradient(const T* shares, const T* dshares, int modules, T* dscores) {
  T mean = 0;
  for (int module = 0; module < modules; ++module) {
    mean += shares[module] * dshares[module];
  }
  for (int module = 0; module < modules; ++module) {
    dscores[module] = shares[module] * (dshares[module] - mean);
  }
}

template void softmax_rows(const engine::solo::Kernels<float>&, float*, int, int);
template void softmax_rows(const engine::solo::Kernels<double>&, double*, int, int);
template void softmax_gradient(const float*, const float*, int, float*);
template void softmax_gradient(const double*, const double*, int, double*);

}  // namespace modlab::models
