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
inline constexpr int kTileVectors = kRegisters == 32 ? 4 : 2;

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

// Rows of a wide matrix lie so far apart that a panel of a few of its columns falls on few places of the first cache
// level. Where a panel is read often enough, it is copied first: here is room for one.
inline constexpr int kPanelNumbers = 8192;
inline constexpr int kPanelUses = 4;

template <typename T>
struct Panel {
  const T* at;
  std::size_t stride;
};
template <typename T, int kVectors>
HWY_INLINE Panel<T> make_panel(const T* HWY_RESTRICT from, std::size_t stride, int count, int uses,
                               T* HWY_RESTRICT room) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t width = kVectors * lanes;
  if (stride == width || uses < kPanelUses || count * width > kPanelNumbers) {
    return {from, stride};
  }
  for (int index = 0; index < count; ++index) {
    MODLAB_UNROLL
    for (int vector = 0; vector < kVectors; ++vector) {
      hn::Store(hn::Load(d, from + index * stride + vector * lanes), d, room + index * width + vector * lanes);
    }
  }
  return {room, width};
}

// Calls tile<kRows>(row) for tiles that cover `rows` rows.
template <typename Tile>
HWY_INLINE void cover_rows(int rows, const Tile& tile) {
  int row = 0;
  for (; row + kTileRows <= rows; row += kTileRows) {
    tile.template operator()<kTileRows>(row);
  }
  switch (rows - row) {
    case 1:
      return tile.template operator()<1>(row);
    case 2:
      return tile.template operator()<2>(row);
    case 3:
      return tile.template operator()<3>(row);
    case 4:
      return tile.template operator()<4>(row);
    case 5:
      return tile.template operator()<5>(row);
    default:
      return;
  }
}

// Calls panel<kVectors>(unit) for panels that cover `units` (padded) units.
template <typename T, typename Work>
HWY_INLINE void cover_panels(int units, const Work& panel) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  int unit = 0;
  for (; unit + kTileVectors * lanes <= units; unit += kTileVectors * lanes) {
    panel.template operator()<kTileVectors>(unit);
  }
  for (; kTileVectors > 2 && unit + 2 * lanes <= units; unit += 2 * lanes) {
    panel.template operator()<2>(unit);
  }
  for (; unit < units; unit += lanes) {
    panel.template operator()<1>(unit);
  }
}

template <typename T>
void layer_forward(const solo::LayerForward<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int units = solo::padded(a.out);
  alignas(64) T room[kPanelNumbers];
  cover_panels<T>(units, [&]<int kVectors>(int unit) HWY_ATTR {
    const Panel<T> panel = make_panel<T, kVectors>(a.weights + unit, units, a.in, a.rows / kTileRows, room);
    cover_rows(a.rows, [&]<int kRows>(int row) HWY_ATTR {
      Vector<T> sums[kRows][kVectors];
      multiply_tile<T, kRows, kVectors>(a.x + static_cast<std::size_t>(row) * a.x_stride, a.x_stride, panel.at,
                                        panel.stride, a.in, a.bias == nullptr ? nullptr : a.bias + unit, sums);
      MODLAB_UNROLL
      for (int r = 0; r < kRows; ++r) {
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const auto y = a.relu ? relu(hn::Zero(d), sums[r][v]) : sums[r][v];
          hn::Store(y, d, a.y + static_cast<std::size_t>(row + r) * units + unit + v * lanes);
        }
      }
    });
  });
}

template <typename T>
void layer_input_gradient(const solo::LayerInputGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int inputs = solo::padded(a.in);
  const int outputs = solo::padded(a.out);
  alignas(64) T room[kPanelNumbers];
  cover_panels<T>(inputs, [&]<int kVectors>(int unit) HWY_ATTR {
    const Panel<T> panel = make_panel<T, kVectors>(a.transposed + unit, inputs, a.out, a.rows / kTileRows, room);
    cover_rows(a.rows, [&]<int kRows>(int row) HWY_ATTR {
      Vector<T> sums[kRows][kVectors];
      multiply_tile<T, kRows, kVectors>(a.dy + static_cast<std::size_t>(row) * outputs, outputs, panel.at, panel.stride,
                                        a.out, nullptr, sums);
      MODLAB_UNROLL
      for (int r = 0; r < kRows; ++r) {
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const std::size_t at = static_cast<std::size_t>(row + r) * inputs + unit + v * lanes;
          auto dx = sums[r][v];
          if (a.x != nullptr) {
            dx = hn::IfThenElseZero(hn::Gt(hn::Load(d, a.x + at), hn::Zero(d)), dx);
          }
          if (a.add) {
            dx = hn::Add(hn::Load(d, a.dx + at), dx);
          }
          hn::Store(dx, d, a.dx + at);
        }
      }
    });
  });
}

// Rows whose products are added to the weights' gradient at once; the sum goes on with the next ones where it was.
inline constexpr int kGradientRows = 128;

// Here a tile is kRows inputs by kVectors vectors of units, and the sum runs over rows.
template <typename T>
void layer_weight_gradient(const solo::LayerWeightGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const int units = solo::padded(a.out);
  alignas(64) T room[kPanelNumbers];
  for (int first = 0; first < a.rows; first += kGradientRows) {
    const int rows = a.rows - first < kGradientRows ? a.rows - first : kGradientRows;
    cover_panels<T>(units, [&]<int kVectors>(int unit) HWY_ATTR {
      const T* asked = a.dy + static_cast<std::size_t>(first) * units + unit;
      const Panel<T> panel = make_panel<T, kVectors>(asked, units, rows, a.in / kTileRows, room);
      cover_rows(a.in, [&]<int kRows>(int input) HWY_ATTR {
        Vector<T> sums[kRows][kVectors];
        MODLAB_UNROLL
        for (int r = 0; r < kRows; ++r) {
          MODLAB_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            sums[r][v] = hn::Load(d, a.weights + static_cast<std::size_t>(input + r) * units + unit + v * lanes);
          }
        }
        const T* HWY_RESTRICT x = a.x + static_cast<std::size_t>(first) * a.x_stride + input;
        const T* HWY_RESTRICT dy = panel.at;
        for (int row = 0; row < rows; ++row, x += a.x_stride, dy += panel.stride) {
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
      if (a.bias != nullptr) {
        Vector<T> sums[kVectors];
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[v] = hn::Load(d, a.bias + unit + v * lanes);
        }
        const T* HWY_RESTRICT dy = panel.at;
        for (int row = 0; row < rows; ++row, dy += panel.stride) {
          MODLAB_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            sums[v] = hn::Add(sums[v], hn::Load(d, dy + v * lanes));
          }
        }
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          hn::Store(sums[v], d, a.bias + unit + v * lanes);
        }
      }
    });
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
