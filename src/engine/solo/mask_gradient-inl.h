// Gradients of logits and of weights: register tiles of a few inputs by one or two vectors of units.

#if defined(MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#undef MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#endif

#include "engine/solo/mask_slope-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// What logits' gradients begin with, in some units of which the last may be padding.
template <typename T>
HWY_INLINE Vector<T> penalty_of_units(const solo::MaskSlope<T>& a, const T* logits, int unit, int units) {
  const Tag<T> d;
  return hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(std::max(units - unit, 0))), penalty_of(a, logits));
}

// Adds the gradients of weights under each sample's bits, where weights are trained or counted as well.
template <typename T>
HWY_INLINE void add_kept(const solo::MaskedWeights<T>& weights, int samples, const T* products, std::ptrdiff_t stride,
                         std::ptrdiff_t at, T* sums) {
  const Tag<T> d;
  auto sum = hn::Load(d, sums + at);
  for (int sample = 0; sample < samples; ++sample) {
    const std::uint16_t& bits = weights.bits[at / solo::kUnitPad * samples + sample];
    const auto kept = bits_at(d, bits, static_cast<int>(at % solo::kUnitPad));
    sum = hn::Add(sum, hn::IfThenElseZero(kept, hn::Load(d, products + sample * stride)));
  }
  hn::Store(sum, d, sums + at);
}

// Where a tile of gradients finds its numbers: kMaskTile inputs by vectors of units that lie side by side, of two
// panels where a vector is a panel, otherwise of one.
template <typename T>
struct GradientTile {
  const T* x;        // of the first input, in the first block
  const T* dy_rows;  // of the first vector, in the first block
  std::ptrdiff_t x_block, dy_block, dy_stride;
  std::ptrdiff_t at, stride;  // of the first input and vector among the weights, and from vector to vector

  HWY_INLINE GradientTile(const solo::MaskedGradient<T>& a, int input, int unit) {
    constexpr int kPad = solo::kUnitPad;
    const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
    const std::ptrdiff_t width = a.blocks.width;
    x = a.x + input * width;
    dy_rows = a.dy_rows + unit / kPad * width * kPad + unit % kPad;
    x_block = solo::padded(a.weights.inputs) * width;
    dy_block = solo::padded(a.weights.units) * width;
    dy_stride = lanes == kPad ? width * kPad : lanes;
    at = unit / kPad * a.weights.panel_size() + static_cast<std::ptrdiff_t>(input) * kPad + unit % kPad;
    stride = lanes == kPad ? a.weights.panel_size() : lanes;
  }
  std::ptrdiff_t place(int input, int vector) const { return at + input * solo::kUnitPad + vector * stride; }

  // Adds what the rows of a sample give.
  template <int kVectors>
  HWY_INLINE void add(const solo::RowBlocks& blocks, int sample, Vector<T> (&sums)[kMaskTile][kVectors]) const {
    for_blocks(blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
      add_products<T, kMaskTile, kVectors>(x + block * x_block, 1, blocks.width, dy_rows + block * dy_block,
                                           solo::kUnitPad, dy_stride, blocks.width, sums);
    });
  }
  // The same for inputs that are not neighbours, `places` numbers apart from the first.
  template <int kVectors>
  HWY_INLINE void add_apart(const solo::RowBlocks& blocks, int sample, const std::ptrdiff_t* places,
                            Vector<T> (&sums)[kMaskTile][kVectors]) const {
    const Tag<T> d;
    for_blocks(blocks, sample, [&](std::ptrdiff_t block) HWY_ATTR {
      const T* HWY_RESTRICT own[kMaskTile];
      MODLAB_UNROLL
      for (int i = 0; i < kMaskTile; ++i) {
        own[i] = x + block * x_block + places[i];
      }
      const T* HWY_RESTRICT dy = dy_rows + block * dy_block;
      for (int row = 0; row < blocks.width; ++row, dy += solo::kUnitPad) {
        Vector<T> vector[kVectors];
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          vector[v] = hn::Load(d, dy + v * dy_stride);
        }
        MODLAB_UNROLL
        for (int i = 0; i < kMaskTile; ++i) {
          const auto factor = hn::Set(d, own[i][row]);
          MODLAB_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            sums[i][v] = fused(factor, vector[v], sums[i][v]);
          }
        }
      }
    });
  }
};

template <typename T, int kVectors>
HWY_INLINE void weight_gradient_tile(const solo::MaskedGradient<T>& a, int input, int unit) {
  const Tag<T> d;
  const GradientTile<T> tile(a, input, unit);
  Vector<T> sums[kMaskTile][kVectors];
  MODLAB_UNROLL
  for (int i = 0; i < kMaskTile; ++i) {
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = a.add ? hn::Load(d, a.gradients + tile.place(i, v)) : hn::Zero(d);
    }
  }
  for (int sample = 0; sample < a.blocks.samples; ++sample) {
    tile.add(a.blocks, sample, sums);
  }
  MODLAB_UNROLL
  for (int i = 0; i < kMaskTile; ++i) {
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sums[i][v], d, a.gradients + tile.place(i, v));
    }
  }
}

// The vectors of logits of a tile.
template <typename T, int kVectors>
struct TileVectors {
  const solo::MaskedGradient<T>& a;
  const GradientTile<T>& tile;
  const std::int32_t* inputs;
  const FloatWords (&unit_places)[kVectors];
  int unit;
  const T* tile_products;
  std::ptrdiff_t stride = kMaskTile * kVectors * static_cast<std::ptrdiff_t>(hn::Lanes(Tag<T>()));

  HWY_INLINE std::ptrdiff_t at(int index) const {
    return tile.place(inputs[index / kVectors] - inputs[0], index % kVectors);
  }
  HWY_INLINE FloatWords places(int index) const {
    return later_places(unit_places[index % kVectors], inputs[index / kVectors]);
  }
  HWY_INLINE const T* products(int index) const {
    return tile_products + index * static_cast<std::ptrdiff_t>(hn::Lanes(Tag<T>()));
  }
  HWY_INLINE Vector<T> start(int index) const {
    const Tag<T> d;
    return a.add ? hn::Load(d, a.gradients + at(index))
                 : penalty_of_units(a.slope, a.slope.logits + at(index),
                                    unit + index % kVectors * static_cast<int>(hn::Lanes(d)), a.weights.units);
  }
};

// Of `count` inputs, ascending; behind the last the list repeats it.
template <typename T, int kVectors>
HWY_INLINE void logit_gradient_tile(const solo::MaskedGradient<T>& a, const LaneSchedule& schedule,
                                    const FloatWords (&places)[kVectors], const std::int32_t* inputs, int count,
                                    int unit, T* HWY_RESTRICT products) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const GradientTile<T> tile(a, inputs[0], unit);
  const TileVectors<T, kVectors> vectors{a, tile, inputs, places, unit, products};
  const bool is_dense = count == kMaskTile && inputs[kMaskTile - 1] - inputs[0] == kMaskTile - 1;
  std::ptrdiff_t apart[kMaskTile];
  MODLAB_UNROLL
  for (int i = 0; i < kMaskTile; ++i) {
    apart[i] = static_cast<std::ptrdiff_t>(inputs[i] - inputs[0]) * a.blocks.width;
  }
  for (int sample = 0; sample < a.blocks.samples; ++sample) {
    Vector<T> sums[kMaskTile][kVectors];
    MODLAB_UNROLL
    for (auto& of_input : sums) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        of_input[v] = hn::Zero(d);
      }
    }
    if (is_dense) {
      tile.add(a.blocks, sample, sums);
    } else {
      tile.add_apart(a.blocks, sample, apart, sums);
    }
    MODLAB_UNROLL
    for (int i = 0; i < kMaskTile; ++i) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::Store(sums[i][v], d, products + sample * vectors.stride + (i * kVectors + v) * lanes);
      }
    }
  }
  logit_gradients(a.slope, schedule, a.weights.values, a.blocks.samples, vectors, count * kVectors, a.gradients);
  if (a.weight_sums != nullptr) {
    for (int index = 0; index < count * kVectors; ++index) {
      add_kept(a.weights, a.blocks.samples, vectors.products(index), vectors.stride, vectors.at(index), a.weight_sums);
    }
  }
}

template <typename T, int kVectors>
HWY_INLINE void weight_gradients_of_units(const solo::MaskedGradient<T>& a, int unit) {
  for (int input = 0; input < a.weights.inputs; input += kMaskTile) {
    weight_gradient_tile<T, kVectors>(a, input, unit);
  }
}

// Whether some of the logits from an input to a vector of units are so near that a gradient must be computed.
template <typename T>
HWY_INLINE bool is_near(const solo::MaskedGradient<T>& a, Vector<T> far, std::ptrdiff_t at) {
  const Tag<T> d;
  const auto logit = hn::Load(d, a.slope.logits + at);
  // Far up, a weight is kept, and has a gradient where that is asked for.
  return !hn::AllFalse(d, hn::Lt(a.weight_sums == nullptr ? hn::Abs(logit) : hn::Neg(logit), far));
}

// Inputs with a near logit are gathered into tiles; the gradients of others are what they begin with.
template <typename T, int kVectors>
HWY_INLINE void logit_gradients_of_units(const solo::MaskedGradient<T>& a, const LaneSchedule& schedule, int unit) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const int inputs = a.weights.inputs;
  alignas(64) T products[static_cast<std::size_t>(solo::kMostSamples) * kMaskTile * kVectors * hn::MaxLanes(Tag<T>())];
  FloatWords places[kVectors];
  const auto far = hn::Set(d, far_logit(a.slope));
  MODLAB_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    places[v] = places_of(unit + v * lanes, inputs);
  }
  std::int32_t near[kMaskTile];
  int count = 0;
  const GradientTile<T> first(a, 0, unit);
  for (int input = 0; input < inputs; ++input) {
    bool any = false;
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      any |= is_near(a, far, first.place(input, v));
    }
    if (any) {
      near[count++] = input;
      // The hardware does not foresee which of the weights and gradients a tile will need, nor, while the tile is
      // computed, the logits of those after it.
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hwy::Prefetch(a.weights.values + first.place(input, v));
        hwy::Prefetch(a.gradients + first.place(input, v));
        hwy::Prefetch(a.slope.logits + first.place(input + 2 * kMaskTile, v));
      }
    } else if (!a.add) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const std::ptrdiff_t at = first.place(input, v);
        hn::Store(penalty_of_units(a.slope, a.slope.logits + at, unit + v * lanes, a.weights.units), d,
                  a.gradients + at);
      }
    }
    if (count == kMaskTile || (count > 0 && input + 1 == inputs)) {
      std::fill(near + count, near + kMaskTile, near[count - 1]);
      logit_gradient_tile<T, kVectors>(a, schedule, places, near, count, unit, products);
      count = 0;
    }
  }
}

// Of two vectors of units: together, which shares the inputs, unless their near logits seldom come from the same ones.
template <typename T>
HWY_INLINE void logit_gradients_of_two(const solo::MaskedGradient<T>& a, const LaneSchedule& schedule, int unit) {
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  const auto far = hn::Set(Tag<T>(), far_logit(a.slope));
  const GradientTile<T> first(a, 0, unit);
  constexpr int kLookAt = 8;  // an input in so many, which is enough to choose by
  int vectors = 0;
  int pairs = 0;
  for (int input = 0; input < a.weights.inputs; input += kLookAt) {
    const int one = is_near(a, far, first.place(input, 0)) ? 1 : 0;
    const int other = is_near(a, far, first.place(input, 1)) ? 1 : 0;
    vectors += one + other;
    pairs += one | other;
  }
  constexpr int kPairShare = 4;  // a vector by itself takes up to a quarter longer
  if (vectors + vectors / kPairShare < 2 * pairs) {
    logit_gradients_of_units<T, 1>(a, schedule, unit);
    logit_gradients_of_units<T, 1>(a, schedule, unit + lanes);
  } else {
    logit_gradients_of_units<T, 2>(a, schedule, unit);
  }
}

template <typename T>
void masked_gradient(const solo::MaskedGradient<T>& a) {
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  const LaneSchedule schedule(a.slope.noise.key);
  const bool of_weights = a.slope.logits == nullptr;
  const int last = a.last_panel * solo::kUnitPad;
  int unit = a.first_panel * solo::kUnitPad;
  for (; unit + 2 * lanes <= last; unit += 2 * lanes) {
    of_weights ? weight_gradients_of_units<T, 2>(a, unit) : logit_gradients_of_two(a, schedule, unit);
  }
  if (unit < last) {
    of_weights ? weight_gradients_of_units<T, 1>(a, unit) : logit_gradients_of_units<T, 1>(a, schedule, unit);
  }
}

// The vectors of logits of the weights from some inputs to a vector of units.
template <typename T>
struct InputVectors {
  const solo::OneHotGradient<T>& a;
  FloatWords unit_places;
  std::ptrdiff_t first_at;  // of the first input
  int unit;
  const T* first_products;
  std::ptrdiff_t stride;

  HWY_INLINE std::ptrdiff_t at(int index) const {
    return first_at + static_cast<std::ptrdiff_t>(index) * solo::kUnitPad;
  }
  HWY_INLINE FloatWords places(int index) const { return later_places(unit_places, index); }
  HWY_INLINE const T* products(int index) const {
    return first_products + static_cast<std::ptrdiff_t>(index) * solo::kUnitPad;
  }
  HWY_INLINE Vector<T> start(int index) const {
    const Tag<T> d;
    return a.add ? hn::Load(d, a.gradients + at(index))
                 : penalty_of_units(a.slope, a.slope.logits + at(index), unit, a.weights.units);
  }
};

template <typename T>
void one_hot_gradient(const solo::OneHotGradient<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const LaneSchedule schedule(a.slope.noise.key);
  const int inputs = a.weights.inputs;
  const int width = a.blocks.width;
  const bool of_weights = a.slope.logits == nullptr;
  const std::ptrdiff_t above = static_cast<std::ptrdiff_t>(solo::padded(a.weights.units)) * width;
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(inputs) * kPad;
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_at = panel * a.weights.panel_size();
    if (of_weights && a.add) {
      std::copy_n(a.gradients + panel_at, stride, a.room);
    } else {
      std::fill_n(a.room, of_weights ? stride : a.blocks.samples * stride, T{0});
    }
    for (int block = 0; block < a.blocks.count(); ++block) {
      const int sample = of_weights ? 0 : block / a.blocks.each % a.blocks.samples;
      const std::uint16_t* active = a.x.inputs + static_cast<std::ptrdiff_t>(block) * width * a.x.active;
      const T* dy = a.dy_rows + block * above + static_cast<std::ptrdiff_t>(panel) * kPad * width;
      for (int row = 0; row < width; ++row, active += a.x.active, dy += kPad) {
        for (int place = 0; place < a.x.active; ++place) {
          if (active[place] == a.x.none) {
            continue;
          }
          T* sum = a.room + sample * stride + static_cast<std::ptrdiff_t>(active[place]) * kPad;
          MODLAB_UNROLL
          for (int lane = 0; lane < kPad; lane += lanes) {
            hn::Store(hn::Add(hn::Load(d, sum + lane), hn::Load(d, dy + lane)), d, sum + lane);
          }
        }
      }
    }
    if (of_weights) {
      std::copy_n(a.room, stride, a.gradients + panel_at);
      continue;
    }
    for (int lane = 0; lane < kPad; lane += lanes) {
      const int unit = panel * kPad + lane;
      const FloatWords places = places_of(unit, inputs);
      const InputVectors<T> vectors{a, places, panel_at + lane, unit, a.room + lane, stride};
      logit_gradients(a.slope, schedule, a.weights.values, a.blocks.samples, vectors, inputs, a.gradients);
      for (int input = 0; input < inputs && a.weight_sums != nullptr; ++input) {
        add_kept(a.weights, a.blocks.samples, vectors.products(input), stride, vectors.at(input), a.weight_sums);
      }
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
