#pragma once

#include "engine/solo/kernels.h"

namespace modlab::models {

// Rows of scores become rows of shares that sum to 1, [row][padded module]; padding is 0. In place.
template <typename T>
void softmax_rows(const engine::solo::Kernels<T>& kernels, T* values, int rows, int modules);

// The gradient of the scores from that of the shares, of one row; both may be the same.
template <typename T>
void softmax_gradient(const T* shares, const T* dshares, int modules, T* dscores);

}  // namespace modlab::models
