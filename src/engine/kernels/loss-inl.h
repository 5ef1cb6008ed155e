// The loss on the networks' outputs: its gradient for training, and the counts of evaluation.

#if defined(MODLAB_ENGINE_KERNELS_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_LOSS_INL_H_
#undef MODLAB_ENGINE_KERNELS_LOSS_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_LOSS_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// The sum over outputs of -log of the probability given to the truth, from z turned so that negative is right. Each
// term is a softplus, max(x, 0) + log(1 + e^-|x|), at most 100 as in the published code; one logarithm serves all
// outputs, since their factors are between 1 and 2.
template <typename T>
struct CrossEntropy {
  Vector<T> linear;
  Vector<T> factor;

  HWY_INLINE CrossEntropy() : linear(hn::Zero(Tag<T>())), factor(hn::Set(Tag<T>(), T{1})) {}
  HWY_INLINE void add(Vector<T> wrongness) {
    const Tag<T> d;
    linear = hn::Add(linear, smaller(hn::Set(d, T{100}), larger(hn::Zero(d), wrongness)));
    factor = fused(factor, exp_of(hn::Neg(hn::Abs(wrongness))), factor);
  }
  HWY_INLINE Vector<T> sum() const { return hn::Add(linear, log_of(factor)); }
};

template <typename T>
void loss_gradient(const LossGradient<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, a.scale);
  auto loss = hn::Zero(d);
  for (int output = 0; output < a.outputs; ++output) {
    for (int row = 0; row < a.rows; ++row) {
      const auto z = hn::Load(d, a.z.unit(output) + row * lanes);
      const auto target = hn::Load(d, a.targets.unit(output) + row * lanes);
      const auto p = sigmoid_of<T>(z);
      const auto error = hn::Sub(p, target);
      auto gradient = hn::Mul(error, scale);
      if (a.kind == LossKind::kMse) {
        const auto slope = hn::Mul(p, hn::Sub(hn::Set(d, T{1}), p));
        gradient = hn::Mul(hn::Mul(gradient, hn::Set(d, T{2})), slope);
      }
      hn::Store(gradient, d, a.d.unit(output) + row * lanes);
      if (a.loss != nullptr) {
        const auto wrongness = hn::IfThenElse(hn::Gt(target, hn::Zero(d)), hn::Neg(z), z);
        CrossEntropy<T> entropy;
        entropy.add(wrongness);
        loss = hn::Add(loss, a.kind == LossKind::kMse ? hn::Mul(error, error) : entropy.sum());
      }
    }
  }
  if (a.loss != nullptr) {
    hn::Store(fused(loss, scale, hn::Load(d, a.loss)), d, a.loss);
  }
}

template <typename T>
void score(const Score<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, T{1});
  Vector<T> sums[kParts][kQuantities];
  MODLAB_UNROLL
  for (int part = 0; part < kParts; ++part) {
    MODLAB_UNROLL
    for (int quantity = 0; quantity < kQuantities; ++quantity) {
      sums[part][quantity] = hn::Load(d, a.sums + (part * kQuantities + quantity) * lanes);
    }
  }
  for (int row = 0; row < a.rows; ++row) {
    auto loss = zero;
    auto bits = zero;
    CrossEntropy<T> entropy;
    for (int output = 0; output < a.outputs; ++output) {
      const auto z = hn::Load(d, a.z.unit(output) + row * lanes);
      const bool target = ((a.targets[row] >> output) & 1U) != 0;
      // Predicted 1 means p > 0.5, that is z > 0: a network that says exactly 0.5 says 0.
      const auto says_one = hn::IfThenElseZero(hn::Gt(z, zero), one);
      bits = hn::Add(bits, target ? says_one : hn::Sub(one, says_one));
      if (a.kind == LossKind::kMse) {
        const auto error = hn::Sub(sigmoid_of<T>(z), target ? one : zero);
        loss = fused(error, error, loss);
      } else {
        entropy.add(target ? hn::Neg(z) : z);
      }
    }
    if (a.kind == LossKind::kBce) {
      loss = entropy.sum();
    }
    const auto all_bits = hn::Set(d, static_cast<T>(a.outputs));
    const auto whole_row = hn::IfThenElseZero(hn::Eq(bits, all_bits), one);
    const auto row_part = hn::Load(d, a.part + row * lanes);
    MODLAB_UNROLL
    for (int part = 0; part < kParts; ++part) {
      // A factor of 0 or 1, so that adding is one instruction; what is not a number spoils every part of its lane.
      const auto here = hn::IfThenElseZero(hn::Eq(row_part, hn::Set(d, static_cast<T>(part))), one);
      sums[part][0] = fused(here, loss, sums[part][0]);
      sums[part][1] = fused(here, bits, sums[part][1]);
      sums[part][2] = fused(here, whole_row, sums[part][2]);
    }
  }
  MODLAB_UNROLL
  for (int part = 0; part < kParts; ++part) {
    MODLAB_UNROLL
    for (int quantity = 0; quantity < kQuantities; ++quantity) {
      hn::Store(sums[part][quantity], d, a.sums + (part * kQuantities + quantity) * lanes);
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
