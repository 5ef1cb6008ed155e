// Masks whose samples are made use of in turn: every sample's masked weights side by side, and the gradients of logits
// from those of every sample's weights.

#if defined(MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#undef MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#else
#define MODLAB_ENGINE_SOLO_FLAT_MASK_INL_H_
#endif

#include "engine/solo/mask_slope-inl.h"

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

// Numbers between 0 and 1, of one vector of weights.
template <typename T, typename Store>
HWY_NOINLINE void draw_hard_concrete(const solo::FlatMaskDraw<T>& a, const LaneSchedule& schedule, FloatWords places,
                                     Vector<T> logit, Vector<T> weight, const Store& store) {
  FloatWords word[kDrawSamples];
  for (int sample = 0; sample < a.samples; ++sample) {
    if (sample % kDrawSamples == 0) {
      mask_generator(schedule, a.noise, sample).draw(places, word);
    }
    Vector<T> uniform, rest, soft, slope;
    uniforms_of(word[sample % kDrawSamples], uniform, rest);
    soft_sample_at<T>(uniform, rest, logit, hn::Set(Tag<T>(), a.inverse_tau), soft, slope);
    store(sample, hn::Mul(weight, hard_concrete<T>(soft, slope)));
  }
}

template <typename T>
void flat_mask_draw(const solo::FlatMaskDraw<T>& a) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<float>> di;
  const WordTag<float> dw;
  const std::size_t lanes = hn::Lanes(d);
  const LaneSchedule schedule(a.noise.key);
  const auto first_places = hn::Iota(dw, 0);
  for (std::size_t at = 0; at < a.count; at += lanes) {
    const auto logit = hn::Load(d, a.logits + at);
    const auto weight = hn::Load(d, a.weights + at);
    const auto store = [&](int sample, Vector<T> value) HWY_ATTR {
      hn::Store(value, d, a.masked + static_cast<std::size_t>(sample) * a.stride + at);
    };
    const auto places = hn::Add(first_places, hn::Set(dw, a.first_index + static_cast<std::uint32_t>(at)));
    if (a.kind == MaskDrawing::kHardConcrete) {
      draw_hard_concrete<T>(a, schedule, places, logit, weight, store);
      continue;
    }
    const bool is_never = hn::AllTrue(d, hn::Lt(logit, hn::Set(d, static_cast<T>(solo::kNeverLogit))));
    if (a.kind == MaskDrawing::kDeterministic || is_never) {
      const auto kept = hn::IfThenElseZero(hn::Gt(logit, hn::Zero(d)), weight);
      for (int sample = 0; sample < a.samples; ++sample) {
        store(sample, kept);
      }
      continue;
    }
    const auto threshold = threshold_of(sigmoid_of<T>(near_logit<T>(logit)));
    for (int sample = 0; sample < a.samples; sample += kDrawSamples) {
      FloatWords word[kDrawSamples];
      mask_generator(schedule, a.noise, sample).draw(places, word);
      for (int offset = 0; offset < kDrawSamples && sample + offset < a.samples; ++offset) {
        const auto kept = hn::Lt(hn::BitCast(di, hn::ShiftRight<1>(word[offset])), threshold);
        store(sample + offset, hn::IfThenElseZero(choice_of<T>(kept), weight));
      }
    }
  }
}

// Vectors of logits one after the other.
template <typename T>
struct FlatVectors {
  const solo::FlatMaskGradient<T>& a;
  FloatWords first_places;
  std::ptrdiff_t stride;

  HWY_INLINE std::ptrdiff_t at(int index) const { return index * static_cast<std::ptrdiff_t>(hn::Lanes(Tag<T>())); }
  HWY_INLINE FloatWords places(int index) const {
    const WordTag<float> dw;
    return hn::Add(first_places, hn::Set(dw, a.first_index + static_cast<std::uint32_t>(at(index))));
  }
  HWY_INLINE const T* products(int index) const { return a.products + at(index); }
  HWY_INLINE Vector<T> start(int index) const { return penalty_of(a.slope, a.slope.logits + at(index)); }
};

template <typename T>
void flat_mask_gradient(const solo::FlatMaskGradient<T>& a) {
  const LaneSchedule schedule(a.slope.noise.key);
  const FlatVectors<T> vectors{a, hn::Iota(WordTag<float>(), 0), static_cast<std::ptrdiff_t>(a.stride)};
  logit_gradients(a.slope, schedule, a.weights, a.samples, vectors, static_cast<int>(a.count / hn::Lanes(Tag<T>())),
                  a.gradients);
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
