// Masks of networks whose products are not ours: every sample's masked weights side by side, and the gradients of
// logits from those of every sample's weights.

#if defined(MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#undef MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#else
#define MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#endif

#include "engine/solo/mask_draw-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// What words decide, as a choice between numbers.
template <typename T, typename M>
HWY_INLINE auto choice_of(M kept) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Mask<Tag<T>>::FromBool(kept.bits != 0);  // numbers may be twice as long as words
#else
  return hn::RebindMask(Tag<T>(), kept);
#endif
}

template <typename T>
void flat_mask_draw(const solo::FlatMaskDraw<T>& a) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<float>> di;
  const WordTag<float> dw;
  const std::size_t lanes = hn::Lanes(d);
  const LaneThreefry generator = generator_of(a.noise.key);
  const auto first_places = hn::Iota(dw, 0);
  for (std::size_t at = 0; at < a.count; at += lanes) {
    const auto logit = hn::Load(d, a.logits + at);
    const auto weight = hn::Load(d, a.weights + at);
    const auto store = [&](int sample, Vector<T> value) HWY_ATTR {
      hn::Store(value, d, a.masked + static_cast<std::size_t>(sample) * a.stride + at);
    };
    const bool is_never = hn::AllTrue(d, hn::Lt(logit, hn::Set(d, static_cast<T>(solo::kNeverLogit))));
    if (a.deterministic || is_never) {
      const auto kept = hn::IfThenElseZero(hn::Gt(logit, hn::Zero(d)), weight);
      for (int sample = 0; sample < a.samples; ++sample) {
        store(sample, kept);
      }
      continue;
    }
    const auto threshold = threshold_of(sigmoid_of<T>(near_logit<T>(logit)));
    const auto places = hn::Add(first_places, hn::Set(dw, a.first_index + static_cast<std::uint32_t>(at)));
    for (int sample = 0; sample < a.samples; sample += kDrawSamples) {
      FloatWords word[kDrawSamples];
      generator.draw(places, a.noise.step, solo::mask_use(a.noise, sample), word);
      for (int offset = 0; offset < kDrawSamples && sample + offset < a.samples; ++offset) {
        const auto kept = hn::Lt(hn::BitCast(di, hn::ShiftRight<1>(word[offset])), threshold);
        store(sample + offset, hn::IfThenElseZero(choice_of<T>(kept), weight));
      }
    }
  }
}

template <typename T>
void flat_mask_gradient(const solo::FlatMaskGradient<T>& a) {
  const Tag<T> d;
  const WordTag<float> dw;
  const std::size_t lanes = hn::Lanes(d);
  const LaneThreefry generator = generator_of(a.slope.noise.key);
  const auto first_places = hn::Iota(dw, 0);
  const auto far = far_logit(a.slope);
  const auto alpha = hn::Set(d, a.slope.alpha);
  for (std::size_t at = 0; at < a.count; at += lanes) {
    const auto places = hn::Add(first_places, hn::Set(dw, a.first_index + static_cast<std::uint32_t>(at)));
    const auto gradient =
        logit_gradient(a.slope, generator, places, hn::Load(d, a.slope.logits + at), hn::Load(d, a.weights + at),
                       a.products + at, static_cast<std::ptrdiff_t>(a.stride), a.samples, alpha, far);
    hn::Store(gradient, d, a.gradients + at);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
