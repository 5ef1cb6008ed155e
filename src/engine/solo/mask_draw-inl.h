// Draws of masks from logits, and the gradients of logits, for which the same numbers are drawn once more: that takes
// less time than to keep them would.

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

// The generator of one network: all lanes have its key.
HWY_INLINE LaneThreefry generator_of(const Words4& key) {
  alignas(64) std::uint32_t keys[4 * solo::kUnitPad];
  const auto lanes = static_cast<int>(hn::Lanes(WordTag<float>()));
  for (int word = 0; word < 4; ++word) {
    std::fill_n(keys + word * lanes, lanes, key[static_cast<std::size_t>(word)]);
  }
  return LaneThreefry(keys);
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

template <typename T>
void mask_draw(const solo::MaskDraw<T>& a) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<float>> di;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kPad = solo::kUnitPad;
  const LaneThreefry generator = generator_of(a.noise.key);
  for (int panel = a.first_panel; panel < a.last_panel; ++panel) {
    const std::ptrdiff_t panel_row = static_cast<std::ptrdiff_t>(panel) * solo::padded_inputs(a.inputs);
    FloatWords places[kPanelVectors<T>];
    MODLAB_UNROLL
    for (int v = 0; v < kPanelVectors<T>; ++v) {
      places[v] = places_of(panel * kPad + v * lanes, a.inputs);
    }
    for (int input = 0; input < a.inputs; ++input) {
      const T* logits = a.logits + (panel_row + input) * kPad;
      std::uint16_t* bits = a.bits + (panel_row + input) * a.samples;
      if (a.deterministic) {
        std::uint32_t kept = 0;
        for (int lane = 0; lane < kPad; lane += lanes) {
          kept |= static_cast<std::uint32_t>(bits_of(d, hn::Gt(hn::Load(d, logits + lane), hn::Zero(d)))) << lane;
        }
        std::fill_n(bits, a.samples, static_cast<std::uint16_t>(kept));
        continue;
      }
      if (kPanelVectors < T >> 1) {
        std::fill_n(bits, a.samples, std::uint16_t{0});
      }
      MODLAB_UNROLL
      for (int v = 0; v < kPanelVectors<T>; ++v) {
        const int lane = v * lanes;
        const auto logit = hn::Load(d, logits + lane);
        if (hn::AllTrue(d, hn::Lt(logit, hn::Set(d, static_cast<T>(solo::kNeverLogit))))) {
          if (kPanelVectors<T> == 1) {
            std::fill_n(bits, a.samples, std::uint16_t{0});
          }
          continue;
        }
        const auto threshold = threshold_of(sigmoid_of<T>(near_logit<T>(logit)));
        for (int sample = 0; sample < a.samples; sample += kDrawSamples) {
          FloatWords word[kDrawSamples];
          generator.draw(later_places(places[v], input), a.noise.step, solo::mask_use(a.noise, sample), word);
          for (int offset = 0; offset < kDrawSamples && sample + offset < a.samples; ++offset) {
            const auto kept = hn::Lt(hn::BitCast(di, hn::ShiftRight<1>(word[offset])), threshold);
            if (kPanelVectors<T> == 1) {
              bits[sample + offset] = bits_of(di, kept);
            } else {
              bits[sample + offset] = static_cast<std::uint16_t>(bits[sample + offset] | bits_of(di, kept) << lane);
            }
          }
        }
      }
    }
  }
}

// Where the slope begins to count as zero.
template <typename T>
HWY_INLINE Vector<T> far_logit(const solo::MaskSlope<T>& a) {
  return hn::Set(Tag<T>(), static_cast<T>(solo::kFarLogit) * std::max(T{1}, T{1} / a.inverse_tau));
}

// The gradients of the logits of weights from one input to some units, from the gradients of the masked weights of each
// sample, `stride` apart.
template <typename T>
HWY_INLINE Vector<T> logit_gradient(const solo::MaskSlope<T>& a, const LaneThreefry& generator, FloatWords places,
                                    Vector<T> logit, Vector<T> weight, const T* products, std::ptrdiff_t stride,
                                    int samples, Vector<T> start, Vector<T> far) {
  const Tag<T> d;
  const auto one = hn::Set(d, T{1});
  const auto is_near = hn::Lt(hn::Abs(logit), far);
  if (hn::AllFalse(d, is_near)) {
    return start;
  }
  const auto inverse_tau = hn::Set(d, a.inverse_tau);
  const auto reach = hn::IfThenElseZero(is_near, hn::Mul(weight, inverse_tau));
  auto sum = hn::Zero(d);
  // s (1 - s) of s = for / (for + against).
  const auto add = [&](Vector<T> for_it, Vector<T> against, Vector<T> product, Vector<T> inverse) HWY_ATTR {
    sum = fused(product, hn::Mul(hn::Mul(for_it, inverse), hn::Mul(against, inverse)), sum);
  };
  if (a.deterministic) {
    auto product = hn::Zero(d);
    for (int sample = 0; sample < samples; ++sample) {
      product = hn::Add(product, hn::Load(d, products + sample * stride));
    }
    const auto against = exp_of(hn::Neg(near_logit<T>(hn::Mul(logit, inverse_tau))));
    add(one, against, product, inverse_of(hn::Add(one, against)));
    return fused(sum, reach, start);
  }
  const auto odds = exp_of(hn::Neg(near_logit<T>(logit)));
  const auto weigh = [&](FloatWords word, Vector<T>& for_it, Vector<T>& against) HWY_ATTR {
    Vector<T> rest;
    uniforms_of(word, for_it, rest);
    if (a.inverse_tau == T{1}) {
      against = hn::Mul(rest, odds);
    } else {
      const auto noisy = hn::Add(logit, hn::Sub(log_of(for_it), log_of(rest)));
      for_it = one;
      against = exp_of(hn::Neg(near_logit<T>(hn::Mul(noisy, inverse_tau))));
    }
  };
  for (int sample = 0; sample < samples; sample += kDrawSamples) {
    FloatWords word[kDrawSamples];
    generator.draw(places, a.noise.step, solo::mask_use(a.noise, sample), word);
    // Two samples share an inverse, that of the product of their denominators, which is neither too large nor too small
    // for a float as long as logits are near.
    MODLAB_UNROLL
    for (int offset = 0; offset < kDrawSamples; offset += 2) {
      if (sample + offset >= samples) {
        break;
      }
      const T* product = products + (sample + offset) * stride;
      Vector<T> for_it[2], against[2];
      weigh(word[offset], for_it[0], against[0]);
      weigh(word[offset + 1], for_it[1], against[1]);
      const auto one_sum = hn::Add(for_it[0], against[0]);
      const auto other_sum = hn::Add(for_it[1], against[1]);
      const auto inverse = inverse_of(hn::Mul(one_sum, other_sum));
      add(for_it[0], against[0], hn::Load(d, product), hn::Mul(inverse, other_sum));
      if (sample + offset + 1 < samples) {
        add(for_it[1], against[1], hn::Load(d, product + stride), hn::Mul(inverse, one_sum));
      }
    }
  }
  return fused(sum, reach, start);
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
