// Products with masked weights: register tiles of a few units (or inputs) by a few vectors of rows.

#if defined(MODLAB_ENGINE_SOLO_MASKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#undef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASKED_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/masked_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// What a tile takes at once: a piece of so many inputs (or units) of masked weights fills a sixth of the first cache
// level, the rows that it is multiplied with a third.
inline constexpr int kPieceLength = 128;
inline constexpr int kMaskTile = kRegisters == 32 ? 8 : 4;
// Vectors of a panel, and the widest tile of one vector of rows.
template <typename T>
inline constexpr int kPanelVectors = solo::kUnitPad / static_cast<int>(hn::MaxLanes(Tag<T>()));

// The part of a panel's bits that belongs to the vector that begins with `lane`.
template <typename T>
HWY_INLINE hn::Mask<Tag<T>> mask_of(const std::uint16_t& bits, int lane) {
  const Tag<T> d;
#if HWY_TARGET == HWY_SCALAR
  return hn::FirstN(d, static_cast<std::size_t>(bits >> lane & 1));
#else
  return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits) + lane / 8);
#endif
}

// to = from where bits say so, of `count` rows of kUnitPad numbers; rows of `bits` are `samples` apart.
template <typename T>
HWY_INLINE void keep_rows(const T* HWY_RESTRICT from, const std::uint16_t* HWY_RESTRICT bits, int samples, int count,
                          T* HWY_RESTRICT to) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int row = 0; row < count; ++row, from += solo::kUnitPad, to += solo::kUnitPad, bits += samples) {
    MODLAB_UNROLL
    for (int lane = 0; lane < solo::kUnitPad; lane += lanes) {
      hn::Store(hn::IfThenElseZero(mask_of<T>(*bits, lane), hn::Load(d, from + lane)), d, to + lane);
    }
  }
}

// sums[f][v] += sum over index of factors[index, f] * vectors[index, v], each with the given distances.
template <typename T, int kFactors, int kVectors>
HWY_INLINE void add_products(const T* HWY_RESTRICT factors, std::ptrdiff_t factor_step, std::ptrdiff_t factor_stride,
                             const T* HWY_RESTRICT vectors, std::ptrdiff_t vector_step, std::ptrdiff_t vector_stride,
                             int count, Vector<T> (&sums)[kFactors][kVectors]) {
  const Tag<T> d;
  for (int index = 0; index < count; ++index, factors += factor_step, vectors += vector_step) {
    Vector<T> vector[kVectors];
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      vector[v] = hn::Load(d, vectors + v * vector_stride);
    }
    MODLAB_UNROLL
    for (int f = 0; f < kFactors; ++f) {
      const auto factor = hn::Set(d, factors[f * factor_stride]);
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[f][v] = fused(factor, vector[v], sums[f][v]);
      }
    }
  }
}

// Calls work(block) for the blocks of a sample.
template <typename Work>
HWY_INLINE void for_blocks(const solo::RowBlocks& blocks, int sample, const Work& work) {
  for (int time = 0; time < blocks.times; ++time) {
    for (int block = 0; block < blocks.each; ++block) {
      work((time * blocks.samples + sample) * static_cast<std::ptrdiff_t>(blocks.each) + block);
    }
  }
}

// Calls tile<kFactors, kVectors>(factor, row) for tiles that cover `factors` (a multiple of kInputPad) by `width` rows.
template <typename T, typename Tile>
HWY_INLINE void cover_block(int factors, int width, const Tile& tile) {
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  if (width < 2 * lanes) {
    for (int factor = 0; factor < factors; factor += kMaskTile) {
      tile.template operator()<kMaskTile, 1>(factor, 0);
    }
    return;
  }
  for (int row = 0; row < width; row += 2 * lanes) {
    for (int factor = 0; factor < factors; factor += kMaskTile) {
      tile.template operator()<kMaskTile, 2>(factor, row);
    }
  }
}

template <typename T>
void masked_forward(const solo::MaskedForward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int inputs = a.weights.inputs;
  const int width = a.blocks.width;
  const std::ptrdiff_t below = static_cast<std::ptrdiff_t>(solo::padded(inputs)) * width;
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(solo::padded(a.weights.units)) * width;
  alignas(64) T room[kPieceLength * kPad];
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(inputs);
    for (int first = 0; first < inputs; first += kPieceLength) {
      const int count = inputs - first < kPieceLength ? inputs - first : kPieceLength;
      const bool is_last = first + count == inputs;
      for (int sample = 0; sample < a.blocks.samples; ++sample) {
        const T* piece = a.weights.values + (panel_row + first) * kPad;
        if (a.weights.bits != nullptr) {
          const std::uint16_t* bits = a.weights.bits + (panel_row + first) * a.blocks.samples + sample;
          keep_rows(piece, bits, a.blocks.samples, count, room);
          piece = room;
        }
        for_blocks(a.blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
          const T* x = a.x + block * below + static_cast<std::ptrdiff_t>(first) * width;
          const std::ptrdiff_t panel_at = block * above + static_cast<std::ptrdiff_t>(panel) * kPad * width;
          cover_block<T>(kPad, width, [&]<int kUnits, int kVectors>(int unit, int row) HWY_ATTR {
            Vector<T> sums[kUnits][kVectors];
            const std::ptrdiff_t at = panel_at + static_cast<std::ptrdiff_t>(unit) * width + row;
            const T* from = first > 0 ? a.y : a.start;
            MODLAB_UNROLL
            for (int u = 0; u < kUnits; ++u) {
              MODLAB_UNROLL
              for (int v = 0; v < kVectors; ++v) {
                sums[u][v] = from != nullptr ? hn::Load(d, from + at + u * width + v * lanes)
                                             : hn::Set(d, a.bias[panel * kPad + unit + u]);
              }
            }
            add_products<T, kUnits, kVectors>(piece + unit, kPad, 1, x + row, width, lanes, count, sums);
            MODLAB_UNROLL
            for (int u = 0; u < kUnits; ++u) {
              MODLAB_UNROLL
              for (int v = 0; v < kVectors; ++v) {
                const auto y = is_last && a.relu ? relu(hn::Zero(d), sums[u][v]) : sums[u][v];
                hn::Store(y, d, a.y + at + u * width + v * lanes);
              }
            }
          });
        });
      }
    }
  }
}

template <typename T>
void masked_input_gradient(const solo::MaskedInputGradient<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  constexpr int kPanels = kPieceLength / kPad;
  const int width = a.blocks.width;
  const int panels = solo::panel_count(a.weights.units);
  const int left = solo::padded_inputs(a.weights.inputs) - a.first_input;
  const int inputs = left < kPad ? left : kPad;
  const std::ptrdiff_t below = static_cast<std::ptrdiff_t>(solo::padded(a.weights.inputs)) * width;
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(panels) * kPad * width;
  alignas(64) T room[kPanels * kPad * kPad];
  for (int first = 0; first < panels; first += kPanels) {
    const int last = panels - first < kPanels ? panels : first + kPanels;
    for (int sample = 0; sample < a.blocks.samples; ++sample) {
      const T* piece = a.weights.values + first * a.weights.panel_size() + a.first_input * kPad;
      std::ptrdiff_t panel_stride = a.weights.panel_size();
      if (a.weights.bits != nullptr) {
        for (int panel = first; panel < last; ++panel) {
          const std::ptrdiff_t row =
              static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(a.weights.inputs) + a.first_input;
          keep_rows(a.weights.values + row * kPad, a.weights.bits + row * a.blocks.samples + sample, a.blocks.samples,
                    inputs, room + (panel - first) * kPad * kPad);
        }
        piece = room;
        panel_stride = kPad * kPad;
      }
      for_blocks(a.blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
        const T* dy = a.dy + block * above + static_cast<std::ptrdiff_t>(first) * kPad * width;
        cover_block<T>(inputs, width, [&]<int kInputs, int kVectors>(int input, int row) HWY_ATTR {
          Vector<T> sums[kInputs][kVectors];
          const std::ptrdiff_t at = block * below + static_cast<std::ptrdiff_t>(a.first_input + input) * width + row;
          const T* from = first > 0 ? a.dx : a.start;
          MODLAB_UNROLL
          for (int i = 0; i < kInputs; ++i) {
            MODLAB_UNROLL
            for (int v = 0; v < kVectors; ++v) {
              sums[i][v] = from != nullptr ? hn::Load(d, from + at + i * width + v * lanes) : hn::Zero(d);
            }
          }
          for (int panel = 0; panel < last - first; ++panel) {
            add_products<T, kInputs, kVectors>(piece + panel * panel_stride + input * kPad, 1, kPad,
                                               dy + static_cast<std::ptrdiff_t>(panel) * kPad * width + row, width,
                                               lanes, kPad, sums);
          }
          MODLAB_UNROLL
          for (int i = 0; i < kInputs; ++i) {
            MODLAB_UNROLL
            for (int v = 0; v < kVectors; ++v) {
              auto dx = sums[i][v];
              const std::ptrdiff_t place = at + i * width + v * lanes;
              if (last == panels && a.x != nullptr) {
                dx = hn::IfThenElseZero(hn::Gt(hn::Load(d, a.x + place), hn::Zero(d)), dx);
              }
              hn::Store(dx, d, a.dx + place);
            }
          }
        });
      });
    }
  }
}

template <typename T>
void one_hot_forward(const solo::OneHotForward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(solo::padded(a.weights.units)) * width;
  alignas(64) T row_units[kPad];
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(a.weights.inputs);
    for (int block = 0; block < a.blocks.count(); ++block) {
      const int sample = block / a.blocks.each % a.blocks.samples;
      const std::uint16_t* active = a.x.inputs + static_cast<std::ptrdiff_t>(block) * width * a.x.active;
      T* y = a.y + block * above + static_cast<std::ptrdiff_t>(panel) * kPad * width;
      for (int row = 0; row < width; ++row, active += a.x.active) {
        Vector<T> sums[kPanelVectors<T>];
        MODLAB_UNROLL
        for (int v = 0; v < kPanelVectors<T>; ++v) {
          sums[v] = hn::Load(d, a.bias + panel * kPad + v * lanes);
        }
        for (int place = 0; place < a.x.active; ++place) {
          if (active[place] == a.x.none) {
            continue;
          }
          const std::ptrdiff_t input = panel_row + active[place];
          MODLAB_UNROLL
          for (int v = 0; v < kPanelVectors<T>; ++v) {
            auto weight = hn::Load(d, a.weights.values + input * kPad + v * lanes);
            if (a.weights.bits != nullptr) {
              weight = hn::IfThenElseZero(mask_of<T>(a.weights.bits[input * a.blocks.samples + sample], v * lanes),
                                          weight);
            }
            sums[v] = hn::Add(sums[v], weight);
          }
        }
        MODLAB_UNROLL
        for (int v = 0; v < kPanelVectors<T>; ++v) {
          hn::Store(a.relu ? relu(hn::Zero(d), sums[v]) : sums[v], d, row_units + v * lanes);
        }
        for (int unit = 0; unit < kPad; ++unit) {
          y[unit * width + row] = row_units[unit];
        }
      }
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
