// Products with masks that keep few weights, weight by weight. A sum has its terms in the same order as in a tile,
// which also adds the zeros, so that the bits are the same.

#if defined(MODLAB_ENGINE_SOLO_FEW_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_FEW_WEIGHTS_INL_H_
#undef MODLAB_ENGINE_SOLO_FEW_WEIGHTS_INL_H_
#else
#define MODLAB_ENGINE_SOLO_FEW_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/masked_kernels.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// Up to one weight in so many a product is sooner done weight by weight.
inline constexpr std::ptrdiff_t kFewOf = 12;

// The part of a panel's bits that belongs to the vector that begins with `lane`, as a mask.
template <typename D>
HWY_INLINE hn::Mask<D> bits_at(D d, const std::uint16_t& bits, int lane) {
#if HWY_TARGET == HWY_SCALAR
  return hn::FirstN(d, static_cast<std::size_t>(bits >> lane & 1));
#else
  return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits) + lane / 8);
#endif
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

// The weights from some inputs to a panel that any sample keeps, ascending by input and unit.
template <typename T>
struct KeptList {
  static constexpr int kMostInputs = 96;
  struct Kept {
    T weight;
    std::uint16_t input;    // counted from the first
    std::uint16_t unit;     // in its panel
    std::uint32_t samples;  // that keep it, a bit each

    // The weight under a sample's mask, which is zero where that does not keep it.
    T under(int sample) const { return (samples >> sample & 1U) != 0 ? weight : T{0}; }
  };
  int count = 0;
  Kept kept[kMostInputs * solo::kUnitPad];

  std::span<const Kept> all() const { return {kept, static_cast<std::size_t>(count)}; }
  void add(T weight, int input, int unit, std::uint32_t samples) {
    kept[count++] = {weight, static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(unit), samples};
  }
};

HWY_INLINE std::ptrdiff_t count_bits(const std::uint16_t* words, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t kAtOnce = sizeof(std::uint64_t) / sizeof(std::uint16_t);
  std::ptrdiff_t bits = 0;
  std::ptrdiff_t word = 0;
  for (; word + kAtOnce <= count; word += kAtOnce) {
    std::uint64_t some = 0;
    std::memcpy(&some, words + word, sizeof(some));
    bits += std::popcount(some);
  }
  for (; word < count; ++word) {
    bits += std::popcount(words[word]);
  }
  return bits;
}

// Whether masks keep few of the weights from some inputs to some panels.
template <typename T>
HWY_INLINE bool keeps_few(const solo::MaskedWeights<T>& weights, int samples, int first_panel, int last_panel,
                          int first_input, int last_input) {
  if (weights.bits == nullptr) {
    return false;
  }
  const std::ptrdiff_t words = static_cast<std::ptrdiff_t>(last_input - first_input) * samples;
  std::ptrdiff_t kept = 0;
  for (int panel = first_panel; panel < last_panel; ++panel) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(weights.inputs) + first_input;
    kept += count_bits(weights.bits + row * samples, words);
  }
  return kept * kFewOf <= words * solo::kUnitPad * (last_panel - first_panel);
}

template <typename T>
HWY_INLINE void list_kept(const solo::MaskedWeights<T>& from, int samples, int panel, int first_input, int last_input,
                          KeptList<T>& list) {
  constexpr int kPad = solo::kUnitPad;
  constexpr int kAhead = 32;  // rows whose weights are asked for before they are needed
  const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(from.inputs);
  list.count = 0;
  for (int input = first_input; input < last_input; ++input) {
    const std::uint16_t* bits = from.bits + (panel_row + input) * samples;
    const T* weights = from.values + (panel_row + input) * kPad;
    hwy::Prefetch(weights + kAhead * kPad);
    std::uint32_t any = 0;
    for (int sample = 0; sample < samples; ++sample) {
      any |= bits[sample];
    }
    for (; any != 0; any &= any - 1) {
      const int unit = std::countr_zero(any);
      std::uint32_t keepers = 0;
      for (int sample = 0; sample < samples; ++sample) {
        keepers |= (std::uint32_t{bits[sample]} >> unit & 1U) << sample;
      }
      list.add(weights[unit], input - first_input, unit, keepers);
    }
  }
}

// Blocks of rows, `stride` numbers apart.
template <typename T>
struct BlockRows {
  T* first;
  std::ptrdiff_t stride;
};

// Adds to each block's rows those of another unit, times a weight under the mask of the block's sample.
template <typename T, int kVectors>
HWY_INLINE void add_rows_of(const typename KeptList<T>::Kept& kept, const solo::RowBlocks& blocks,
                            BlockRows<const T> from, BlockRows<T> to) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int time = 0; time < blocks.times; ++time) {
    for (int sample = 0; sample < blocks.samples; ++sample) {
      const auto weight = hn::Set(d, kept.under(sample));
      for (int block = 0; block < blocks.each; ++block, from.first += from.stride, to.first += to.stride) {
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          T* sum = to.first + v * lanes;
          hn::Store(fused(weight, hn::Load(d, from.first + v * lanes), hn::Load(d, sum)), d, sum);
        }
      }
    }
  }
}
// The same for blocks of any width.
template <typename T>
HWY_INLINE void add_rows(const typename KeptList<T>::Kept& kept, const solo::RowBlocks& blocks, BlockRows<const T> from,
                         BlockRows<T> to) {
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  if (blocks.width == 2 * lanes) {
    add_rows_of<T, 2>(kept, blocks, from, to);
    return;
  }
  for (int row = 0; row < blocks.width; row += lanes) {
    add_rows_of<T, 1>(kept, blocks, {from.first + row, from.stride}, {to.first + row, to.stride});
  }
}

template <typename T>
void forward_of_few(const solo::MaskedForward<T>& a, int first_panel, int last_panel) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const int inputs = a.weights.inputs;
  KeptList<T> list;
  for (int panel = first_panel; panel < last_panel; ++panel) {
    const auto panel_at = [&](std::ptrdiff_t block) {
      return (block * solo::padded(a.weights.units) + panel * kPad) * width;
    };
    for (std::ptrdiff_t block = 0; block < a.blocks.count(); ++block) {
      for (int at = 0; at < kPad * width; at += lanes) {
        const auto start = a.start != nullptr ? hn::Load(d, a.start + panel_at(block) + at)
                                              : hn::Set(d, a.bias[panel * kPad + at / width]);
        hn::Store(start, d, a.y + panel_at(block) + at);
      }
    }
    for (int first = 0; first < inputs; first += KeptList<T>::kMostInputs) {
      list_kept(a.weights, a.blocks.samples, panel, first, std::min(inputs, first + KeptList<T>::kMostInputs), list);
      for (const auto& kept : list.all()) {
        add_rows<T>(kept, a.blocks, {a.x + (first + kept.input) * width, solo::padded(inputs) * width},
                    {a.y + panel_at(0) + kept.unit * width, solo::padded(a.weights.units) * width});
      }
    }
    for (std::ptrdiff_t block = 0; a.relu && block < a.blocks.count(); ++block) {
      T* y = a.y + panel_at(block);
      for (int at = 0; at < kPad * width; at += lanes) {
        hn::Store(relu(hn::Zero(d), hn::Load(d, y + at)), d, y + at);
      }
    }
  }
}

template <typename T>
void back_to_inputs_of_few(const solo::MaskedInputGradient<T>& a, int first_input, int last_input) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const int width = a.blocks.width;
  const int panels = solo::panel_count(a.weights.units);
  const int numbers = (last_input - first_input) * width;
  const auto first_at = [&](std::ptrdiff_t block) {
    return (block * solo::padded(a.weights.inputs) + first_input) * width;
  };
  for (std::ptrdiff_t block = 0; block < a.blocks.count(); ++block) {
    for (int at = 0; at < numbers; at += lanes) {
      const auto start = a.start != nullptr ? hn::Load(d, a.start + first_at(block) + at) : hn::Zero(d);
      hn::Store(start, d, a.dx + first_at(block) + at);
    }
  }
  KeptList<T> list;
  for (int panel = 0; panel < panels; ++panel) {
    list_kept(a.weights, a.blocks.samples, panel, first_input, last_input, list);
    for (const auto& kept : list.all()) {
      add_rows<T>(kept, a.blocks, {a.dy + (panel * kPad + kept.unit) * width, panels * kPad * width},
                  {a.dx + first_at(0) + kept.input * width, solo::padded(a.weights.inputs) * width});
    }
  }
  for (std::ptrdiff_t block = 0; a.x != nullptr && block < a.blocks.count(); ++block) {
    const std::ptrdiff_t first = first_at(block);
    for (int at = 0; at < numbers; at += lanes) {
      const auto is_on = hn::Gt(hn::Load(d, a.x + first + at), hn::Zero(d));
      hn::Store(hn::IfThenElseZero(is_on, hn::Load(d, a.dx + first + at)), d, a.dx + first + at);
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
