// Products with masked weights: register tiles of a few units (or inputs) by a few vectors of rows.

#if defined(MODLAB_ENGINE_SOLO_MASKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#undef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASKED_INL_H_
#endif

#include <algorithm>

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/few_weights-inl.h"
#include "engine/solo/masked_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// Masked weights from so many inputs to so many panels fill half of the first cache level, and the rows that they are
// multiplied with a quarter: the more panels, the less often rows come from the second level.
inline constexpr int kPieceLength = 64;
inline constexpr int kPiecePanels = 4;
inline constexpr int kPieceInputs = kPiecePanels * solo::kUnitPad;  // of the same, the other way round
inline constexpr int kMaskTile = kRegisters == 32 ? 8 : 4;
// Vectors of a panel.
template <typename T>
inline constexpr int kPanelVectors = solo::kUnitPad / static_cast<int>(hn::MaxLanes(Tag<T>()));

// to = from where bits say so, of one row of kUnitPad numbers.
template <typename T>
HWY_INLINE void keep_row(const T* HWY_RESTRICT from, const std::uint16_t& bits, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  MODLAB_UNROLL
  for (int lane = 0; lane < solo::kUnitPad; lane += lanes) {
    hn::Store(hn::IfThenElseZero(bits_at(d, bits, lane), hn::Load(d, from + lane)), d, to + lane);
  }
}

// The same of `count` rows, whose bits are `samples` words apart.
template <typename T>
HWY_INLINE void keep_rows(const T* HWY_RESTRICT from, const std::uint16_t* HWY_RESTRICT bits, int samples, int count,
                          T* HWY_RESTRICT to) {
#pragma GCC unroll 4
  for (int row = 0; row < count; ++row) {
    keep_row(from + row * solo::kUnitPad, bits[static_cast<std::ptrdiff_t>(row) * samples], to + row * solo::kUnitPad);
  }
}

// Asks for a part of some rows, of which every `step`-th is in it, to be brought to the second cache level. The
// hardware foresees little of weights that are read a piece at a time, with products between the pieces.
template <typename T>
HWY_INLINE void foresee_rows(const T* rows, int count, int part, int step) {
  constexpr int kLine = 64 / static_cast<int>(sizeof(T));
  for (int row = part; row < count; row += step) {
    for (int number = 0; number < solo::kUnitPad; number += kLine) {
      __builtin_prefetch(rows + row * solo::kUnitPad + number, 0, 2);
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

// One panel's tiles for one piece of inputs and one block.
template <typename T>
HWY_INLINE void forward_tiles(const solo::MaskedForward<T>& a, const T* piece, std::ptrdiff_t block, int panel,
                              int first, int count) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const T* x = a.x + (block * solo::padded(a.weights.inputs) + first) * width;
  const std::ptrdiff_t panel_at = (block * solo::padded(a.weights.units) + panel * kPad) * width;
  const bool cuts = a.relu && first + count == a.weights.inputs;
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
        hn::Store(cuts ? relu(hn::Zero(d), sums[u][v]) : sums[u][v], d, a.y + at + u * width + v * lanes);
      }
    }
  });
}

template <typename T>
HWY_INLINE void forward_panels(const solo::MaskedForward<T>& a, int first_panel, int panels) {
  constexpr int kPad = solo::kUnitPad;
  const int inputs = a.weights.inputs;
  const int samples = a.blocks.samples;
  const std::ptrdiff_t panel_rows = solo::padded_inputs(inputs);
  alignas(64) T room[kPiecePanels][kPieceLength * kPad];
  for (int first = 0; first < inputs; first += kPieceLength) {
    const int count = std::min(kPieceLength, inputs - first);
    for (int sample = 0; sample < samples; ++sample) {
      const T* pieces[kPiecePanels];
      for (int panel = 0; panel < panels; ++panel) {
        const std::ptrdiff_t row = (first_panel + panel) * panel_rows + first;
        pieces[panel] = a.weights.values + row * kPad;
        if (a.weights.bits != nullptr) {
          foresee_rows(pieces[panel] + kPieceLength * kPad, std::min(kPieceLength, inputs - first - count), sample,
                       samples);
          keep_rows(pieces[panel], a.weights.bits + row * samples + sample, samples, count, room[panel]);
          pieces[panel] = room[panel];
        }
      }
      for_blocks(a.blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
        for (int panel = 0; panel < panels; ++panel) {
          forward_tiles(a, pieces[panel], block, first_panel + panel, first, count);
        }
      });
    }
  }
}

template <typename T>
void masked_forward(const solo::MaskedForward<T>& a) {
  for (int panel = a.first_panel; panel < a.last_panel; panel += kPiecePanels) {
    const int panels = std::min(kPiecePanels, a.last_panel - panel);
    if (keeps_few(a.weights, a.blocks.samples, panel, panel + panels, 0, a.weights.inputs)) {
      forward_of_few(a, panel, panel + panels);
    } else {
      forward_panels(a, panel, panels);
    }
  }
}

// Tiles of some inputs for the panels [first, last) and one block; the weights of a panel are `panel_stride` apart.
template <typename T>
HWY_INLINE void back_tiles(const solo::MaskedInputGradient<T>& a, const T* piece, std::ptrdiff_t panel_stride,
                           std::ptrdiff_t block, int first_input, int inputs, int first, int last) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const int panels = solo::panel_count(a.weights.units);
  const T* dy = a.dy + (block * panels + first) * kPad * width;
  const std::ptrdiff_t inputs_at = (block * solo::padded(a.weights.inputs) + first_input) * width;
  const bool cuts = last == panels && a.x != nullptr;
  cover_block<T>(inputs, width, [&]<int kInputs, int kVectors>(int input, int row) HWY_ATTR {
    Vector<T> sums[kInputs][kVectors];
    const std::ptrdiff_t at = inputs_at + static_cast<std::ptrdiff_t>(input) * width + row;
    const T* from = first > 0 ? a.dx : a.start;
    MODLAB_UNROLL
    for (int i = 0; i < kInputs; ++i) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = from != nullptr ? hn::Load(d, from + at + i * width + v * lanes) : hn::Zero(d);
      }
    }
    for (int panel = 0; panel < last - first; ++panel) {
      const T* factors = piece + panel * panel_stride + input * kPad;
      const T* vectors = dy + static_cast<std::ptrdiff_t>(panel) * kPad * width + row;
      add_products<T, kInputs, kVectors>(factors, 1, kPad, vectors, width, lanes, kPad, sums);
    }
    MODLAB_UNROLL
    for (int i = 0; i < kInputs; ++i) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        auto dx = sums[i][v];
        const std::ptrdiff_t place = at + i * width + v * lanes;
        if (cuts) {
          dx = hn::IfThenElseZero(hn::Gt(hn::Load(d, a.x + place), hn::Zero(d)), dx);
        }
        hn::Store(dx, d, a.dx + place);
      }
    }
  });
}

template <typename T>
HWY_INLINE void back_to_inputs(const solo::MaskedInputGradient<T>& a, int first_input, int inputs) {
  constexpr int kPad = solo::kUnitPad;
  constexpr int kPanels = kPieceLength / kPad;
  const int samples = a.blocks.samples;
  const int panels = solo::panel_count(a.weights.units);
  const std::ptrdiff_t panel_rows = solo::padded_inputs(a.weights.inputs);
  alignas(64) T room[kPanels][kPieceInputs * kPad];
  for (int first = 0; first < panels; first += kPanels) {
    const int last = std::min(panels, first + kPanels);
    for (int sample = 0; sample < samples; ++sample) {
      const T* piece = a.weights.values + (first * panel_rows + first_input) * kPad;
      std::ptrdiff_t panel_stride = a.weights.panel_size();
      if (a.weights.bits != nullptr) {
        for (int panel = first; panel < last; ++panel) {
          const std::ptrdiff_t row = panel * panel_rows + first_input;
          if (panel + kPanels < panels) {
            foresee_rows(a.weights.values + (row + kPanels * panel_rows) * kPad, inputs, sample, samples);
          }
          keep_rows(a.weights.values + row * kPad, a.weights.bits + row * samples + sample, samples, inputs,
                    room[panel - first]);
        }
        piece = room[0];
        panel_stride = kPieceInputs * kPad;
      }
      for_blocks(a.blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
        back_tiles(a, piece, panel_stride, block, first_input, inputs, first, last);
      });
    }
  }
}

template <typename T>
void masked_input_gradient(const solo::MaskedInputGradient<T>& a) {
  const int last_input = std::min(a.last_input, solo::padded_inputs(a.weights.inputs));
  for (int input = a.first_input; input < last_input; input += kPieceInputs) {
    const int last = std::min(last_input, input + kPieceInputs);
    if (keeps_few(a.weights, a.blocks.samples, 0, solo::panel_count(a.weights.units), input, last)) {
      back_to_inputs_of_few(a, input, last);
    } else {
      back_to_inputs(a, input, last - input);
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
              weight =
                  hn::IfThenElseZero(bits_at(d, a.weights.bits[input * a.blocks.samples + sample], v * lanes), weight);
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
