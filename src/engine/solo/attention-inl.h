// Attention of one network: a lane is a sample. Heads are a few units wide and samples a few tokens long, so neither
// fills a vector; samples there are many of. Rows are turned into lanes and back on the way.

#if defined(MODLAB_ENGINE_SOLO_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_ATTENTION_INL_H_
#undef MODLAB_ENGINE_SOLO_ATTENTION_INL_H_
#else
#define MODLAB_ENGINE_SOLO_ATTENTION_INL_H_
#endif

#include <algorithm>

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/kernels.h"
#include "engine/solo/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// A matrix of whole lanes: element (row, column) is kUnitPad numbers, one for each sample.
template <typename T>
struct LaneMatrix {
  T* at;
  std::ptrdiff_t row, column;

  LaneMatrix turned() const { return {at, column, row}; }
  HWY_INLINE T* operator()(std::ptrdiff_t r, std::ptrdiff_t c) const { return at + r * row + c * column; }
};

template <typename T, int kRows, int kColumns>
HWY_INLINE void lane_tile(const LaneMatrix<T>& a, const LaneMatrix<T>& b, int count, const LaneMatrix<T>& to, int row,
                          int column) {
  const Tag<T> d;
  Vector<T> sums[kRows][kColumns];
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    MODLAB_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = hn::Zero(d);
    }
  }
  const T* HWY_RESTRICT left = a(row, 0);
  const T* HWY_RESTRICT right = b(0, column);
  for (int index = 0; index < count; ++index, left += a.column, right += b.row) {
    Vector<T> factors[kColumns];
    MODLAB_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      factors[c] = hn::Load(d, right + c * b.column);
    }
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Load(d, left + r * a.row);
      MODLAB_UNROLL
      for (int c = 0; c < kColumns; ++c) {
        sums[r][c] = fused(factor, factors[c], sums[r][c]);
      }
    }
  }
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    MODLAB_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      hn::Store(sums[r][c], d, to(row + r, column + c));
    }
  }
}

// to = a b, a matrix product in every lane.
template <typename T>
HWY_INLINE void lane_product(const LaneMatrix<T>& a, const LaneMatrix<T>& b, int rows, int count, int columns,
                             const LaneMatrix<T>& to) {
  const auto down = [&]<int kColumns>(int column) HWY_ATTR {
    int row = 0;
    for (; row + 2 <= rows; row += 2) {
      lane_tile<T, 2, kColumns>(a, b, count, to, row, column);
    }
    if (row < rows) {
      lane_tile<T, 1, kColumns>(a, b, count, to, row, column);
    }
  };
  int column = 0;
  for (; column + 4 <= columns; column += 4) {
    down.template operator()<4>(column);
  }
  for (; column + 2 <= columns; column += 2) {
    down.template operator()<2>(column);
  }
  if (column < columns) {
    down.template operator()<1>(column);
  }
}

// The shares of a token among the others of its sample, in place of the scores; its own is zero.
template <typename T>
HWY_INLINE void lane_softmax(T* scores, int length, int own, T scale) {
  constexpr int kPad = solo::kUnitPad;
  const Tag<T> d;
  const int first = own == 0 ? 1 : 0;
  auto most = hn::Load(d, scores + first * kPad);
  for (int other = first + 1; other < length; ++other) {
    if (other != own) {
      most = larger(most, hn::Load(d, scores + other * kPad));
    }
  }
  auto sum = hn::Zero(d);
  for (int other = 0; other < length; ++other) {
    if (other != own) {
      const auto above = hn::Sub(hn::Load(d, scores + other * kPad), most);
      const auto share = exp_of(hn::Mul(above, hn::Set(d, scale)));
      sum = hn::Add(sum, share);
      hn::Store(share, d, scores + other * kPad);
    }
  }
  const auto inverse = inverse_of(sum);
  for (int other = 0; other < length; ++other) {
    const auto share = hn::Mul(hn::Load(d, scores + other * kPad), inverse);
    hn::Store(other == own ? hn::Zero(d) : share, d, scores + other * kPad);
  }
}

// From the gradient of the shares to that of the scores, in place.
template <typename T>
HWY_INLINE void lane_softmax_gradient(const T* shares, T* d_shares, int length, T scale) {
  constexpr int kPad = solo::kUnitPad;
  const Tag<T> d;
  auto mean = hn::Zero(d);
  for (int other = 0; other < length; ++other) {
    mean = fused(hn::Load(d, shares + other * kPad), hn::Load(d, d_shares + other * kPad), mean);
  }
  for (int other = 0; other < length; ++other) {
    const auto above = hn::Sub(hn::Load(d, d_shares + other * kPad), mean);
    const auto share = hn::Mul(hn::Load(d, shares + other * kPad), hn::Set(d, scale));
    hn::Store(hn::Mul(share, above), d, d_shares + other * kPad);
  }
}

// What the samples of a block hold for a group of heads, [row][stride], as [token][unit][lane], and back.
template <typename T>
void rows_to_lanes(const T* rows, const solo::AttentionShape<T>& shape, int samples, T* lanes) {
  constexpr int kPad = solo::kUnitPad;
  const int units = shape.group() * shape.width;
  if (samples < kPad) {
    std::fill_n(lanes, shape.path_size(), T{0});
  }
  for (std::ptrdiff_t token = 0; token < shape.length; ++token) {
    turn_matrix(rows + token * shape.stride, static_cast<std::ptrdiff_t>(shape.length) * shape.stride, samples, units,
                lanes + token * units * kPad, kPad);
  }
}
template <typename T>
void lanes_to_rows(const T* lanes, const solo::AttentionShape<T>& shape, int samples, T* rows) {
  constexpr int kPad = solo::kUnitPad;
  const int units = shape.group() * shape.width;
  for (std::ptrdiff_t token = 0; token < shape.length; ++token) {
    turn_matrix(lanes + token * units * kPad, kPad, units, samples, rows + token * shape.stride,
                static_cast<std::ptrdiff_t>(shape.length) * shape.stride);
  }
}

// The heads of a group and the samples of a block, and where what they hold lies.
template <typename T>
struct HeadGroup {
  const solo::AttentionShape<T>& shape;
  int samples;
  std::ptrdiff_t rows;  // of the first token
  T* query;
  T* key;
  T* value;
  T* shares;

  // Of one head, for the lanes that begin with `part`.
  LaneMatrix<T> by_unit(T* path, int head, int part) const {
    constexpr std::ptrdiff_t kPad = solo::kUnitPad;
    return {path + head * shape.width * kPad + part, shape.group() * shape.width * kPad, kPad};
  }
  LaneMatrix<T> by_token(T* all, int head, int part) const {
    constexpr std::ptrdiff_t kPad = solo::kUnitPad;
    return {all + head * shape.share_size() + part, shape.length * kPad, kPad};
  }
};

// Calls work(group) for every group of heads of every block of samples.
template <typename T, typename Work>
HWY_INLINE void for_each_group(const solo::AttentionShape<T>& shape, T* lanes, T* shares, const Work& work) {
  constexpr int kPad = solo::kUnitPad;
  for (int first = 0; first < shape.samples; first += kPad) {
    for (int group = 0; group < shape.groups(); ++group) {
      const std::ptrdiff_t number = static_cast<std::ptrdiff_t>(first / kPad) * shape.groups() + group;
      T* query = lanes + number * 3 * shape.path_size();
      work(HeadGroup<T>{
          shape, std::min(kPad, shape.samples - first),
          static_cast<std::ptrdiff_t>(first) * shape.length * shape.stride + group * shape.group() * shape.width, query,
          query + shape.path_size(), query + 2 * shape.path_size(),
          shares + number * shape.group() * shape.share_size()});
    }
  }
}

// Calls work(head, part) for the heads of a group and the vectors of its lanes.
template <typename T, typename Work>
HWY_INLINE void for_each_head(const solo::AttentionShape<T>& shape, const Work& work) {
  for (int head = 0; head < shape.group(); ++head) {
    for (int part = 0; part < solo::kUnitPad; part += static_cast<int>(hn::Lanes(Tag<T>()))) {
      work(head, part);
    }
  }
}

template <typename T>
void attention_forward(const solo::AttentionForward<T>& a) {
  const int length = a.shape.length;
  const int width = a.shape.width;
  for_each_group(a.shape, a.lanes, a.shares, [&](const HeadGroup<T>& g) HWY_ATTR {
    rows_to_lanes(a.queries + g.rows, a.shape, g.samples, g.query);
    rows_to_lanes(a.keys + g.rows, a.shape, g.samples, g.key);
    rows_to_lanes(a.values + g.rows, a.shape, g.samples, g.value);
    for_each_head(a.shape, [&](int head, int part) HWY_ATTR {
      const LaneMatrix<T> shares = g.by_token(g.shares, head, part);
      lane_product(g.by_unit(g.query, head, part), g.by_unit(g.key, head, part).turned(), length, width, length,
                   shares);
      for (int token = 0; token < length; ++token) {
        lane_softmax(shares(token, 0), length, token, a.shape.scale);
      }
      lane_product(shares, g.by_unit(g.value, head, part), length, length, width, g.by_unit(a.scratch, head, part));
    });
    lanes_to_rows(a.scratch, a.shape, g.samples, a.found + g.rows);
  });
}

template <typename T>
void attention_backward(const solo::AttentionBackward<T>& a) {
  const int length = a.shape.length;
  const int width = a.shape.width;
  T* dfound = a.scratch;
  T* dpath = dfound + a.shape.path_size();
  T* dshares = dpath + a.shape.path_size();
  for_each_group(a.shape, a.lanes, a.shares, [&](const HeadGroup<T>& g) HWY_ATTR {
    rows_to_lanes(a.dfound + g.rows, a.shape, g.samples, dfound);
    // One path after the other, so that there is one place for what goes back.
    for_each_head(a.shape, [&](int head, int part) HWY_ATTR {
      const LaneMatrix<T> shares = g.by_token(g.shares, head, part);
      const LaneMatrix<T> asked = g.by_token(dshares, head, part);
      const LaneMatrix<T> upstream = g.by_unit(dfound, head, part);
      lane_product(upstream, g.by_unit(g.value, head, part).turned(), length, width, length, asked);
      for (int token = 0; token < length; ++token) {
        lane_softmax_gradient(shares(token, 0), asked(token, 0), length, a.shape.scale);
      }
      lane_product(shares.turned(), upstream, length, length, width, g.by_unit(dpath, head, part));
    });
    lanes_to_rows(dpath, a.shape, g.samples, a.dvalues + g.rows);
    for_each_head(a.shape, [&](int head, int part) HWY_ATTR {
      lane_product(g.by_token(dshares, head, part), g.by_unit(g.key, head, part), length, length, width,
                   g.by_unit(dpath, head, part));
    });
    lanes_to_rows(dpath, a.shape, g.samples, a.dqueries + g.rows);
    for_each_head(a.shape, [&](int head, int part) HWY_ATTR {
      lane_product(g.by_token(dshares, head, part).turned(), g.by_unit(g.query, head, part), length, length, width,
                   g.by_unit(dpath, head, part));
    });
    lanes_to_rows(dpath, a.shape, g.samples, a.dkeys + g.rows);
  });
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
