#pragma once

#include <torch/script.h>

namespace modlab::on_torch {

// Many small products, [..., m, k] with [..., k, n], or with [..., n, k] that is turned: what torch::matmul says of
// them. It takes longer to set up each product of a few dozen rows than to compute it, so that here they go to the BLAS
// directly, from where they lie. The two tensors have four dimensions, and numbers of the last one side by side.
torch::Tensor small_products(const torch::Tensor& left, const torch::Tensor& right, bool right_is_turned);

}  // namespace modlab::on_torch
