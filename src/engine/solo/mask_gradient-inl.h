// Gradients of logits and of weights: register tiles of a few inputs by one or two vectors of units.

#if defined(MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#undef MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASK_GRADIENT_INL_H_
#endif

#include "engine/solo/mask_draw-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// What a logit's gradient begins with, in some units of which the last may be padding.
template <typename T>
HWY_INLINE Vector<T> alpha_of(const solo::MaskSlope<T>& a, int unit, int units) {
  const Tag<T> d;
  return hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(std::max(units - unit, 0))), hn::Set(d, a.alpha));
}

// Adds the gradients of weights under each sample's bits, where weights are trained or counted as well.
template <typename T>
HWY_INLINE void add_kept(const solo::MaskedWeights<T>& weights, int samples, const T* products, std::ptrdiff_t stride,
                         std::ptrdiff_t at, T* sums) {
  const Tag<T> d;
  auto sum = hn::Load(d, sums + at);
  for (int sample = 0; sample < samples; ++sample) {
    const std::uint16_t& bits = weights.bits[at / solo::kUnitPad * samples + sample];
    const auto kept = mask_of<T>(bits, static_cast<int>(at % solo::kUnitPad));
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

// Of `count` inputs, ascending; behind the last the list repeats it.
template <typename T, int kVectors>
HWY_INLINE void logit_gradient_tile(const solo::MaskedGradient<T>& a, const LaneThreefry& generator,
                                    const FloatWords (&places)[kVectors], Vector<T> far, const std::int32_t* inputs,
                                    int count, int unit, T* HWY_RESTRICT products) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const GradientTile<T> tile(a, inputs[0], unit);
  const std::ptrdiff_t tile_size = kMaskTile * kVectors * lanes;
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
        hn::Store(sums[i][v], d, products + sample * tile_size + (i * kVectors + v) * lanes);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const std::ptrdiff_t at = tile.place(inputs[i] - inputs[0], v);
      const int first_unit = unit + v * lanes;
      const auto start = a.add ? hn::Load(d, a.gradients + at) : alpha_of(a.slope, first_unit, a.weights.units);
      const auto gradient =
          logit_gradient<T>(a.slope, generator, later_places(places[v], inputs[i]), hn::Load(d, a.slope.logits + at),
                            hn::Load(d, a.weights.values + at), products + (i * kVectors + v) * lanes, tile_size,
                            a.blocks.samples, start, far);
      hn::Store(gradient, d, a.gradients + at);
      if (a.weight_sums != nullptr) {
        add_kept(a.weights, a.blocks.samples, products + (i * kVectors + v) * lanes, tile_size, at, a.weight_sums);
      }
    }
  }
}

template <typename T, int kVectors>
HWY_INLINE void gradient_of_units(const solo::MaskedGradient<T>& a, const LaneThreefry& generator, int unit) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const int inputs = a.weights.inputs;
  if (a.slope.logits == nullptr) {
    for (int input = 0; input < inputs; input += kMaskTile) {
      weight_gradient_tile<T, kVectors>(a, input, unit);
    }
    return;
  }
  alignas(64) T products[static_cast<std::size_t>(solo::kMostSamples) * kMaskTile * kVectors * hn::MaxLanes(Tag<T>())];
  FloatWords places[kVectors];
  Vector<T> alpha[kVectors];
  const auto far = far_logit(a.slope);
  MODLAB_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    places[v] = places_of(unit + v * lanes, inputs);
    alpha[v] = alpha_of(a.slope, unit + v * lanes, a.weights.units);
  }
  // Inputs with a near logit are gathered into tiles; the gradients of others are what they begin with.
  std::int32_t near[kMaskTile];
  int count = 0;
  const GradientTile<T> first(a, 0, unit);
  for (int input = 0; input < inputs; ++input) {
    bool is_near = false;
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto logit = hn::Load(d, a.slope.logits + first.place(input, v));
      // Far up, a weight is kept, and has a gradient where that is asked for.
      is_near |= !hn::AllFalse(d, hn::Lt(a.weight_sums == nullptr ? hn::Abs(logit) : hn::Neg(logit), far));
    }
    if (is_near) {
      near[count++] = input;
    } else if (!a.add) {
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::Store(alpha[v], d, a.gradients + first.place(input, v));
      }
    }
    if (count == kMaskTile || (count > 0 && input + 1 == inputs)) {
      std::fill(near + count, near + kMaskTile, near[count - 1]);
      logit_gradient_tile<T, kVectors>(a, generator, places, far, near, count, unit, products);
      count = 0;
    }
  }
}

template <typename T>
void masked_gradient(const solo::MaskedGradient<T>& a) {
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  const LaneThreefry generator = generator_of(a.slope.noise.key);
  const int last = a.last_panel * solo::kUnitPad;
  int unit = a.first_panel * solo::kUnitPad;
  for (; unit + 2 * lanes <= last; unit += 2 * lanes) {
    gradient_of_units<T, 2>(a, generator, unit);
  }
  if (unit < last) {
    gradient_of_units<T, 1>(a, generator, unit);
  }
}

template <typename T>
void one_hot_gradient(const solo::OneHotGradient<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const LaneThreefry generator = generator_of(a.slope.noise.key);
  const auto far = far_logit(a.slope);
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
      for (int input = 0; input < inputs; ++input) {
        const std::ptrdiff_t at = panel_at + static_cast<std::ptrdiff_t>(input) * kPad + lane;
        const auto start = a.add ? hn::Load(d, a.gradients + at) : alpha_of(a.slope, unit, a.weights.units);
        hn::Store(logit_gradient<T>(a.slope, generator, later_places(places, input), hn::Load(d, a.slope.logits + at),
                                    hn::Load(d, a.weights.values + at),
                                    a.room + static_cast<std::ptrdiff_t>(input) * kPad + lane, stride, a.blocks.samples,
                                    start, far),
                  d, a.gradients + at);
        if (a.weight_sums != nullptr) {
          add_kept(a.weights, a.blocks.samples, a.room + static_cast<std::ptrdiff_t>(input) * kPad + lane, stride, at,
                   a.weight_sums);
        }
      }
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
