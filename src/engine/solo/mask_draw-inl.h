// Draws of masks from logits.

#if defined(MODLAB_ENGINE_SOLO_MASK_DRAW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASK_DRAW_INL_H_
#undef MODLAB_ENGINE_SOLO_MASK_DRAW_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASK_DRAW_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "engine/kernels/random-inl.h"
#include "engine/solo/masked-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

inline constexpr int kDrawSamples = 4;  // that share a draw
inline constexpr std::uint32_t kMostOf31Bits = 0x7fffffff;

// Of the samples from a multiple of kDrawSamples on.
HWY_INLINE LaneThreefry mask_generator(const LaneSchedule& schedule, const solo::MaskNoise& noise, int sample) {
  return LaneThreefry(schedule, noise.step, solo::mask_use(noise, sample));
}

// Places in the layout of the weights from the first input to the units [unit, unit + lanes); those from the next
// inputs follow. Highway makes such a vector number by number, so it is kept for a panel.
HWY_INLINE FloatWords places_of(int unit, int inputs) {
  const WordTag<float> dw;
  return hn::Mul(hn::Iota(dw, static_cast<std::uint32_t>(unit)), hn::Set(dw, static_cast<std::uint32_t>(inputs)));
}
HWY_INLINE FloatWords later_places(FloatWords places, int input) {
  const WordTag<float> dw;
  return hn::Add(places, hn::Set(dw, static_cast<std::uint32_t>(input)));
}

// A uniform number and its distance from 1, each with a float's relative precision near 0.
HWY_INLINE void uniforms_of(FloatWords word, Vector<float>& uniform, Vector<float>& rest) {
  const Tag<float> d;
  const WordTag<float> dw;
  const hn::RebindToSigned<Tag<float>> di;
  const auto step = hn::Set(d, 0x1p-31F);
  const auto half_step = hn::Set(d, 0x1p-32F);
  const auto bits = hn::ShiftRight<1>(word);
  rest = fused(hn::ConvertTo(d, hn::BitCast(di, bits)), step, half_step);
  uniform = fused(hn::ConvertTo(d, hn::BitCast(di, hn::Xor(bits, hn::Set(dw, kMostOf31Bits)))), step, half_step);
}

// Which words give a bit 1, for a probability.
HWY_INLINE hn::Vec<hn::RebindToSigned<Tag<float>>> threshold_of(Vector<float> probability) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  // A float below 1: 2^31 is not a signed word.
  const auto below_one = smaller(hn::Set(d, 1 - 0x1p-24F), probability);
  return hn::ConvertTo(di, hn::Mul(below_one, hn::Set(d, 0x1p31F)));
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void uniforms_of(FloatWords word, Vector<double>& uniform, Vector<double>& rest) {
  rest = Vector<double>((static_cast<double>(word.raw >> 1U) + 0.5) * 0x1p-31);
  uniform = Vector<double>(1 - rest.raw);
}
HWY_INLINE hn::Vec<hn::RebindToSigned<Tag<float>>> threshold_of(Vector<double> probability) {
  return hn::Vec<hn::RebindToSigned<Tag<float>>>(
      static_cast<std::int32_t>(std::min(probability.raw, 1 - 0x1p-24) * 0x1p31));
}
#endif

template <typename T>
HWY_INLINE Vector<T> near_logit(Vector<T> logit) {
  const Tag<T> d;
  const auto far = hn::Set(d, static_cast<T>(solo::kFarLogit));
  return smaller(far, larger(hn::Neg(far), logit));
}

// A mask as bits of a panel.
template <typename D, typename M>
HWY_INLINE std::uint16_t bits_of(D d, M mask) {
  alignas(8) std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Bits by the signs of the logits.
template <typename T>
void mask_signs(const solo::MaskDraw<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(a.inputs);
    for (std::ptrdiff_t row = panel_row; row < panel_row + a.inputs; ++row) {
      std::uint32_t kept = 0;
      for (int lane = 0; lane < kPad; lane += lanes) {
        kept |= static_cast<std::uint32_t>(bits_of(d, hn::Gt(hn::Load(d, a.logits + row * kPad + lane), hn::Zero(d))))
                << lane;
      }
      std::fill_n(a.bits + row * a.samples, a.samples, static_cast<std::uint16_t>(kept));
    }
  }
}

// Which words give the weights from one input to a panel a bit 1.
using PanelThresholds = std::int32_t[solo::kUnitPad];

// Inputs whose bits are drawn at once.
template <typename T>
inline constexpr int kInputsTogether = std::max(1, kDrawsTogether / kPanelVectors<T>);

// Of the inputs input[place] to input[place + kInputsTogether - 1], of which there are `count` in all; behind the last
// it is drawn for again.
template <typename T>
HWY_INLINE void draw_bits(const LaneThreefry& generator, const FloatWords (&places)[kPanelVectors<T>],
                          const std::int32_t* inputs, int place, int count, const PanelThresholds* thresholds,
                          int samples, int sample, std::uint16_t* bits) {
  const hn::RebindToSigned<Tag<float>> di;
  const auto lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  constexpr int kInputs = kInputsTogether<T>;
  std::uint32_t kept[kInputs][kDrawSamples] = {};
  int own[kInputs];
  MODLAB_UNROLL
  for (int i = 0; i < kInputs; ++i) {
    own[i] = std::min(place + i, count - 1);
  }
  MODLAB_UNROLL
  for (int v = 0; v < kPanelVectors<T>; ++v) {
    FloatWords index[kInputs];
    MODLAB_UNROLL
    for (int i = 0; i < kInputs; ++i) {
      index[i] = later_places(places[v], inputs[own[i]]);
    }
    FloatWords word[kInputs][kDrawSamples];
    generator.draw(index, word);
    MODLAB_UNROLL
    for (int i = 0; i < kInputs; ++i) {
      const auto threshold = hn::Load(di, thresholds[own[i]] + v * lanes);
      MODLAB_UNROLL
      for (int offset = 0; offset < kDrawSamples; ++offset) {
        const auto is_kept = hn::Lt(hn::BitCast(di, hn::ShiftRight<1>(word[i][offset])), threshold);
        kept[i][offset] |= static_cast<std::uint32_t>(bits_of(di, is_kept)) << v * lanes;
      }
    }
  }
  MODLAB_UNROLL
  for (int i = 0; i < kInputs; ++i) {
    MODLAB_UNROLL
    for (int offset = 0; offset < kDrawSamples; ++offset) {
      if (sample + offset < samples) {
        bits[static_cast<std::ptrdiff_t>(inputs[own[i]]) * samples + sample + offset] =
            static_cast<std::uint16_t>(kept[i][offset]);
      }
    }
  }
}

// Thresholds of so many inputs are made before the first bit is drawn.
inline constexpr int kStripInputs = 16;

// In two rounds, since each threshold is a chain of operations that wait for each other: the hardware looks ahead only
// so far, which is to more of the shorter chains.
template <typename T>
HWY_INLINE void thresholds_of_strip(const T* logits, const std::int32_t* inputs, int count,
                                    PanelThresholds* thresholds) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<float>> di;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  alignas(64) T odds[kStripInputs * kPad];
  for (int place = 0; place < count; ++place) {
    MODLAB_UNROLL
    for (int lane = 0; lane < kPad; lane += lanes) {
      const auto logit = near_logit<T>(hn::Load(d, logits + inputs[place] * kPad + lane));
      hn::Store(exp_of(hn::Neg(logit)), d, odds + place * kPad + lane);
    }
  }
  for (int place = 0; place < count; ++place) {
    MODLAB_UNROLL
    for (int lane = 0; lane < kPad; lane += lanes) {
      const auto kept = inverse_of(hn::Add(hn::Set(d, T{1}), hn::Load(d, odds + place * kPad + lane)));
      hn::Store(threshold_of(kept), di, thresholds[place] + lane);
    }
  }
}

template <typename T>
void mask_draw(const solo::MaskDraw<T>& a) {
  if (a.kind == MaskDrawing::kDeterministic) {
    mask_signs(a);
    return;
  }
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const LaneSchedule schedule(a.noise.key);
  const auto never = hn::Set(d, static_cast<T>(solo::kNeverLogit));
  alignas(64) PanelThresholds thresholds[kStripInputs];
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(a.inputs);
    const T* logits = a.logits + panel_row * kPad;
    std::uint16_t* bits = a.bits + panel_row * a.samples;
    FloatWords places[kPanelVectors<T>];
    MODLAB_UNROLL
    for (int v = 0; v < kPanelVectors<T>; ++v) {
      places[v] = places_of(panel * kPad + v * lanes, a.inputs);
    }
    for (int first = 0; first < a.inputs; first += kStripInputs) {
      std::int32_t drawn[kStripInputs];
      int count = 0;
      for (int input = first; input < std::min(a.inputs, first + kStripInputs); ++input) {
        bool can_be_kept = false;
        MODLAB_UNROLL
        for (int v = 0; v < kPanelVectors<T>; ++v) {
          can_be_kept |= !hn::AllTrue(d, hn::Lt(hn::Load(d, logits + input * kPad + v * lanes), never));
        }
        if (can_be_kept) {
          drawn[count++] = input;
        } else {
          std::fill_n(bits + static_cast<std::ptrdiff_t>(input) * a.samples, a.samples, std::uint16_t{0});
        }
      }
      thresholds_of_strip(logits, drawn, count, thresholds);
      for (int sample = 0; sample < a.samples; sample += kDrawSamples) {
        const LaneThreefry generator = mask_generator(schedule, a.noise, sample);
        for (int place = 0; place < count; place += kInputsTogether<T>) {
          draw_bits<T>(generator, places, drawn, place, count, thresholds, a.samples, sample, bits);
        }
      }
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
