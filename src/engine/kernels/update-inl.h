// The optimisers, one pass over parameters, gradients and moments. Gradients are set to zero on the way out, ready for
// the next step. Formulas as in PyTorch 1.12, which the published code uses.

#if defined(MODLAB_ENGINE_KERNELS_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_UPDATE_INL_H_
#undef MODLAB_ENGINE_KERNELS_UPDATE_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_UPDATE_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

inline constexpr double kRmspropAlpha = 0.99;
inline constexpr double kMomentum = 0.9;
inline constexpr double kEpsilon = 1e-8;

template <typename T, OptimizerKind kKind>
HWY_INLINE void update_as(const Update<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr bool kIsAdam = kKind == OptimizerKind::kAdam || kKind == OptimizerKind::kAdamW;
  const auto zero = hn::Zero(d);
  const auto epsilon = hn::Set(d, static_cast<T>(kEpsilon));
  const auto weight_decay = hn::Load(d, a.weight_decay);
  auto rate = hn::Load(d, a.rate);
  const auto shrink = fused_minus(rate, weight_decay, hn::Set(d, T{1}));
  const auto second_scale = hn::Set(d, static_cast<T>(a.scales.second));
  if constexpr (kIsAdam) {
    rate = hn::Mul(rate, hn::Set(d, static_cast<T>(a.scales.first)));
  }
#pragma GCC unroll 2
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    auto parameter = hn::Load(d, a.parameters + at);
    auto gradient = hn::Load(d, a.gradients + at);
    hn::Store(zero, d, a.gradients + at);
    if (kKind == OptimizerKind::kAdamW) {
      parameter = hn::Mul(parameter, shrink);
    } else {
      gradient = fused(weight_decay, parameter, gradient);
    }
    if (a.mask != nullptr) {
      gradient = hn::Mul(gradient, hn::Load(d, a.mask + at));
    }
    if constexpr (kIsAdam) {
      const auto first = fused(hn::Set(d, static_cast<T>(kAdamBeta1)), hn::Load(d, a.first + at), gradient);
      const auto decayed = hn::Mul(hn::Set(d, static_cast<T>(kAdamBeta2)), hn::Load(d, a.second + at));
      const auto second = fused(gradient, gradient, decayed);
      hn::Store(first, d, a.first + at);
      hn::Store(second, d, a.second + at);
      const auto denominator = fused(sqrt_of(second), second_scale, epsilon);
      parameter = fused_minus(rate, hn::Mul(first, inverse_of(denominator)), parameter);
    } else if constexpr (kKind == OptimizerKind::kSgd) {
      parameter = fused_minus(rate, gradient, parameter);
    } else if constexpr (kKind == OptimizerKind::kMomentum) {
      const auto momentum = hn::Set(d, static_cast<T>(kMomentum));
      const auto velocity = fused(momentum, hn::Load(d, a.first + at), gradient);
      hn::Store(velocity, d, a.first + at);
      // Nesterov: look ahead along the velocity.
      parameter = fused_minus(rate, fused(momentum, velocity, gradient), parameter);
    } else {
      const auto second = fused(hn::Set(d, static_cast<T>(kRmspropAlpha)), hn::Load(d, a.second + at),
                                hn::Mul(hn::Mul(hn::Set(d, static_cast<T>(1.0 - kRmspropAlpha)), gradient), gradient));
      hn::Store(second, d, a.second + at);
      parameter = fused_minus(rate, hn::Mul(gradient, inverse_of(hn::Add(sqrt_of(second), epsilon))), parameter);
    }
    hn::Store(parameter, d, a.parameters + at);
  }
}

template <typename T>
void update(const Update<T>& a) {
  switch (a.kind) {
    case OptimizerKind::kAdam:
      return update_as<T, OptimizerKind::kAdam>(a);
    case OptimizerKind::kAdamW:
      return update_as<T, OptimizerKind::kAdamW>(a);
    case OptimizerKind::kSgd:
      return update_as<T, OptimizerKind::kSgd>(a);
    case OptimizerKind::kMomentum:
      return update_as<T, OptimizerKind::kMomentum>(a);
    case OptimizerKind::kRmsprop:
      return update_as<T, OptimizerKind::kRmsprop>(a);
  }
}

template <typename T>
void keep_lanes(const T* keep, const T* from, T* to, int count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto kept = hn::Ne(hn::Load(d, keep), hn::Zero(d));
  for (int index = 0; index < count; ++index) {
    const std::size_t at = index * lanes;
    hn::Store(hn::IfThenElse(kept, hn::Load(d, from + at), hn::Load(d, to + at)), d, to + at);
  }
}

template <typename T>
void add_to(const T* from, T* to, int count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int index = 0; index < count; ++index) {
    const std::size_t at = index * lanes;
    hn::Store(hn::Add(hn::Load(d, from + at), hn::Load(d, to + at)), d, to + at);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
