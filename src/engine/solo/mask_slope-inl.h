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

// Adds what kDrawSamples samples of a vector of weights give, or fewer where kIsPart, of whose logits `odds` are the
// exp(-logit).
template <typename T, bool kHasTau, bool kIsPart>
HWY_INLINE Vector<T> plus_slopes(const solo::MaskSlope<T>& a, Vector<T> sum, const std::uint32_t* words,
                                 Vector<T> logit, Vector<T> odds, const T* products, std::ptrdiff_t stride,
                                 int samples) {
  const Tag<T> d;
  const WordTag<float> dw;
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
  // for a float as long as logits are near. What is drawn beyond the last sample counts nothing.
  constexpr int kPairs = kDrawSamples / 2;
  Vector<T> for_it[kDrawSamples], against[kDrawSamples], sums[kDrawSamples], product_of_sums[kPairs], inverse[kPairs];
  MODLAB_UNROLL
  for (int offset = 0; offset < kDrawSamples; ++offset) {
    weigh(hn::Load(dw, words + offset * hn::Lanes(dw)), for_it[offset], against[offset]);
    sums[offset] = hn::Add(for_it[offset], against[offset]);
  }
  MODLAB_UNROLL
  for (int pair = 0; pair < kPairs; ++pair) {
    product_of_sums[pair] = hn::Mul(sums[2 * pair], sums[2 * pair + 1]);
  }
  inverses_of(product_of_sums, inverse);
  MODLAB_UNROLL
  for (int offset = 0; offset < kDrawSamples; ++offset) {
    if (!kIsPart || offset < samples) {
      const auto own_inverse = hn::Mul(inverse[offset / 2], sums[offset ^ 1]);
      sum = plus_slope(sum, for_it[offset], against[offset], own_inverse, hn::Load(d, products + offset * stride));
    }
  }
  return sum;
}

// Vectors of logits whose gradients are formed together, step by step: each is a long chain of operations, of which the
// hardware sees too few at a time to begin the next vector's by itself.
inline constexpr int kTogether = 8;
struct Together {
  int count = 0;
  int index[kTogether];
  std::ptrdiff_t at[kTogether];  // among the logits

  void add(int next, std::ptrdiff_t next_at) {
    index[count] = next;
    at[count++] = next_at;
  }
};
template <typename T>
using NumbersTogether = T[kTogether * hn::MaxLanes(Tag<T>())];
using WordsTogether = std::uint32_t[kTogether * kDrawSamples * hn::MaxLanes(WordTag<float>())];

template <typename Vectors>
HWY_INLINE void draw_together(const LaneThreefry& generator, const Vectors& vectors, const Together& near,
                              WordsTogether& words) {
  const WordTag<float> dw;
  const auto lanes = static_cast<int>(hn::Lanes(dw));
  static_assert(kTogether % kDrawsTogether == 0);
  for (int place = 0; place < near.count; place += kDrawsTogether) {
    FloatWords index[kDrawsTogether];
    FloatWords word[kDrawsTogether][kDrawSamples];
    MODLAB_UNROLL
    for (int i = 0; i < kDrawsTogether; ++i) {
      index[i] = vectors.places(near.index[std::min(place + i, near.count - 1)]);
    }
    generator.draw(index, word);
    MODLAB_UNROLL
    for (int i = 0; i < kDrawsTogether; ++i) {
      MODLAB_UNROLL
      for (int offset = 0; offset < kDrawSamples; ++offset) {
        hn::Store(word[i][offset], dw, words + ((place + i) * kDrawSamples + offset) * lanes);
      }
    }
  }
}

// What the samples of some vectors say of their logits' gradients.
template <typename T, bool kHasTau, typename Vectors>
HWY_INLINE void sum_samples(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, const LaneThreefry& first,
                            int samples, const Vectors& vectors, const Together& near, NumbersTogether<T>& sums) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) NumbersTogether<T> odds;
  alignas(64) WordsTogether words;
  for (int place = 0; place < near.count; ++place) {
    const auto logit = hn::Load(d, a.logits + near.at[place]);
    hn::Store(exp_of(hn::Neg(near_logit<T>(logit))), d, odds + place * lanes);
  }
  for (int sample = 0; sample < samples; sample += kDrawSamples) {
    draw_together(sample == 0 ? first : mask_generator(schedule, a.noise, sample), vectors, near, words);
    const bool is_part = sample + kDrawSamples > samples;
    for (int place = 0; place < near.count; ++place) {
      const auto logit = hn::Load(d, a.logits + near.at[place]);
      const auto own_odds = hn::Load(d, odds + place * lanes);
      const auto before = sample == 0 ? hn::Zero(d) : hn::Load(d, sums + place * lanes);
      const T* products = vectors.products(near.index[place]) + sample * vectors.stride;
      const std::uint32_t* word = words + place * kDrawSamples * lanes;
      const auto sum = is_part ? plus_slopes<T, kHasTau, true>(a, before, word, logit, own_odds, products,
                                                               vectors.stride, samples - sample)
                               : plus_slopes<T, kHasTau, false>(a, before, word, logit, own_odds, products,
                                                                vectors.stride, samples - sample);
      hn::Store(sum, d, sums + place * lanes);
    }
  }
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

// Rare ways to draw, and so a function of its own.
template <typename T, typename Vectors>
HWY_NOINLINE void sum_rare_samples(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, const LaneThreefry& first,
                                   int samples, const Vectors& vectors, const Together& near,
                                   NumbersTogether<T>& sums) {
  const Tag<T> d;
  if (a.kind == MaskDrawing::kGumbel) {
    sum_samples<T, true>(a, schedule, first, samples, vectors, near, sums);
    return;
  }
  for (int place = 0; place < near.count; ++place) {
    const auto logit = hn::Load(d, a.logits + near.at[place]);
    const T* products = vectors.products(near.index[place]);
    const auto sum = a.kind == MaskDrawing::kDeterministic
                         ? sum_signs<T>(a, logit, products, vectors.stride, samples)
                         : sum_hard_concrete<T>(a, schedule, vectors.places(near.index[place]), logit, products,
                                                vectors.stride, samples);
    hn::Store(sum, d, sums + place * static_cast<int>(hn::Lanes(d)));
  }
}

// The gradients of some vectors of logits from the gradients of the masked weights of each sample. `vectors` says of
// each where it lies among weights, logits and gradients (`at`), in the layout (`places`), where the gradients of its
// weights under the first sample are (`products`; of the others `stride` apart), and what its own begins with
// (`start`).
template <typename T, typename Vectors>
HWY_INLINE void logit_gradients(const solo::MaskSlope<T>& a, const LaneSchedule& schedule, const T* weights,
                                int samples, const Vectors& vectors, int count, T* gradients) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto far = hn::Set(d, far_logit(a));
  const LaneThreefry first = mask_generator(schedule, a.noise, 0);
  const bool is_usual = a.kind == MaskDrawing::kGumbel && a.inverse_tau == T{1};
  alignas(64) NumbersTogether<T> sums;
  Together near;
  for (int index = 0; index < count; ++index) {
    const std::ptrdiff_t at = vectors.at(index);
    if (hn::AllFalse(d, hn::Lt(hn::Abs(hn::Load(d, a.logits + at)), far))) {
      hn::Store(vectors.start(index), d, gradients + at);
    } else {
      near.add(index, at);
    }
    if (near.count == kTogether || (near.count > 0 && index + 1 == count)) {
      if (is_usual) {
        sum_samples<T, false>(a, schedule, first, samples, vectors, near, sums);
      } else {
        sum_rare_samples(a, schedule, first, samples, vectors, near, sums);
      }
      for (int place = 0; place < near.count; ++place) {
        const std::ptrdiff_t own = near.at[place];
        const auto is_near = hn::Lt(hn::Abs(hn::Load(d, a.logits + own)), far);
        const auto reach = hn::IfThenElseZero(is_near, hn::Mul(hn::Load(d, weights + own), hn::Set(d, a.inverse_tau)));
        const auto start = vectors.start(near.index[place]);
        hn::Store(fused(hn::Load(d, sums + place * lanes), reach, start), d, gradients + own);
      }
      near.count = 0;
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
