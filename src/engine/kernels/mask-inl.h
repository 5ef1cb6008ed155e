// Masks over frozen weights: a lane is one mask, and what is trained are its logits.

#if defined(MODLAB_ENGINE_KERNELS_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_MASK_INL_H_
#undef MODLAB_ENGINE_KERNELS_MASK_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_MASK_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"
#include "engine/kernels/soft_mask-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
void mask_odds(const T* logits, T* odds, int count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 2
  for (int index = 0; index < count; ++index) {
    hn::Store(exp_of(hn::Neg(hn::Load(d, logits + index * lanes))), d, odds + index * lanes);
  }
}

template <typename T, bool kHasTau, bool kIsHardConcrete>
HWY_INLINE void draw_mask_as(const DrawMask<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, T{1});
  const auto inverse_tau = hn::Load(d, a.inverse_tau);
#pragma GCC unroll 4
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    const auto uniform = a.uniforms == nullptr ? hn::Set(d, T{0.5}) : hn::Load(d, a.uniforms + at);
    const auto rest = hn::Sub(one, uniform);
    const auto odds = hn::Load(d, a.odds + at);
    Vector<T> soft, slope;
    if constexpr (kHasTau) {
      soft_sample_at<T>(uniform, rest, hn::Load(d, a.logits + at), inverse_tau, soft, slope);
      slope = hn::Mul(slope, inverse_tau);
    } else {
      soft_sample<T>(uniform, rest, odds, soft, slope);
    }
    Vector<T> factor;
    if constexpr (kIsHardConcrete) {
      factor = hard_concrete<T>(soft, slope);
    } else {
      // Whether the noisy logit is positive does not depend on the temperature.
      factor = hn::IfThenElseZero(hn::Gt(uniform, hn::Mul(rest, odds)), one);
    }
    hn::Store(factor, d, a.factors + at);
    hn::Store(slope, d, a.slopes + at);
  }
}

template <typename T>
void draw_mask(const DrawMask<T>& a) {
  const bool is_hard_concrete = a.kind == MaskDrawing::kHardConcrete;
  if (a.has_tau) {
    return is_hard_concrete ? draw_mask_as<T, true, true>(a) : draw_mask_as<T, true, false>(a);
  }
  return is_hard_concrete ? draw_mask_as<T, false, true>(a) : draw_mask_as<T, false, false>(a);
}

template <typename T>
void apply_mask(const ApplyMask<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int index = 0; index < a.count; ++index) {
    if (a.logit_of[index] >= 0) {
      const std::size_t at = index * lanes;
      const std::size_t logit = (a.logit_of[index] - a.first_logit) * lanes;
      const auto weight = hn::Load(d, a.weights + at);
      hn::Store(hn::Mul(weight, hn::Load(d, a.factors + logit)), d, a.masked + at);
      hn::Store(hn::Mul(weight, hn::Load(d, a.slopes + logit)), d, a.reach + at);
    }
  }
}

template <typename T>
void mask_gradient(const MaskGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    if (a.logit_of[index] >= 0) {
      T* dlogit = a.dlogits + a.logit_of[index] * lanes;
      hn::Store(fused(hn::Load(d, a.gradients + at), hn::Load(d, a.reach + at), hn::Load(d, dlogit)), d, dlogit);
    }
    hn::Store(hn::Zero(d), d, a.gradients + at);
  }
}

template <typename T>
void mask_penalty(const MaskPenalty<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto alpha = hn::Load(d, a.alpha);
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    auto gradient = alpha;
    if (a.of_count) {
      const auto kept = sigmoid_of<T>(hn::Load(d, a.logits + at));
      gradient = hn::Mul(alpha, hn::Mul(kept, hn::Sub(hn::Set(d, T{1}), kept)));
    }
    hn::Store(hn::Add(hn::Load(d, a.dlogits + at), gradient), d, a.dlogits + at);
  }
}

// As torch.nn.utils.clip_grad_norm_ does it, for each lane.
template <typename T>
void clip_lanes(const ClipLanes<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto squares = hn::Zero(d);
  for (int index = 0; index < a.count; ++index) {
    const auto gradient = hn::Load(d, a.gradients + index * lanes);
    squares = fused(gradient, gradient, squares);
  }
  const auto one = hn::Set(d, T{1});
  const auto length = hn::Add(sqrt_of(squares), hn::Set(d, static_cast<T>(1e-6)));
  const auto factor = smaller(one, hn::Mul(hn::Load(d, a.longest), inverse_of(length)));
  if (hn::AllTrue(d, hn::Eq(factor, one))) {
    return;
  }
  for (int index = 0; index < a.count; ++index) {
    T* gradient = a.gradients + index * lanes;
    hn::Store(hn::Mul(hn::Load(d, gradient), factor), d, gradient);
  }
}

template <typename T>
void weigh_units(const WeighUnits<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int unit = 0; unit < a.units; ++unit) {
    const auto weight = hn::Load(d, a.weights + unit * lanes);
    for (int row = 0; row < a.rows; ++row) {
      T* value = a.values.unit(unit) + row * lanes;
      hn::Store(hn::Mul(hn::Load(d, value), weight), d, value);
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
