// Fully connected layers of one network: register tiles of a few rows by a few vectors of units.

#if defined(MODLAB_ENGINE_SOLO_LAYERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_LAYERS_INL_H_
#undef MODLAB_ENGINE_SOLO_LAYERS_INL_H_
#else
#define MODLAB_ENGINE_SOLO_LAYERS_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// A tile is kTileRows x kTileVectors accumulators: as many as leave registers for a row of weights and a factor.
inline constexpr int kTileRows = 6;
#if HWY_TARGET == HWY_AVX3
inline constexpr int kTileVectors = 4;
#else
inline constexpr int kTileVectors = 2;
#endif

// sums[r][v] = start[v] + sum over k of x[r][k] * w[k][v], for rows of x `x_stride` apart and w `w_stride` apart.
template <typename T, int kRows, int kVectors>
HWY_INLINE void multiply_tile(const T* HWY_RESTRICT x, std::size_t x_stride, const T* HWY_RESTRICT w,
                              std::size_t w_stride, int count, const T* start, Vector<T> (&sums)[kRows][kVectors]) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  MODLAB_UNROLL
  for (int vector = 0; vector < kVectors; ++vector) {
    const auto first = start == nullptr ? hn::Zero(d) : hn::Load(d, start + vector * lanes);
    MODLAB_UNROLL
    for (int row = 0; row < kRows; ++row) {
      sums[row][vector] = first;
    }
  }
  for (int index = 0; index < count; ++index) {
    Vector<T> weights[kVectors];
    MODLAB_UNROLL
    for (int vector = 0; vector < kVectors; ++vector) {
      weights[vector] = hn::Load(d, w + index * w_stride + vector * lanes);
    }
    MODLAB_UNROLL
    for (int row = 0; row < kRows; ++row) {
      const auto factor = hn::Set(d, x[row * x_stride + index]);
      MODLAB_UNROLL
      for (int vector = 0; vector < kVectors; ++vector) {
        sums[row][vector] = fused(factor, weights[vector], sums[row][vector]);
      }
    }
  }
}

// Calls tile<kRows, kVectors>(row, unit) for tiles that cover `rows` rows and `units` (padded) units.
template <typename T, typename Tile>
HWY_INLINE void cover(int rows, int units, const Tile& tile) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  int unit = 0;
  const auto down = [&]<int kVectors>() HWY_ATTR {
    int row = 0;
    for (; row + kTileRows <= rows; row += kTileRows) {
      tile.template operator()<kTileRows, kVectors>(row, unit);
    }
    for (; row < rows; ++row) {
      tile.template operator()<1, kVectors>(row, unit);
    }
  };
  for (; unit + kTileVectors * lanes <= units; unit += kTileVectors * lanes) {
    down.template operator()<kTileVectors>();
  }
  for (; unit < units; unit += lanes) {
    down.template operator()<1>();
  }
}

template <typename T>
void layer_forward(const solo::LayerForward<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int units = solo::padded(a.out);
  cover<T>(a.rows, units, [&]<int kRows, int kVectors>(int row, int unit) HWY_ATTR {
    Vector<T> sums[kRows][kVectors];
    multiply_tile<T, kRows, kVectors>(a.x + static_cast<std::size_t>(row) * a.x_stride, a.x_stride, a.weights + unit,
                                      units, a.in, a.bias == nullptr ? nullptr : a.bias + unit, sums);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const auto y = a.relu ? relu(hn::Zero(d), sums[r][v]) : sums[r][v];
        hn::Store(y, d, a.y + static_cast<std::size_t>(row + r) * units + unit + v * lanes);
      }
    }
  });
}

template <typename T>
void layer_input_gradient(const solo::LayerInputGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int inputs = solo::padded(a.in);
  const int outputs = solo::padded(a.out);
  cover<T>(a.rows, inputs, [&]<int kRows, int kVectors>(int row, int unit) HWY_ATTR {
    Vector<T> sums[kRows][kVectors];
    multiply_tile<T, kRows, kVectors>(a.dy + static_cast<std::size_t>(row) * outputs, outputs, a.transposed + unit,
                                      inputs, a.out, nullptr, sums);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const std::size_t at = static_cast<std::size_t>(row + r) * inputs + unit + v * lanes;
        auto dx = sums[r][v];
        if (a.x != nullptr) {
          dx = hn::IfThenElseZero(hn::Gt(hn::Load(d, a.x + at), hn::Zero(d)), dx);
        }
        hn::Store(dx, d, a.dx + at);
      }
    }
  });
}

// Here a tile is kRows inputs by kVectors vectors of units, and the sum runs over rows.
template <typename T>
void layer_weight_gradient(const solo::LayerWeightGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int units = solo::padded(a.out);
  cover<T>(a.in, units, [&]<int kRows, int kVectors>(int input, int unit) HWY_ATTR {
    Vector<T> sums[kRows][kVectors];
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::Load(d, a.weights + static_cast<std::size_t>(input + r) * units + unit + v * lanes);
      }
    }
    const T* HWY_RESTRICT x = a.x + input;
    const T* HWY_RESTRICT dy = a.dy + unit;
    for (int row = 0; row < a.rows; ++row, x += a.x_stride, dy += units) {
      Vector<T> upstream[kVectors];
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        upstream[v] = hn::Load(d, dy + v * lanes);
      }
      MODLAB_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const auto factor = hn::Set(d, x[r]);
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = fused(factor, upstream[v], sums[r][v]);
        }
      }
    }
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::Store(sums[r][v], d, a.weights + static_cast<std::size_t>(input + r) * units + unit + v * lanes);
      }
    }
  });
  for (int unit = 0; unit < units && a.bias != nullptr; unit += static_cast<int>(lanes)) {
    auto sum = hn::Load(d, a.bias + unit);
    for (int row = 0; row < a.rows; ++row) {
      sum = hn::Add(sum, hn::Load(d, a.dy + static_cast<std::size_t>(row) * units + unit));
    }
    hn::Store(sum, d, a.bias + unit);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
