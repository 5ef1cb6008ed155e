// Dense layers in register tiles: a tile of outputs by rows stays in registers while the inputs (or the rows, for the
// weight gradient) stream by. Tile sizes change speed, never the order of a sum; a tile is as large as registers allow.

#if defined(MODLAB_ENGINE_KERNELS_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_DENSE_INL_H_
#undef MODLAB_ENGINE_KERNELS_DENSE_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_DENSE_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// How wide a tile of so many units may be: its sums, a value for each column and one weight need a register each.
constexpr int widest_tile(int units) {
  for (const int width : {6, 4, 2}) {
    if ((units + 1) * width + 1 <= kRegisters) {
      return width;
    }
  }
  return 1;
}

template <typename T, int kOuts, int kRows>
HWY_INLINE void dense_forward_tile(const DenseForward<T>& a, int out, int row) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> sum[kOuts][kRows];
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    const auto bias = hn::Load(d, a.bias + (out + o) * lanes);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      sum[o][r] = bias;
    }
  }
  const T* x = a.x.data + row * lanes;
  const T* w = a.weights + static_cast<std::size_t>(out) * a.in * lanes;
  const std::size_t out_stride = static_cast<std::size_t>(a.in) * lanes;
  for (int in = 0; in < a.in; ++in) {
    Vector<T> value[kRows];
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      value[r] = hn::Load(d, x + r * lanes);
    }
    MODLAB_UNROLL
    for (int o = 0; o < kOuts; ++o) {
      const auto weight = hn::Load(d, w + o * out_stride);
      MODLAB_UNROLL
      for (int r = 0; r < kRows; ++r) {
        sum[o][r] = fused(weight, value[r], sum[o][r]);
      }
    }
    x += a.x.stride;
    w += lanes;
  }
  const auto zero = hn::Zero(d);
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    T* y = a.y.unit(out + o) + row * lanes;
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      hn::Store(a.relu ? relu(zero, sum[o][r]) : sum[o][r], d, y + r * lanes);
    }
  }
}

template <typename T, int kOuts>
HWY_INLINE void dense_forward_outs(const DenseForward<T>& a, int out, int begin, int end) {
  int row = begin;
  for (; widest_tile(kOuts) >= 4 && row + 4 <= end; row += 4) {
    dense_forward_tile<T, kOuts, 4>(a, out, row);
  }
  for (; row + 2 <= end; row += 2) {
    dense_forward_tile<T, kOuts, 2>(a, out, row);
  }
  for (; row < end; ++row) {
    dense_forward_tile<T, kOuts, 1>(a, out, row);
  }
}

// Rows in groups small enough that their activations stay in the first cache level while all weights stream by.
inline constexpr int kDenseRowGroup = 8;

template <typename T>
void dense_forward(const DenseForward<T>& a) {
  for (int begin = 0; begin < a.rows; begin += kDenseRowGroup) {
    const int end = begin + kDenseRowGroup < a.rows ? begin + kDenseRowGroup : a.rows;
    int out = 0;
    for (; out + 6 <= a.out; out += 6) {
      dense_forward_outs<T, 6>(a, out, begin, end);
    }
    for (; out + 4 <= a.out; out += 4) {
      dense_forward_outs<T, 4>(a, out, begin, end);
    }
    for (; out + 2 <= a.out; out += 2) {
      dense_forward_outs<T, 2>(a, out, begin, end);
    }
    for (; out < a.out; ++out) {
      dense_forward_outs<T, 1>(a, out, begin, end);
    }
  }
}

template <typename T, int kIns, int kRows>
HWY_INLINE void dense_input_gradient_tile(const DenseInputGradient<T>& a, int in, int row) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> sum[kIns][kRows];
  MODLAB_UNROLL
  for (int i = 0; i < kIns; ++i) {
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      sum[i][r] = hn::Zero(d);
    }
  }
  const T* dy = a.dy.data + row * lanes;
  const T* w = a.weights + in * lanes;
  for (int out = 0; out < a.out; ++out) {
    Vector<T> value[kRows];
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      value[r] = hn::Load(d, dy + r * lanes);
    }
    MODLAB_UNROLL
    for (int i = 0; i < kIns; ++i) {
      const auto weight = hn::Load(d, w + i * lanes);
      MODLAB_UNROLL
      for (int r = 0; r < kRows; ++r) {
        sum[i][r] = fused(weight, value[r], sum[i][r]);
      }
    }
    dy += a.dy.stride;
    w += static_cast<std::size_t>(a.in) * lanes;
  }
  const auto zero = hn::Zero(d);
  MODLAB_UNROLL
  for (int i = 0; i < kIns; ++i) {
    T* dx = a.dx.unit(in + i) + row * lanes;
    const T* x = a.x.unit(in + i) + row * lanes;
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      auto value = sum[i][r];
      if (a.relu) {
        value = hn::IfThenElseZero(hn::Gt(hn::Load(d, x + r * lanes), zero), value);
      }
      hn::Store(value, d, dx + r * lanes);
    }
  }
}

template <typename T, int kIns>
HWY_INLINE void dense_input_gradient_ins(const DenseInputGradient<T>& a, int in, int begin, int end) {
  int row = begin;
  for (; widest_tile(kIns) >= 4 && row + 4 <= end; row += 4) {
    dense_input_gradient_tile<T, kIns, 4>(a, in, row);
  }
  for (; row + 2 <= end; row += 2) {
    dense_input_gradient_tile<T, kIns, 2>(a, in, row);
  }
  for (; row < end; ++row) {
    dense_input_gradient_tile<T, kIns, 1>(a, in, row);
  }
}

template <typename T>
void dense_input_gradient(const DenseInputGradient<T>& a) {
  for (int begin = 0; begin < a.rows; begin += kDenseRowGroup) {
    const int end = begin + kDenseRowGroup < a.rows ? begin + kDenseRowGroup : a.rows;
    int in = 0;
    for (; in + 6 <= a.in; in += 6) {
      dense_input_gradient_ins<T, 6>(a, in, begin, end);
    }
    for (; in + 4 <= a.in; in += 4) {
      dense_input_gradient_ins<T, 4>(a, in, begin, end);
    }
    for (; in + 2 <= a.in; in += 2) {
      dense_input_gradient_ins<T, 2>(a, in, begin, end);
    }
    for (; in < a.in; ++in) {
      dense_input_gradient_ins<T, 1>(a, in, begin, end);
    }
  }
}

template <typename T, int kOuts, int kIns>
HWY_INLINE void dense_weight_gradient_tile(const DenseWeightGradient<T>& a, int out, int in) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> sum[kOuts][kIns];
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    MODLAB_UNROLL
    for (int i = 0; i < kIns; ++i) {
      sum[o][i] = hn::Zero(d);
    }
  }
  for (int row = 0; row < a.rows; ++row) {
    Vector<T> x[kIns];
    MODLAB_UNROLL
    for (int i = 0; i < kIns; ++i) {
      x[i] = hn::Load(d, a.x.unit(in + i) + row * lanes);
    }
    MODLAB_UNROLL
    for (int o = 0; o < kOuts; ++o) {
      const auto dy = hn::Load(d, a.dy.unit(out + o) + row * lanes);
      MODLAB_UNROLL
      for (int i = 0; i < kIns; ++i) {
        sum[o][i] = fused(dy, x[i], sum[o][i]);
      }
    }
  }
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    MODLAB_UNROLL
    for (int i = 0; i < kIns; ++i) {
      T* weight = a.weights + (static_cast<std::size_t>(out + o) * a.in + in + i) * lanes;
      hn::Store(hn::Add(sum[o][i], hn::Load(d, weight)), d, weight);
    }
  }
}

template <typename T, int kOuts>
HWY_INLINE void dense_weight_gradient_outs(const DenseWeightGradient<T>& a, int out) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  int in = 0;
  for (; widest_tile(kOuts) >= 6 && in + 6 <= a.in; in += 6) {
    dense_weight_gradient_tile<T, kOuts, 6>(a, out, in);
  }
  for (; widest_tile(kOuts) >= 4 && in + 4 <= a.in; in += 4) {
    dense_weight_gradient_tile<T, kOuts, 4>(a, out, in);
  }
  for (; in + 2 <= a.in; in += 2) {
    dense_weight_gradient_tile<T, kOuts, 2>(a, out, in);
  }
  for (; in < a.in; ++in) {
    dense_weight_gradient_tile<T, kOuts, 1>(a, out, in);
  }
  // All outputs side by side: one sum alone would wait for itself at every row.
  Vector<T> sum[kOuts];
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    sum[o] = hn::Load(d, a.bias + (out + o) * lanes);
  }
  for (int row = 0; row < a.rows; ++row) {
    MODLAB_UNROLL
    for (int o = 0; o < kOuts; ++o) {
      sum[o] = hn::Add(sum[o], hn::Load(d, a.dy.unit(out + o) + row * lanes));
    }
  }
  MODLAB_UNROLL
  for (int o = 0; o < kOuts; ++o) {
    hn::Store(sum[o], d, a.bias + (out + o) * lanes);
  }
}

template <typename T>
void dense_weight_gradient(const DenseWeightGradient<T>& a) {
  int out = 0;
  // With few registers six by two, with many four by six.
  for (; widest_tile(4) < 6 && out + 6 <= a.out; out += 6) {
    dense_weight_gradient_outs<T, 6>(a, out);
  }
  for (; out + 4 <= a.out; out += 4) {
    dense_weight_gradient_outs<T, 4>(a, out);
  }
  for (; out + 2 <= a.out; out += 2) {
    dense_weight_gradient_outs<T, 2>(a, out);
  }
  for (; out < a.out; ++out) {
    dense_weight_gradient_outs<T, 1>(a, out);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
