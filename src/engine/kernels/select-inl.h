// Hard selection with straight-through gradients (spec of the papers: top-k of sigmoid scores for inputs and outputs,
// top-1 of softmax scores for pool members). A pick is a candidate's index held in a lane; reading and writing the picked
// candidate compares that index with every candidate's, so that no lane branches.

#if defined(MODLAB_ENGINE_KERNELS_SELECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_SELECT_INL_H_
#undef MODLAB_ENGINE_KERNELS_SELECT_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_SELECT_INL_H_
#endif

#include <limits>

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
void top_k(const TopK<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int column = 0; column < a.columns; ++column) {
    for (int position = 0; position < a.k; ++position) {
      // Where every score is not a number the lowest free index wins: each lane always has k distinct picks.
      auto best = hn::Set(d, -std::numeric_limits<T>::infinity());
      auto pick = hn::Set(d, T{-1});
      for (int candidate = 0; candidate < a.candidates; ++candidate) {
        const auto index = hn::Set(d, static_cast<T>(candidate));
        const std::size_t at = column * lanes;
        auto score = hn::Load(d, a.scores.unit(candidate) + at);
        if (a.noise != nullptr) {
          score = hn::Add(score, hn::Load(d, a.noise + candidate * a.scores.stride + at));
        }
        auto better = hn::Or(hn::Gt(score, best), hn::Lt(pick, hn::Zero(d)));
        for (int earlier = 0; earlier < position; ++earlier) {
          better = hn::AndNot(hn::Eq(hn::Load(d, a.picks.unit(earlier) + at), index), better);
        }
        best = hn::IfThenElse(better, score, best);
        pick = hn::IfThenElse(better, index, pick);
      }
      hn::Store(pick, d, a.picks.unit(position) + column * lanes);
    }
  }
}

template <typename T, int kRows>
HWY_INLINE void gather_tile(const Gather<T>& a, int position, int row) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* pick = a.picks.unit(position);
  const std::size_t at = row * lanes;
  Vector<T> value[kRows];
  for (int r = 0; r < kRows; ++r) {
    value[r] = hn::Load(d, a.x.data + at + r * lanes);
  }
  for (int candidate = 1; candidate < a.candidates; ++candidate) {
    const auto index = hn::Set(d, static_cast<T>(candidate));
    const T* x = a.x.unit(candidate) + at;
    if (a.pick_per_row) {
      for (int r = 0; r < kRows; ++r) {
        const auto chosen = hn::Eq(hn::Load(d, pick + at + r * lanes), index);
        value[r] = hn::IfThenElse(chosen, hn::Load(d, x + r * lanes), value[r]);
      }
    } else {
      const auto chosen = hn::Eq(hn::Load(d, pick), index);
      for (int r = 0; r < kRows; ++r) {
        value[r] = hn::IfThenElse(chosen, hn::Load(d, x + r * lanes), value[r]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    hn::Store(value[r], d, a.z.unit(position) + at + r * lanes);
  }
}

template <typename T>
void gather(const Gather<T>& a) {
  for (int position = 0; position < a.k; ++position) {
    int row = 0;
    for (; row + 8 <= a.rows; row += 8) {
      gather_tile<T, 8>(a, position, row);
    }
    for (; row < a.rows; ++row) {
      gather_tile<T, 1>(a, position, row);
    }
  }
}

template <typename T>
void scatter(const Scatter<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int candidate = 0; candidate < a.candidates; ++candidate) {
    const auto index = hn::Set(d, static_cast<T>(candidate));
    T* dx = a.dx.unit(candidate);
    for (int position = 0; position < a.k; ++position) {
      const T* pick = a.picks.unit(position);
      const T* dz = a.dz.unit(position);
      auto chosen = hn::Eq(hn::Load(d, pick), index);
      for (int row = 0; row < a.rows; ++row) {
        if (a.pick_per_row) {
          chosen = hn::Eq(hn::Load(d, pick + row * lanes), index);
        }
        const auto sum = hn::Add(hn::Load(d, dx + row * lanes),
                                 hn::IfThenElseZero(chosen, hn::Load(d, dz + row * lanes)));
        hn::Store(sum, d, dx + row * lanes);
      }
    }
  }
}

template <typename T, int kCandidates>
HWY_INLINE void correlate_tile(const Correlate<T>& a, int candidate) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> sum[kCandidates];
  for (int c = 0; c < kCandidates; ++c) {
    sum[c] = hn::Load(d, a.sums + (candidate + c) * a.sum_stride);
  }
  for (int row = 0; row < a.rows; ++row) {
    const std::size_t at = row * lanes;
    auto upstream = hn::Load(d, a.d.data + at);
    for (int position = 1; position < a.positions; ++position) {
      upstream = hn::Add(upstream, hn::Load(d, a.d.unit(position) + at));
    }
    if (a.row_task != nullptr) {
      upstream = hn::IfThenElseZero(hn::Eq(hn::Load(d, a.row_task + at), hn::Set(d, a.task)), upstream);
    }
    for (int c = 0; c < kCandidates; ++c) {
      auto x = hn::Load(d, a.x.unit(candidate + c) + at);
      if (a.slope.data != nullptr) {
        x = hn::Mul(x, hn::Load(d, a.slope.unit(candidate + c) + at));
      }
      sum[c] = fused(upstream, x, sum[c]);
    }
  }
  for (int c = 0; c < kCandidates; ++c) {
    hn::Store(sum[c], d, a.sums + (candidate + c) * a.sum_stride);
  }
}

template <typename T>
void correlate(const Correlate<T>& a) {
  int candidate = 0;
  for (; candidate + 6 <= a.candidates; candidate += 6) {
    correlate_tile<T, 6>(a, candidate);
  }
  for (; candidate + 3 <= a.candidates; candidate += 3) {
    correlate_tile<T, 3>(a, candidate);
  }
  for (; candidate < a.candidates; ++candidate) {
    correlate_tile<T, 1>(a, candidate);
  }
}

template <typename T>
HWY_INLINE Vector<T> slope_of(const T* score, const T* noise, Vector<T> inverse_tau) {
  const Tag<T> d;
  auto u = hn::Load(d, score);
  if (noise != nullptr) {
    u = hn::Add(u, hn::Load(d, noise));
  }
  const auto q = sigmoid_of<T>(hn::Mul(u, inverse_tau));
  return hn::Mul(hn::Mul(q, hn::Sub(hn::Set(d, T{1}), q)), inverse_tau);
}

template <typename T>
void sigmoid_slope(const SigmoidSlope<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto inverse_tau = hn::Load(d, a.inverse_tau);
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    hn::Store(slope_of<T>(a.scores + at, a.noise == nullptr ? nullptr : a.noise + at, inverse_tau), d, a.slope + at);
  }
}

template <typename T>
void sigmoid_finish(const SigmoidFinish<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto inverse_tau = hn::Load(d, a.inverse_tau);
  for (int index = 0; index < a.count; ++index) {
    const std::size_t at = index * lanes;
    const auto slope = slope_of<T>(a.scores + at, a.noise == nullptr ? nullptr : a.noise + at, inverse_tau);
    hn::Store(fused(slope, hn::Load(d, a.sums + at), hn::Load(d, a.gradients + at)), d, a.gradients + at);
  }
}

// Softmax of scores + noise over members; `at` is the element of the column.
template <typename T>
struct Softmax {
  Vector<T> highest;
  Vector<T> inverse_total;
  Vector<T> inverse_tau;

  HWY_INLINE static Vector<T> load(Units<const T> scores, const T* noise, int member, std::size_t at) {
    const Tag<T> d;
    auto score = hn::Load(d, scores.unit(member) + at);
    if (noise != nullptr) {
      score = hn::Add(score, hn::Load(d, noise + member * scores.stride + at));
    }
    return score;
  }
  HWY_INLINE Softmax(Units<const T> scores, const T* noise, const T* tau, int members, std::size_t at)
      : highest(load(scores, noise, 0, at)), inverse_total(hn::Zero(Tag<T>())), inverse_tau(hn::Load(Tag<T>(), tau)) {
    const Tag<T> d;
    for (int member = 1; member < members; ++member) {
      highest = larger(load(scores, noise, member, at), highest);
    }
    auto total = hn::Zero(d);
    for (int member = 0; member < members; ++member) {
      total = hn::Add(total, exp_of(hn::Mul(hn::Sub(load(scores, noise, member, at), highest), inverse_tau)));
    }
    inverse_total = hn::Div(hn::Set(d, T{1}), total);
  }
  HWY_INLINE Vector<T> weight(Vector<T> score) const {
    return hn::Mul(exp_of(hn::Mul(hn::Sub(score, highest), inverse_tau)), inverse_total);
  }
};

template <typename T>
void softmax_finish(const SoftmaxFinish<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int column = 0; column < a.columns; ++column) {
    const std::size_t at = column * lanes;
    const Softmax<T> softmax(a.scores, a.noise, a.inverse_tau, a.members, at);
    auto mean = hn::Zero(d);
    for (int member = 0; member < a.members; ++member) {
      const auto q = softmax.weight(Softmax<T>::load(a.scores, a.noise, member, at));
      mean = fused(q, hn::Load(d, a.sums.unit(member) + at), mean);
    }
    for (int member = 0; member < a.members; ++member) {
      const auto q = softmax.weight(Softmax<T>::load(a.scores, a.noise, member, at));
      const auto slope = hn::Mul(q, softmax.inverse_tau);
      T* gradient = a.gradients.unit(member) + at;
      const auto excess = hn::Sub(hn::Load(d, a.sums.unit(member) + at), mean);
      hn::Store(fused(slope, excess, hn::Load(d, gradient)), d, gradient);
    }
  }
}

template <typename T>
void softmax_rows(const SoftmaxRows<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int row = 0; row < a.rows; ++row) {
    const std::size_t at = row * lanes;
    auto upstream = hn::Load(d, a.d + at);
    if (a.row_task != nullptr) {
      upstream = hn::IfThenElseZero(hn::Eq(hn::Load(d, a.row_task + at), hn::Set(d, a.task)), upstream);
    }
    const Softmax<T> softmax(a.scores, nullptr, a.inverse_tau, a.members, at);
    auto mean = hn::Zero(d);
    for (int member = 0; member < a.members; ++member) {
      const auto q = softmax.weight(hn::Load(d, a.scores.unit(member) + at));
      mean = fused(q, hn::Mul(upstream, hn::Load(d, a.o.unit(member) + at)), mean);
    }
    for (int member = 0; member < a.members; ++member) {
      const auto q = softmax.weight(hn::Load(d, a.scores.unit(member) + at));
      const auto excess = hn::Sub(hn::Mul(upstream, hn::Load(d, a.o.unit(member) + at)), mean);
      T* gradient = a.gradients + member * a.gradient_stride;
      hn::Store(fused(hn::Mul(q, softmax.inverse_tau), excess, hn::Load(d, gradient)), d, gradient);
    }
  }
}

template <typename T>
void take_task(const TakeTask<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int row = 0; row < a.rows; ++row) {
    const std::size_t at = row * lanes;
    auto value = hn::Load(d, a.values);
    for (int task = 1; task < a.tasks; ++task) {
      const auto chosen = hn::Eq(hn::Load(d, a.row_task + at), hn::Set(d, static_cast<T>(task)));
      value = hn::IfThenElse(chosen, hn::Load(d, a.values + task * a.task_stride), value);
    }
    if (a.noise != nullptr) {
      value = hn::Add(value, hn::Load(d, a.noise + at));
    }
    hn::Store(value, d, a.out + at);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
