#include "torch/small_products.h"

// The BLAS that libtorch itself was linked with: matrices are given column by column there.
extern "C" void sgemm_(const char* turns_a, const char* turns_b, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                       const float* beta, float* c, const int* ldc);

namespace modlab::on_torch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// As a BLAS takes it: numbers of a row side by side.
torch::Tensor in_rows(const torch::Tensor& tensor) {
  return tensor.stride(-1) == 1 && tensor.stride(-2) >= tensor.size(-1) ? tensor : tensor.contiguous();
}

torch::Tensor multiply(const torch::Tensor& left, bool left_is_turned, const torch::Tensor& right,
                       bool right_is_turned) {
  if (!left.device().is_cpu()) {
    return torch::matmul(left_is_turned ? left.transpose(-1, -2) : left,
                         right_is_turned ? right.transpose(-1, -2) : right);
  }
  const torch::Tensor a = in_rows(left);
  const torch::Tensor b = in_rows(right);
  const auto m = static_cast<int>(a.size(left_is_turned ? 3 : 2));
  const auto k = static_cast<int>(a.size(left_is_turned ? 2 : 3));
  const auto n = static_cast<int>(b.size(right_is_turned ? 2 : 3));
  torch::Tensor product = torch::empty({a.size(0), a.size(1), m, n}, a.options());
  const auto lda = static_cast<int>(a.stride(2));
  const auto ldb = static_cast<int>(b.stride(2));
  constexpr float kOne = 1;
  constexpr float kZero = 0;
  float* to = product.data_ptr<float>();
  for (std::int64_t outer = 0; outer < a.size(0); ++outer) {
    for (std::int64_t inner = 0; inner < a.size(1); ++inner) {
      const float* from_a = a.data_ptr<float>() + outer * a.stride(0) + inner * a.stride(1);
      const float* from_b = b.data_ptr<float>() + outer * b.stride(0) + inner * b.stride(1);
      // Rows of ours are columns there, so that the product's two sides change places.
      sgemm_(right_is_turned ? "T" : "N", left_is_turned ? "T" : "N", &n, &m, &k, &kOne, from_b, &ldb, from_a, &lda,
             &kZero, to, &n);
      to += static_cast<std::int64_t>(m) * n;
    }
  }
  return product;
}

struct SmallProducts : torch::autograd::Function<SmallProducts> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& left, const torch::Tensor& right,
                               bool right_is_turned) {
    context->save_for_backward({left, right});
    context->saved_data["right_is_turned"] = right_is_turned;
    return multiply(left, false, right, right_is_turned);
  }

  static tensor_list backward(AutogradContext* context, tensor_list given) {
    const tensor_list saved = context->get_saved_variables();
    const bool right_is_turned = context->saved_data["right_is_turned"].toBool();
    const torch::Tensor gradient = given[0];
    return {multiply(gradient, false, saved[1], !right_is_turned),
            right_is_turned ? multiply(gradient, true, saved[0], false) : multiply(saved[0], true, gradient, false),
            torch::Tensor()};
  }
};

}  // namespace

torch::Tensor small_products(const torch::Tensor& left, const torch::Tensor& right, bool right_is_turned) {
  return SmallProducts::apply(left, right, right_is_turned);
}

}  // namespace modlab::on_torch
