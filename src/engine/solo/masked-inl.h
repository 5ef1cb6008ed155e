// Products with masked weights: register tiles of a few units (or inputs) by a few vectors of rows.

#if defined(MODLAB_ENGINE_SOLO_MASKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#undef MODLAB_ENGINE_SOLO_MASKED_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASKED_INL_H_
#endif

#include <algorithm>
#include <bit>

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/masked_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// Masked weights from so many inputs to so many panels fill half of the first cache level, and the rows that they are
// multiplied with a quarter: the more panels, the less often rows come from the second level.
inline constexpr int kPieceLength = 96;
inline constexpr int kPiecePanels = 4;
inline constexpr int kMaskTile = kRegisters == 32 ? 8 : 4;
// Vectors of a panel.
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

// to = from where bits say so, of one row of kUnitPad numbers.
template <typename T>
HWY_INLINE void keep_row(const T* HWY_RESTRICT from, const std::uint16_t& bits, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  MODLAB_UNROLL
  for (int lane = 0; lane < solo::kUnitPad; lane += lanes) {
    hn::Store(hn::IfThenElseZero(mask_of<T>(bits, lane), hn::Load(d, from + lane)), d, to + lane);
  }
}

// A piece of a panel under a mask: the rows that keep something, one after the other, and which they are.
template <typename T>
struct KeptRows {
  const T* values;
  const std::int32_t* rows;  // null: all, in their order
  int count;
};
// Rows are left out only where many keep nothing: to look for them takes time. `was_sparse` says how it was with the
// last piece, and so what to try first; what comes out does not depend on it.
inline constexpr int kFewRows = 4;
template <typename T>
HWY_INLINE KeptRows<T> keep_rows(const T* HWY_RESTRICT from, const std::uint16_t* HWY_RESTRICT bits, int samples,
                                 int count, T* HWY_RESTRICT to, std::int32_t* HWY_RESTRICT rows, bool& was_sparse) {
  const auto is_sparse = [&](int empty) { return empty * kFewRows >= count; };
  if (!was_sparse) {
    int empty = 0;
#pragma GCC unroll 4
    for (int row = 0; row < count; ++row) {
      const std::uint16_t& row_bits = bits[static_cast<std::ptrdiff_t>(row) * samples];
      keep_row(from + row * solo::kUnitPad, row_bits, to + row * solo::kUnitPad);
      empty += row_bits == 0 ? 1 : 0;
    }
    if (!is_sparse(empty)) {
      return {to, nullptr, count};
    }
  }
  int kept = 0;
  for (int row = 0; row < count; ++row) {
    const std::uint16_t& row_bits = bits[static_cast<std::ptrdiff_t>(row) * samples];
    if (row_bits != 0) {
      keep_row(from + row * solo::kUnitPad, row_bits, to + kept * solo::kUnitPad);
      rows[kept++] = row;
    }
  }
  was_sparse = is_sparse(count - kept);
  if (was_sparse) {
    return {to, rows, kept};
  }
  for (int row = 0; row < count; ++row) {
    keep_row(from + row * solo::kUnitPad, bits[static_cast<std::ptrdiff_t>(row) * samples], to + row * solo::kUnitPad);
  }
  return {to, nullptr, count};
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

// The same where the vectors are those of the given rows.
template <typename T, int kFactors, int kVectors>
HWY_INLINE void add_products_of_rows(const T* HWY_RESTRICT factors, std::ptrdiff_t factor_step,
                                     const T* HWY_RESTRICT vectors, const std::int32_t* HWY_RESTRICT rows,
                                     std::ptrdiff_t vector_step, std::ptrdiff_t vector_stride, int count,
                                     Vector<T> (&sums)[kFactors][kVectors]) {
  for (int index = 0; index < count; ++index) {
    add_products<T, kFactors, kVectors>(factors + index * factor_step, 0, 1, vectors + rows[index] * vector_step, 0,
                                        vector_stride, 1, sums);
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

// One panel's tiles for one piece of inputs and one block.
template <typename T>
HWY_INLINE void forward_tiles(const solo::MaskedForward<T>& a, const KeptRows<T>& piece, std::ptrdiff_t block,
                              int panel, int first, int count) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const T* x = a.x + (block * solo::padded(a.weights.inputs) + first) * width;
  const std::ptrdiff_t panel_at = (block * solo::padded(a.weights.units) + panel * kPad) * width;
  const bool cuts = a.relu && first + count == a.weights.inputs;
  if (piece.count == 0 && first > 0 && !cuts) {
    return;
  }
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
    if (piece.rows == nullptr) {
      add_products<T, kUnits, kVectors>(piece.values + unit, kPad, 1, x + row, width, lanes, count, sums);
    } else {
      add_products_of_rows<T, kUnits, kVectors>(piece.values + unit, kPad, x + row, piece.rows, width, lanes,
                                                piece.count, sums);
    }
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
void masked_forward(const solo::MaskedForward<T>& a) {
  constexpr int kPad = solo::kUnitPad;
  const int inputs = a.weights.inputs;
  const int samples = a.blocks.samples;
  const std::ptrdiff_t panel_rows = solo::padded_inputs(inputs);
  alignas(64) T room[kPiecePanels][kPieceLength * kPad];
  std::int32_t rows[kPiecePanels][kPieceLength];
  bool was_sparse = false;
  for (int first_panel = a.first_panel; first_panel < a.last_panel; first_panel += kPiecePanels) {
    const int panels = std::min(kPiecePanels, a.last_panel - first_panel);
    for (int first = 0; first < inputs; first += kPieceLength) {
      const int count = std::min(kPieceLength, inputs - first);
      for (int sample = 0; sample < samples; ++sample) {
        KeptRows<T> pieces[kPiecePanels];
        for (int panel = 0; panel < panels; ++panel) {
          const std::ptrdiff_t row = (first_panel + panel) * panel_rows + first;
          pieces[panel] = {a.weights.values + row * kPad, nullptr, count};
          if (a.weights.bits != nullptr) {
            pieces[panel] = keep_rows(pieces[panel].values, a.weights.bits + row * samples + sample, samples, count,
                                      room[panel], rows[panel], was_sparse);
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
}

// Which units of a panel some of kInputPad neighbouring inputs lead to.
inline constexpr int kPieceGroups = kPiecePanels * solo::kUnitPad / solo::kInputPad;
using KeptUnits = std::uint32_t[kPieceLength / solo::kUnitPad][kPieceGroups];
inline constexpr std::uint32_t kAllUnits = 0xffff;

// Tiles of some inputs for the panels [first, last) and one block; the weights of a panel are `panel_stride` apart.
template <typename T>
HWY_INLINE void back_tiles(const solo::MaskedInputGradient<T>& a, const T* piece, std::ptrdiff_t panel_stride,
                           const KeptUnits& kept, std::ptrdiff_t block, int first_input, int inputs, int first,
                           int last) {
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
      std::uint32_t units = kept[panel][input / solo::kInputPad];
      if (units == kAllUnits) {
        add_products<T, kInputs, kVectors>(factors, 1, kPad, vectors, width, lanes, kPad, sums);
        continue;
      }
      for (; units != 0; units &= units - 1) {
        const int unit = std::countr_zero(units);
        add_products<T, kInputs, kVectors>(factors + unit, 0, kPad, vectors + unit * width, 0, lanes, 1, sums);
      }
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
void masked_input_gradient(const solo::MaskedInputGradient<T>& a) {
  constexpr int kPad = solo::kUnitPad;
  constexpr int kPanels = kPieceLength / kPad;
  constexpr int kInputs = kPiecePanels * kPad;
  const int samples = a.blocks.samples;
  const int panels = solo::panel_count(a.weights.units);
  const int last_input = std::min(a.last_input, solo::padded_inputs(a.weights.inputs));
  const std::ptrdiff_t panel_rows = solo::padded_inputs(a.weights.inputs);
  alignas(64) T room[kPanels][kInputs * kPad];
  KeptUnits kept;
  std::fill_n(kept[0], kPanels * kPieceGroups, kAllUnits);
  for (int first_input = a.first_input; first_input < last_input; first_input += kInputs) {
    const int inputs = std::min(kInputs, last_input - first_input);
    for (int first = 0; first < panels; first += kPanels) {
      const int last = std::min(panels, first + kPanels);
      for (int sample = 0; sample < samples; ++sample) {
        const T* piece = a.weights.values + (first * panel_rows + first_input) * kPad;
        std::ptrdiff_t panel_stride = a.weights.panel_size();
        if (a.weights.bits != nullptr) {
          for (int panel = first; panel < last; ++panel) {
            const std::ptrdiff_t row = panel * panel_rows + first_input;
            const std::uint16_t* bits = a.weights.bits + row * samples + sample;
            for (int group = 0; group < inputs; group += solo::kInputPad) {
              std::uint32_t units = 0;
              MODLAB_UNROLL
              for (int input = group; input < group + solo::kInputPad; ++input) {
                units |= bits[static_cast<std::ptrdiff_t>(input) * samples];
              }
              for (int input = group; units != 0 && input < group + solo::kInputPad; ++input) {
                keep_row(a.weights.values + (row + input) * kPad, bits[static_cast<std::ptrdiff_t>(input) * samples],
                         room[panel - first] + input * kPad);
              }
              kept[panel - first][group / solo::kInputPad] = units;
            }
          }
          piece = room[0];
          panel_stride = kInputs * kPad;
        }
        for_blocks(a.blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
          back_tiles(a, piece, panel_stride, kept, block, first_input, inputs, first, last);
        });
      }
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
                  hn::IfThenElseZero(mask_of<T>(a.weights.bits[input * a.blocks.samples + sample], v * lanes), weight);
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
