#include "engine/solo/masked_kernels.h"

// Includes this file once for each target, see the CMake definitions for which.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/solo/masked_kernels.cc"
#include "hwy/foreach_target.h"

#include "engine/solo/digits-inl.h"
#include "engine/solo/flat_mask-inl.h"
#include "engine/solo/mask_draw-inl.h"
#include "engine/solo/mask_gradient-inl.h"
#include "engine/solo/masked-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
solo::MaskedKernels<T> masked_table(const char* target) {
  return {.target = target,
          .draw = &mask_draw<T>,
          .flat_draw = &flat_mask_draw<T>,
          .flat_gradient = &flat_mask_gradient<T>,
          .forward = &masked_forward<T>,
          .input_gradient = &masked_input_gradient<T>,
          .gradient = &masked_gradient<T>,
          .one_hot_forward = &one_hot_forward<T>,
          .one_hot_gradient = &one_hot_gradient<T>,
          .turn_rows = &turn_rows<T>,
          .row_sums = &row_sums<T>,
          .digit_loss = &digit_loss<T>,
          .cell_forward = &cell_forward<T>,
          .cell_backward = &cell_backward<T>,
          .scale = &scale_numbers<T>};
}

const solo::MaskedKernels<float>& masked_float_kernels(const char* target) {
  static const solo::MaskedKernels<float> kTable = masked_table<float>(target);
  return kTable;
}

#if HWY_TARGET == HWY_SCALAR
const solo::MaskedKernels<double>& masked_double_kernels() {
  static const solo::MaskedKernels<double> kTable = masked_table<double>("scalar double");
  return kTable;
}
#endif

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace modlab::engine::solo {

const MaskedKernels<float>& masked_kernels_for(const std::string& target) {
#if HWY_TARGETS & HWY_AVX3
  if (target == "avx512") {
    return N_AVX3::masked_float_kernels("avx512");
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (target == "avx2") {
    return N_AVX2::masked_float_kernels("avx2");
  }
#endif
  return N_SCALAR::masked_float_kernels("scalar");
}

const MaskedKernels<double>& masked_oracle_kernels() { return N_SCALAR::masked_double_kernels(); }

}  // namespace modlab::engine::solo
#endif
