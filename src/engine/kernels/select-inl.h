// Hard selection with straight-through gradients (top-k of sigmoid scores for inputs and outputs,
// top-1 of softmax scores for pool members). A pick is a candidate's index held in a lane; reading and writing the
// picked candidate compares that index with every candidate's, so that no lane branches.

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

// Few candidates and one pick for all rows: which candidate each lane picked stays in mask registers.
inline constexpr int kMaskedCandidates = 7;

template <typename T, int kCandidates>
HWY_INLINE void gather_masked(const Gather<T>& a, int position) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto pick = hn::Load(d, a.picks.unit(position));
  decltype(hn::Eq(pick, pick)) chosen[kCandidates];
  const T* x[kCandidates];
  MODLAB_UNROLL
  for (int candidate = 0; candidate < kCandidates; ++candidate) {
    chosen[candidate] = hn::Eq(pick, hn::Set(d, static_cast<T>(candidate)));
    x[candidate] = a.x.unit(candidate);
  }
  T* z = a.z.unit(position);
  for (std::size_t at = 0; at < a.rows * lanes; at += lanes) {
    auto value = hn::Load(d, x[0] + at);
    MODLAB_UNROLL
    for (int candidate = 1; candidate < kCandidates; ++candidate) {
      value = hn::IfThenElse(chosen[candidate], hn::Load(d, x[candidate] + at), value);
    }
    hn::Store(value, d, z + at);
  }
}

template <typename T, int kCandidates>
HWY_INLINE bool gather_if_few(const Gather<T>& a, int position) {
  if constexpr (kCandidates <= kMaskedCandidates) {
    if (a.candidates == kCandidates) {
      gather_masked<T, kCandidates>(a, position);
      return true;
    }
    return gather_if_few<T, kCandidates + 1>(a, position);
  }
  return false;
}

template <typename T, bool kPickPerRow, int kRows>
HWY_INLINE void gather_tile(const T* x, std::size_t stride, int candidates, const T* pick, T* z) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> value[kRows];
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    value[r] = hn::Load(d, x + r * lanes);
  }
  const auto shared_pick = hn::Load(d, pick);
  // Counted up as a vector: turning the loop's integer into one at every turn would cost more than the turn itself.
  auto index = hn::Zero(d);
  for (int candidate = 1; candidate < candidates; ++candidate) {
    x += stride;
    index = hn::Add(index, hn::Set(d, T{1}));
    const auto shared_choice = hn::Eq(shared_pick, index);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto chosen = kPickPerRow ? hn::Eq(hn::Load(d, pick + r * lanes), index) : shared_choice;
      value[r] = hn::IfThenElse(chosen, hn::Load(d, x + r * lanes), value[r]);
    }
  }
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    hn::Store(value[r], d, z + r * lanes);
  }
}

template <typename T, bool kPickPerRow>
void gather_rows(const Gather<T>& a) {
  const std::size_t lanes = hn::Lanes(Tag<T>());
  for (int position = 0; position < a.k; ++position) {
    if (!kPickPerRow && gather_if_few<T, 1>(a, position)) {
      continue;
    }
    const T* x = a.x.data;
    const T* pick = a.picks.unit(position);
    T* z = a.z.unit(position);
    int row = 0;
    for (; row + 8 <= a.rows; row += 8) {
      gather_tile<T, kPickPerRow, 8>(x + row * lanes, a.x.stride, a.candidates, kPickPerRow ? pick + row * lanes : pick,
                                     z + row * lanes);
    }
    for (; row < a.rows; ++row) {
      gather_tile<T, kPickPerRow, 1>(x + row * lanes, a.x.stride, a.candidates, kPickPerRow ? pick + row * lanes : pick,
                                     z + row * lanes);
    }
  }
}

template <typename T>
void gather(const Gather<T>& a) {
  a.pick_per_row ? gather_rows<T, true>(a) : gather_rows<T, false>(a);
}

// kPositions at once, so that the candidate's gradient is fetched and stored only once for them.
template <typename T, bool kPickPerRow, int kPositions>
HWY_INLINE void scatter_positions(const Scatter<T>& a, int position) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* pick[kPositions];
  const T* dz[kPositions];
  MODLAB_UNROLL
  for (int p = 0; p < kPositions; ++p) {
    pick[p] = a.picks.unit(position + p);
    dz[p] = a.dz.unit(position + p);
  }
  auto index = hn::Zero(d);
  for (int candidate = 0; candidate < a.candidates; ++candidate) {
    T* dx = a.dx.unit(candidate);
    decltype(hn::Eq(index, index)) chosen[kPositions];
    MODLAB_UNROLL
    for (int p = 0; p < kPositions; ++p) {
      chosen[p] = hn::Eq(hn::Load(d, pick[p]), index);
    }
    for (std::size_t at = 0; at < a.rows * lanes; at += lanes) {
      auto sum = hn::Load(d, dx + at);
      MODLAB_UNROLL
      for (int p = 0; p < kPositions; ++p) {
        if (kPickPerRow) {
          chosen[p] = hn::Eq(hn::Load(d, pick[p] + at), index);
        }
        sum = hn::IfThenElse(chosen[p], hn::Add(sum, hn::Load(d, dz[p] + at)), sum);
      }
      hn::Store(sum, d, dx + at);
    }
    index = hn::Add(index, hn::Set(d, T{1}));
  }
}

template <typename T, bool kPickPerRow>
void scatter_rows(const Scatter<T>& a) {
  int position = 0;
  for (; position + 2 <= a.k; position += 2) {
    scatter_positions<T, kPickPerRow, 2>(a, position);
  }
  for (; position < a.k; ++position) {
    scatter_positions<T, kPickPerRow, 1>(a, position);
  }
}

template <typename T>
void scatter(const Scatter<T>& a) {
  a.pick_per_row ? scatter_rows<T, true>(a) : scatter_rows<T, false>(a);
}

// What is multiplied: the sum over positions, of the rows that belong to the task.
template <typename T, bool kPlain>
HWY_INLINE Vector<T> upstream_of(const Correlate<T>& a, std::size_t at) {
  const Tag<T> d;
  auto upstream = hn::Load(d, a.d.data + at);
  for (int position = 1; position < a.positions; ++position) {
    upstream = hn::Add(upstream, hn::Load(d, a.d.unit(position) + at));
  }
  if (!kPlain && a.row_task != nullptr) {
    upstream = hn::IfThenElseZero(hn::Eq(hn::Load(d, a.row_task + at), hn::Set(d, a.task)), upstream);
  }
  return upstream;
}

template <typename T, int kCandidates, bool kPlain>
HWY_INLINE void correlate_row(const Correlate<T>& a, int candidate, std::size_t at, Vector<T>* sum) {
  const Tag<T> d;
  const auto upstream = upstream_of<T, kPlain>(a, at);
  MODLAB_UNROLL
  for (int c = 0; c < kCandidates; ++c) {
    auto value = hn::Load(d, a.x.unit(candidate + c) + at);
    if (!kPlain && a.slope.data != nullptr) {
      value = hn::Mul(value, hn::Load(d, a.slope.unit(candidate + c) + (a.slope_per_row ? at : 0)));
    }
    sum[c] = fused(upstream, value, sum[c]);
  }
}

// kPhases partial sums for each candidate, over every kPhases-th row: one sum would wait for itself at every row.
template <typename T, bool kPlain, int kCandidates, int kPhases>
HWY_INLINE void correlate_tile(const Correlate<T>& a, int candidate) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  Vector<T> sum[kPhases][kCandidates];
  MODLAB_UNROLL
  for (int phase = 0; phase < kPhases; ++phase) {
    MODLAB_UNROLL
    for (int c = 0; c < kCandidates; ++c) {
      sum[phase][c] = hn::Zero(d);
    }
  }
  int first = 0;
  for (; first + kPhases <= a.rows; first += kPhases) {
    MODLAB_UNROLL
    for (int phase = 0; phase < kPhases; ++phase) {
      correlate_row<T, kCandidates, kPlain>(a, candidate, (first + phase) * lanes, sum[phase]);
    }
  }
  for (; first < a.rows; ++first) {
    correlate_row<T, kCandidates, kPlain>(a, candidate, first * lanes, sum[0]);
  }
  MODLAB_UNROLL
  for (int c = 0; c < kCandidates; ++c) {
    auto total = sum[0][c];
    MODLAB_UNROLL
    for (int phase = 1; phase < kPhases; ++phase) {
      total = hn::Add(total, sum[phase][c]);
    }
    T* out = a.sums + (candidate + c) * a.sum_stride;
    hn::Store(hn::Add(total, hn::Load(d, out)), d, out);
  }
}

template <typename T, bool kPlain>
void correlate_all(const Correlate<T>& a) {
  int candidate = 0;
  for (; candidate + 6 <= a.candidates; candidate += 6) {
    correlate_tile<T, kPlain, 6, 2>(a, candidate);
  }
  for (; candidate + 3 <= a.candidates; candidate += 3) {
    correlate_tile<T, kPlain, 3, 4>(a, candidate);
  }
  for (; candidate + 2 <= a.candidates; candidate += 2) {
    correlate_tile<T, kPlain, 2, 4>(a, candidate);
  }
  for (; candidate < a.candidates; ++candidate) {
    correlate_tile<T, kPlain, 1, 4>(a, candidate);
  }
}

template <typename T>
void correlate(const Correlate<T>& a) {
  const bool is_plain = a.row_task == nullptr && a.slope.data == nullptr;
  is_plain ? correlate_all<T, true>(a) : correlate_all<T, false>(a);
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
    inverse_total = inverse_of(total);
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
void softmax_shares(const SoftmaxShares<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (int column = 0; column < a.columns; ++column) {
    const std::size_t at = column * lanes;
    const Softmax<T> softmax(a.scores, a.noise, a.inverse_tau, a.members, at);
    for (int member = 0; member < a.members; ++member) {
      hn::Store(softmax.weight(Softmax<T>::load(a.scores, a.noise, member, at)), d, a.shares.unit(member) + at);
    }
  }
}

template <typename T>
void softmax_rows(const SoftmaxRows<T>& a) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto inverse_tau = hn::Load(d, a.inverse_tau);
  for (int row = 0; row < a.rows; ++row) {
    const std::size_t at = row * lanes;
    const std::size_t share_at = a.share_per_row ? at : 0;
    auto upstream = hn::Load(d, a.d + at);
    if (a.row_task != nullptr) {
      upstream = hn::IfThenElseZero(hn::Eq(hn::Load(d, a.row_task + at), hn::Set(d, a.task)), upstream);
    }
    auto mean = hn::Zero(d);
    for (int member = 0; member < a.members; ++member) {
      const auto q = hn::Load(d, a.shares.unit(member) + share_at);
      mean = fused(q, hn::Mul(upstream, hn::Load(d, a.o.unit(member) + at)), mean);
    }
    for (int member = 0; member < a.members; ++member) {
      const auto q = hn::Load(d, a.shares.unit(member) + share_at);
      const auto excess = hn::Sub(hn::Mul(upstream, hn::Load(d, a.o.unit(member) + at)), mean);
      T* gradient = a.gradients + member * a.gradient_stride;
      hn::Store(fused(hn::Mul(q, inverse_tau), excess, hn::Load(d, gradient)), d, gradient);
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
