// The small module of the papers (2-12-1): one hidden layer, one output. A tile of rows stays in registers while the
// hidden units stream by; the backward pass computes the hidden values again, which is cheaper than fetching them.

#if defined(MODLAB_ENGINE_KERNELS_MODULE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_MODULE_INL_H_
#undef MODLAB_ENGINE_KERNELS_MODULE_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_MODULE_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T, int kFanIn, int kRows>
HWY_INLINE void module_forward_tile(const ModuleForward<T>& a, int row) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* w1 = a.parameters;
  const T* b1 = w1 + static_cast<std::size_t>(a.hidden) * kFanIn * lanes;
  const T* w2 = b1 + a.hidden * lanes;
  const auto zero = hn::Zero(d);
  Vector<T> z[kFanIn][kRows];
  MODLAB_UNROLL
  for (int k = 0; k < kFanIn; ++k) {
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      z[k][r] = hn::Load(d, a.z.unit(k) + (row + r) * lanes);
    }
  }
  Vector<T> sum[kRows];
  const auto b2 = hn::Load(d, w2 + a.hidden * lanes);
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    sum[r] = b2;
  }
  for (int unit = 0; unit < a.hidden; ++unit) {
    Vector<T> weight[kFanIn];
    MODLAB_UNROLL
    for (int k = 0; k < kFanIn; ++k) {
      weight[k] = hn::Load(d, w1 + (unit * kFanIn + k) * lanes);
    }
    const auto bias = hn::Load(d, b1 + unit * lanes);
    const auto out_weight = hn::Load(d, w2 + unit * lanes);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      auto hidden = bias;
      MODLAB_UNROLL
      for (int k = 0; k < kFanIn; ++k) {
        hidden = fused(weight[k], z[k][r], hidden);
      }
      sum[r] = fused(out_weight, relu(zero, hidden), sum[r]);
    }
  }
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    hn::Store(sum[r], d, a.out + (row + r) * lanes);
  }
}

template <typename T, int kFanIn>
void module_forward_fan_in(const ModuleForward<T>& a) {
  constexpr int kTile = kFanIn <= 2 ? 8 : 4;
  int row = 0;
  for (; row + kTile <= a.rows; row += kTile) {
    module_forward_tile<T, kFanIn, kTile>(a, row);
  }
  if (kTile == 8 && row + 4 <= a.rows) {
    module_forward_tile<T, kFanIn, 4>(a, row);
    row += 4;
  }
  if (row + 2 <= a.rows) {
    module_forward_tile<T, kFanIn, 2>(a, row);
    row += 2;
  }
  if (row < a.rows) {
    module_forward_tile<T, kFanIn, 1>(a, row);
  }
}

template <typename T>
void module_forward(const ModuleForward<T>& a) {
  switch (a.fan_in) {
    case 1:
      return module_forward_fan_in<T, 1>(a);
    case 2:
      return module_forward_fan_in<T, 2>(a);
    case 3:
      return module_forward_fan_in<T, 3>(a);
    default:
      return module_forward_fan_in<T, 4>(a);
  }
}

// The sum so far, or zero on the first rows of gradients that are to be overwritten.
template <typename T, bool kFresh>
HWY_INLINE Vector<T> sum_so_far(const T* gradient) {
  return kFresh ? hn::Zero(Tag<T>()) : hn::Load(Tag<T>(), gradient);
}

template <typename T, int kFanIn, int kRows, bool kFresh>
HWY_INLINE void module_backward_tile(const ModuleBackward<T>& a, int row) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t b1 = static_cast<std::size_t>(a.hidden) * kFanIn * lanes;
  const std::size_t w2 = b1 + a.hidden * lanes;
  const std::size_t b2 = w2 + a.hidden * lanes;
  const auto zero = hn::Zero(d);
  Vector<T> z[kFanIn][kRows];
  Vector<T> dz[kFanIn][kRows];
  Vector<T> dout[kRows];
  auto db2 = sum_so_far<T, kFresh>(a.gradients + b2);
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    dout[r] = hn::Load(d, a.dout + (row + r) * lanes);
    db2 = hn::Add(db2, dout[r]);
    MODLAB_UNROLL
    for (int k = 0; k < kFanIn; ++k) {
      z[k][r] = hn::Load(d, a.z.unit(k) + (row + r) * lanes);
      dz[k][r] = zero;
    }
  }
  hn::Store(db2, d, a.gradients + b2);
  for (int unit = 0; unit < a.hidden; ++unit) {
    const std::size_t in_weight = unit * kFanIn * lanes;
    Vector<T> weight[kFanIn];
    Vector<T> dweight[kFanIn];
    MODLAB_UNROLL
    for (int k = 0; k < kFanIn; ++k) {
      weight[k] = hn::Load(d, a.parameters + in_weight + k * lanes);
      dweight[k] = sum_so_far<T, kFresh>(a.gradients + in_weight + k * lanes);
    }
    const auto bias = hn::Load(d, a.parameters + b1 + unit * lanes);
    const auto out_weight = hn::Load(d, a.parameters + w2 + unit * lanes);
    auto dbias = sum_so_far<T, kFresh>(a.gradients + b1 + unit * lanes);
    auto dout_weight = sum_so_far<T, kFresh>(a.gradients + w2 + unit * lanes);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      auto hidden = bias;
      MODLAB_UNROLL
      for (int k = 0; k < kFanIn; ++k) {
        hidden = fused(weight[k], z[k][r], hidden);
      }
      const auto is_on = hn::Gt(hidden, zero);
      const auto dhidden = hn::IfThenElseZero(is_on, hn::Mul(out_weight, dout[r]));
      dout_weight = hn::IfThenElse(is_on, fused(dout[r], hidden, dout_weight), dout_weight);
      dbias = hn::Add(dbias, dhidden);
      MODLAB_UNROLL
      for (int k = 0; k < kFanIn; ++k) {
        dweight[k] = fused(dhidden, z[k][r], dweight[k]);
        dz[k][r] = fused(dhidden, weight[k], dz[k][r]);
      }
    }
    MODLAB_UNROLL
    for (int k = 0; k < kFanIn; ++k) {
      hn::Store(dweight[k], d, a.gradients + in_weight + k * lanes);
    }
    hn::Store(dbias, d, a.gradients + b1 + unit * lanes);
    hn::Store(dout_weight, d, a.gradients + w2 + unit * lanes);
  }
  MODLAB_UNROLL
  for (int k = 0; k < kFanIn; ++k) {
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      hn::Store(dz[k][r], d, a.dz.unit(k) + (row + r) * lanes);
    }
  }
}

template <typename T, int kFanIn, int kRows>
HWY_INLINE void module_backward_rows(const ModuleBackward<T>& a, int row) {
  if (a.overwrite && row == 0) {
    module_backward_tile<T, kFanIn, kRows, true>(a, row);
  } else {
    module_backward_tile<T, kFanIn, kRows, false>(a, row);
  }
}

template <typename T, int kFanIn>
void module_backward_fan_in(const ModuleBackward<T>& a) {
  int row = 0;
  for (; row + 4 <= a.rows; row += 4) {
    module_backward_rows<T, kFanIn, 4>(a, row);
  }
  if (row + 2 <= a.rows) {
    module_backward_rows<T, kFanIn, 2>(a, row);
    row += 2;
  }
  if (row < a.rows) {
    module_backward_rows<T, kFanIn, 1>(a, row);
  }
}

template <typename T>
void module_backward(const ModuleBackward<T>& a) {
  switch (a.fan_in) {
    case 1:
      return module_backward_fan_in<T, 1>(a);
    case 2:
      return module_backward_fan_in<T, 2>(a);
    case 3:
      return module_backward_fan_in<T, 3>(a);
    default:
      return module_backward_fan_in<T, 4>(a);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
