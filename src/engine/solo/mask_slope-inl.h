// The gradients of logits, for which a mask's numbers are drawn once more: that takes less time than to keep them
// would.

#if defined(MODLAB_ENGINE_SOLO_MASK_SLOPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_MASK_SLOPE_INL_H_
#undef MODLAB_ENGINE_SOLO_MASK_SLOPE_INL_H_
#else
#define MODLAB_ENGINE_SOLO_MASK_SLOPE_INL_H_
#endif

#include <algorithm>

#include "engine/kernels/soft_mask-inl.h"
#include "engine/solo/mask_draw-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// Where the slope begins to count as zero.
template <typename T>
T far_logit(const solo::MaskSlope<T>& a) {
  return static_cast<T>(solo::kFarLogit) * std::max(T{1}, T{1} / a.inverse_tau);
}

// What the gradients of some logits begin with.
template <typename T>
HWY_INLINE Vector<T> penalty_of(const solo::MaskSlope<T>& a, const T* logits) {
  const Tag<T> d;
  const auto alpha = hn::Set(d, a.alpha);
  if (!a.of_count) {
    return alpha;
  }
  const auto kept = sigmoid_of<T>(near_logit<T>(hn::Load(d, logits)));
  return hn::Mul(alpha, hn::Mul(kept, hn::Sub(hn::Set(d, T{1}), kept)));
}

// product * s (1 - s) of s = for / (for + against), added to a sum.
template <typename V>
HWY_INLINE V plus_slope(V sum, V for_it, V against, V inverse, V product) {
  return fused(product, hn::Mul(hn::Mul(for_it, inverse), hn::Mul(against, inverse)), sum);
}

// Adds what up to kDrawSamples samples of a vector of weights give, of whose logits `odds` are the exp(-logit).
template <typename T, bool kHasTau>
HWY_INLINE Vector<T> plus_slopes(const solo::MaskSlope<T>& a, Vector<T> sum, const FloatWords (&word)[kDrawSamples],
                                 Vector<T> logit, Vector<T> odds, const T* products, std::ptrdiff_t stride,
                                 int samples) {
  const Tag<T> d;
  const auto weigh = [&](FloatWords drawn, Vector<T>& for_it, Vector<T>& against) HWY_ATTR {
    Vector<T> rest;
    uniforms_of(drawn, for_it, rest);
    if constexpr (kHasTau) {
      const auto noisy = hn::Add(logit, hn::Sub(log_of(for_it), log_of(rest)));
      for_it = hn::Set(d, T{1});
      against = exp_of(hn::Neg(near_logit<T>(hn::Mul(noisy, hn::Set(d, a.inverse_tau)))));
    } else {
      against = hn::Mul(rest, odds);
    }
  };
  // Two samples share an inverse, that of the product of their denominators, which is neither too large nor too small
  // for a float as long as logits are near.
  MODLAB_UNROLL
  for (int offset = 0; offset < kDrawSamples; offset += 2) {
    if (offset >= samples) {
      break;
    }
    const T* product = products + offset * stride;
    Vector<T> for_it[2], against[2];
    weigh(word[offset], for_it[0], against[0]);
    weigh(word[offset + 1], for_it[1], against[1]);
    const auto one_sum = hn::Add(for_it[0], against[0]);
    const auto other_sum = hn::Add(for_it[1], against[1]);
    const auto inverse = inverse_of(hn::Mul(one_sum, other_sum));
    sum = plus_slope(sum, for_it[0], against[0], hn::Mul(inverse, other_sum), hn::Load(d, product));
    if (offset + 1 < samples) {
      sum = plus_slope(sum, for_it[1], against[1], hn::Mul(inverse, one_sum), hn::Load(d, product + stride));
    }
  }
  return sum;
}

template <typename T, bool kHasTau>
HWY_INLINE Vector<T> sum_samples(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, const LaneThreefry& first,
                                 FloatWords places, Vector<T> logit, const T* products, std::ptrdiff_t stride,
                                 int samples) {
  const auto odds = exp_of(hn::Neg(near_logit<T>(logit)));
  FloatWords word[kDrawSamples];
  first.draw(places, word);
  auto sum = plus_slopes<T, kHasTau>(a, hn::Zero(Tag<T>()), word, logit, odds, products, stride, samples);
  for (int sample = kDrawSamples; sample < samples; sample += kDrawSamples) {
    mask_generator(schedule, a.noise, sample).draw(places, word);
    sum = plus_slopes<T, kHasTau>(a, sum, word, logit, odds, products + sample * stride, stride, samples - sample);
  }
  return sum;
}

// Rare, and so a function of its own.
template <typename T>
HWY_NOINLINE Vector<T> sum_samples_with_tau(const solo::MaskSlope<T>& a, const LaneSchedule& schedule,
                                            const LaneThreefry& first, FloatWords places, Vector<T> logit,
                                            const T* products, std::ptrdiff_t stride, int samples) {
  return sum_samples<T, true>(a, schedule, first, places, logit, products, stride, samples);
}

template <typename T>
HWY_NOINLINE Vector<T> sum_hard_concrete(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, FloatWords places,
                                         Vector<T> logit, const T* products, std::ptrdiff_t stride, int samples) {
  const Tag<T> d;
  auto sum = hn::Zero(d);
  FloatWords word[kDrawSamples];
  for (int sample = 0; sample < samples; ++sample) {
    if (sample % kDrawSamples == 0) {
      mask_generator(schedule, a.noise, sample).draw(places, word);
    }
    Vector<T> uniform, rest, soft, slope;
    uniforms_of(word[sample % kDrawSamples], uniform, rest);
    soft_sample_at<T>(uniform, rest, logit, hn::Set(d, a.inverse_tau), soft, slope);
    hard_concrete<T>(soft, slope);
    sum = fused(hn::Load(d, products + sample * stride), slope, sum);
  }
  return sum;
}

template <typename T>
HWY_NOINLINE Vector<T> sum_signs(const solo::MaskSlope<T>& a, Vector<T> logit, const T* products, std::ptrdiff_t stride,
                                 int samples) {
  const Tag<T> d;
  const auto one = hn::Set(d, T{1});
  auto product = hn::Zero(d);
  for (int sample = 0; sample < samples; ++sample) {
    product = hn::Add(product, hn::Load(d, products + sample * stride));
  }
  const auto against = exp_of(hn::Neg(near_logit<T>(hn::Mul(logit, hn::Set(d, a.inverse_tau)))));
  return plus_slope(hn::Zero(d), one, against, inverse_of(hn::Add(one, against)), product);
}

// The gradients of some vectors of logits from the gradients of the masked weights of each sample. `vectors` says of
// each where it lies among weights, logits and gradients (`at`), in the layout (`places`), where the gradients of its
// weights under the first sample are (`products`; of the others `stride` apart), and what its own begins with
// (`start`).
template <typename T, typename Vectors>
HWY_INLINE void logit_gradients(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, const T* weights,
                                int samples, const Vectors& vectors, int count, T* gradients) {
  const Tag<T> d;
  const auto far = hn::Set(d, far_logit(a));
  const LaneThreefry first = mask_generator(schedule, a.noise, 0);
  const bool has_tau = a.inverse_tau != T{1};
  for (int index = 0; index < count; ++index) {
    const std::ptrdiff_t at = vectors.at(index);
    const auto logit = hn::Load(d, a.logits + at);
    const auto is_near = hn::Lt(hn::Abs(logit), far);
    auto gradient = vectors.start(index);
    if (!hn::AllFalse(d, is_near)) {
      const T* products = vectors.products(index);
      const auto reach = hn::IfThenElseZero(is_near, hn::Mul(hn::Load(d, weights + at), hn::Set(d, a.inverse_tau)));
      const auto sum =
          a.kind == MaskDrawing::kDeterministic ? sum_signs<T>(a, logit, products, vectors.stride, samples)
          : a.kind == MaskDrawing::kHardConcrete
              ? sum_hard_concrete<T>(a, schedule, vectors.places(index), logit, products, vectors.stride, samples)
          : has_tau ? sum_samples_with_tau<T>(a, schedule, first, vectors.places(index), logit, products,
                                              vectors.stride, samples)
                    : sum_samples<T, false>(a, schedule, first, vectors.places(index), logit, products, vectors.stride,
                                            samples);
      gradient = fused(sum, reach, gradient);
    }
    hn::Store(gradient, d, gradients + at);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
