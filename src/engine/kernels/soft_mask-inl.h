// What a logit and a uniform number make of a weight: a soft sample between 0 and 1, or a hard concrete one.

#if defined(MODLAB_ENGINE_KERNELS_SOFT_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_SOFT_MASK_INL_H_
#undef MODLAB_ENGINE_KERNELS_SOFT_MASK_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_SOFT_MASK_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// A hard concrete variable is stretched from (0, 1) to this interval and cut off at 0 and 1 (Louizos, Welling and
// Kingma, "Learning sparse neural networks through L0 regularization", eq. (11)).
inline constexpr double kStretchLow = -0.1;
inline constexpr double kStretchHigh = 1.1;

// sigmoid(l + log(u / (1 - u))) and its slope s (1 - s), without a logarithm. `odds`: exp(-l).
template <typename T>
HWY_INLINE void soft_sample(Vector<T> uniform, Vector<T> rest, Vector<T> odds, Vector<T>& soft, Vector<T>& slope) {
  const auto against = hn::Mul(rest, odds);
  const auto inverse = inverse_of(hn::Add(uniform, against));
  soft = hn::Mul(uniform, inverse);
  slope = hn::Mul(soft, hn::Mul(against, inverse));
}

// The same at a temperature, of which the slope knows nothing: it is to be divided by it.
template <typename T>
HWY_INLINE void soft_sample_at(Vector<T> uniform, Vector<T> rest, Vector<T> logit, Vector<T> inverse_tau,
                               Vector<T>& soft, Vector<T>& slope) {
  const Tag<T> d;
  const auto noise = hn::Sub(log_of(uniform), log_of(rest));
  soft = sigmoid_of<T>(hn::Mul(hn::Add(logit, noise), inverse_tau));
  slope = hn::Mul(soft, hn::Sub(hn::Set(d, T{1}), soft));
}

// What a soft sample becomes; its slope becomes that of the factor.
template <typename T>
HWY_INLINE Vector<T> hard_concrete(Vector<T> soft, Vector<T>& slope) {
  const Tag<T> d;
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, T{1});
  const auto width = hn::Set(d, static_cast<T>(kStretchHigh - kStretchLow));
  const auto stretched = fused(soft, width, hn::Set(d, static_cast<T>(kStretchLow)));
  slope = hn::IfThenElseZero(hn::And(hn::Gt(stretched, zero), hn::Lt(stretched, one)), hn::Mul(slope, width));
  return smaller(one, larger(zero, stretched));
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
