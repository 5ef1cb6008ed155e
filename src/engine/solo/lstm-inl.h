// LSTM cells, elementwise, and the scores of how well a cell fits. What a product says of a row is four slices of h
// units side by side, tight; what is kept of them has its slices padded, so that all but the two are whole vectors.

#if defined(MODLAB_ENGINE_SOLO_LSTM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_LSTM_INL_H_
#undef MODLAB_ENGINE_SOLO_LSTM_INL_H_
#else
#define MODLAB_ENGINE_SOLO_LSTM_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/kernels.h"
#include "engine/solo/layers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
HWY_INLINE Vector<T> tanh_of(Vector<T> x) {
  const Tag<T> d;
  const auto one = hn::Set(d, T{1});
  const auto twice = sigmoid_of<T>(hn::Add(x, x));
  return hn::Sub(hn::Add(twice, twice), one);
}

// A squashed number is a long chain of operations, and so is tanh(c), which waits for the others: a few rows are done
// up to c, then their tanh(c), so that there are always chains that do not wait for each other.
template <typename T>
void lstm_forward(const solo::LstmForward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::ptrdiff_t wide = solo::padded(a.units);
  const std::ptrdiff_t tight = solo::padded(4 * a.units);
  const auto inside = [&](int unit) HWY_ATTR {
    return hn::FirstN(d, static_cast<std::size_t>(a.units > unit ? a.units - unit : 0));
  };
  const auto up_to_memory = [&](std::ptrdiff_t row) HWY_ATTR {
    const T* one = a.from_input + row * tight;
    const T* other = a.from_state + row * tight;
    T* parts = a.parts + row * 4 * wide;
    for (int unit = 0; unit < wide; unit += lanes) {
      const auto mask = inside(unit);
      const auto said = [&](int slice) HWY_ATTR {
        const std::ptrdiff_t at = slice * a.units + unit;
        return hn::Add(hn::LoadU(d, one + at), hn::LoadU(d, other + at));
      };
      const auto in = hn::IfThenElseZero(mask, sigmoid_of<T>(said(0)));
      const auto forget = hn::IfThenElseZero(mask, sigmoid_of<T>(said(1)));
      const auto out = hn::IfThenElseZero(mask, sigmoid_of<T>(said(2)));
      const auto candidate = hn::IfThenElseZero(mask, tanh_of<T>(said(3)));
      hn::Store(in, d, parts + unit);
      hn::Store(forget, d, parts + wide + unit);
      hn::Store(out, d, parts + 2 * wide + unit);
      hn::Store(candidate, d, parts + 3 * wide + unit);
      const auto memory = fused(forget, hn::Load(d, a.before + row * wide + unit), hn::Mul(in, candidate));
      hn::Store(memory, d, a.memory + row * wide + unit);
    }
  };
  const auto tell = [&](std::ptrdiff_t row) HWY_ATTR {
    const T* out = a.parts + (row * 4 + 2) * wide;
    for (int unit = 0; unit < wide; unit += lanes) {
      const std::ptrdiff_t at = row * wide + unit;
      const auto told = hn::IfThenElseZero(inside(unit), tanh_of<T>(hn::Load(d, a.memory + at)));
      hn::Store(told, d, a.told + at);
      if (a.hidden != nullptr) {
        hn::Store(hn::Mul(hn::Load(d, out + unit), told), d, a.hidden + at);
      }
    }
  };
  constexpr int kRows = 8;
  for (int first = 0; first < a.rows; first += kRows) {
    const int last = a.rows - first < kRows ? a.rows : first + kRows;
    for (int row = first; row < last; ++row) {
      up_to_memory(row);
    }
    for (int row = first; row < last; ++row) {
      tell(row);
    }
  }
}

template <typename T>
void lstm_mix(const solo::LstmMix<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::ptrdiff_t wide = solo::padded(a.units);
  for (int row = 0; row < a.rows; ++row) {
    const auto gate = hn::Set(d, a.gates[row * static_cast<std::ptrdiff_t>(a.gate_stride)]);
    const T* out = a.parts + (row * 4 + 2) * wide;
    for (std::ptrdiff_t unit = 0; unit < wide; unit += lanes) {
      const std::ptrdiff_t at = row * wide + unit;
      const auto shown = hn::Mul(hn::Load(d, out + unit), hn::Load(d, a.told + at));
      const auto kept = hn::Load(d, a.memory + at);
      const auto zero = hn::Zero(d);
      hn::Store(fused(gate, shown, a.add ? hn::Load(d, a.mixed_hidden + at) : zero), d, a.mixed_hidden + at);
      hn::Store(fused(gate, kept, a.add ? hn::Load(d, a.mixed_memory + at) : zero), d, a.mixed_memory + at);
    }
  }
}

// The sum of kUnitPad partial sums, in the same order on every target.
template <typename T>
HWY_INLINE T sum_of_parts(T* partial) {
  for (int half = solo::kUnitPad / 2; half > 0; half /= 2) {
    for (int part = 0; part < half; ++part) {
      partial[part] += partial[part + half];
    }
  }
  return partial[0];
}

// The sum of term(unit) over units, a multiple of kUnitPad: term adds to the vector that it is given.
template <typename T, typename Term>
HWY_INLINE T sum_across(int units, const Term& term) {
  const Tag<T> d;
  constexpr int kPad = solo::kUnitPad;
  constexpr int kParts = kPad / static_cast<int>(hn::MaxLanes(Tag<T>()));
  const auto lanes = static_cast<int>(hn::Lanes(d));
  Vector<T> sums[kParts];
  MODLAB_UNROLL
  for (int part = 0; part < kParts; ++part) {
    sums[part] = hn::Zero(d);
  }
  for (int unit = 0; unit < units; unit += kPad) {
    MODLAB_UNROLL
    for (int part = 0; part < kParts; ++part) {
      sums[part] = term(unit + part * lanes, sums[part]);
    }
  }
  alignas(64) T partial[kPad];
  MODLAB_UNROLL
  for (int part = 0; part < kParts; ++part) {
    hn::Store(sums[part], d, partial + part * lanes);
  }
  return sum_of_parts(partial);
}

template <typename T>
void lstm_ask(const solo::LstmAsk<T>& a) {
  const Tag<T> d;
  const std::ptrdiff_t wide = solo::padded(a.units);
  for (int row = 0; row < a.rows; ++row) {
    const T* out = a.parts + (row * 4 + 2) * wide;
    const std::ptrdiff_t first = row * wide;
    a.asked[row * static_cast<std::ptrdiff_t>(a.asked_stride)] =
        sum_across<T>(static_cast<int>(wide), [&](int unit, Vector<T> sum) HWY_ATTR {
          const auto shown = hn::Mul(hn::Load(d, out + unit), hn::Load(d, a.told + first + unit));
          sum = fused(hn::Load(d, a.dhidden + first + unit), shown, sum);
          return fused(hn::Load(d, a.dmemory + first + unit), hn::Load(d, a.memory + first + unit), sum);
        });
  }
}

template <typename T>
void lstm_backward(const solo::LstmBackward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto one = hn::Set(d, T{1});
  const std::ptrdiff_t wide = solo::padded(a.units);
  const std::ptrdiff_t tight = solo::padded(4 * a.units);
  for (int row = 0; row < a.rows; ++row) {
    const auto gate = hn::Set(d, a.gates == nullptr ? T{1} : a.gates[row * static_cast<std::ptrdiff_t>(a.gate_stride)]);
    const T* parts = a.parts + row * 4 * wide;
    T* down_to = a.d + row * tight;
    const auto work = [&]<bool kLast>(int unit) HWY_ATTR {
      const std::ptrdiff_t at = row * wide + unit;
      const auto in = hn::Load(d, parts + unit);
      const auto forget = hn::Load(d, parts + wide + unit);
      const auto out = hn::Load(d, parts + 2 * wide + unit);
      const auto candidate = hn::Load(d, parts + 3 * wide + unit);
      const auto told = hn::Load(d, a.told + at);
      const auto own = hn::Mul(gate, hn::Load(d, a.dhidden + at));
      const auto down =
          fused(hn::Mul(own, out), fused_minus(told, told, one), hn::Mul(gate, hn::Load(d, a.dmemory + at)));
      // What a squashed number's slope is, s (1 - s) or 1 - g g.
      const auto slope = [&](Vector<T> s) HWY_ATTR { return fused_minus(s, s, s); };
      const auto store = [&](Vector<T> asked, int slice) HWY_ATTR {
        T* to = down_to + slice * a.units + unit;
        if constexpr (kLast) {
          // Nothing beyond the slice: behind the last row may lie one that was written before, of a later step.
          hn::BlendedStore(asked, hn::FirstN(d, static_cast<std::size_t>(a.units - unit)), d, to);
        } else {
          hn::StoreU(asked, d, to);
        }
      };
      store(hn::Mul(hn::Mul(down, candidate), slope(in)), 0);
      store(hn::Mul(hn::Mul(down, hn::Load(d, a.before + at)), slope(forget)), 1);
      store(hn::Mul(hn::Mul(own, told), slope(out)), 2);
      store(hn::Mul(hn::Mul(down, in), fused_minus(candidate, candidate, one)), 3);
      const auto before = a.add ? hn::Load(d, a.dbefore + at) : hn::Zero(d);
      hn::Store(fused(down, forget, before), d, a.dbefore + at);
    };
    const int whole = a.units / lanes * lanes;
    for (int unit = 0; unit < whole; unit += lanes) {
      work.template operator()<false>(unit);
    }
    if (whole < a.units) {
      work.template operator()<true>(whole);
    }
  }
}

template <typename T>
void relu_score(const solo::ReluScore<T>& a) {
  const Tag<T> d;
  const int units = solo::padded(a.units);
  for (int row = 0; row < a.rows; ++row) {
    const T* x = a.x + static_cast<std::ptrdiff_t>(row) * units;
    T& score = a.scores[row * static_cast<std::ptrdiff_t>(a.score_stride)];
    const T sum = sum_across<T>(units, [&](int unit, Vector<T> sums) HWY_ATTR {
      return fused(hn::Load(d, a.weights + unit), relu(hn::Zero(d), hn::Load(d, x + unit)), sums);
    });
    score = a.add ? score + sum : sum;
  }
}

// Some rows at a time, so that sums over rows are seldom loaded, and rows are read as they lie in memory.
template <typename T, int kRows>
HWY_INLINE void relu_score_gradient_of(const solo::ReluScoreGradient<T>& a, int row) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const int units = solo::padded(a.units);
  const auto zero = hn::Zero(d);
  Vector<T> asked[kRows];
  MODLAB_UNROLL
  for (int r = 0; r < kRows; ++r) {
    asked[r] = hn::Set(d, a.dscores[(row + r) * static_cast<std::ptrdiff_t>(a.score_stride)]);
  }
  for (int unit = 0; unit < units; unit += lanes) {
    const auto weights = hn::Load(d, a.weights + unit);
    auto sum = hn::Load(d, a.dweights + unit);
    MODLAB_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row + r) * units + unit;
      const auto x = hn::Load(d, a.x + at);
      const auto dx = hn::Load(d, a.dx + at);
      sum = fused(asked[r], relu(zero, x), sum);
      hn::Store(hn::IfThenElse(hn::Gt(x, zero), fused(asked[r], weights, dx), dx), d, a.dx + at);
    }
    hn::Store(sum, d, a.dweights + unit);
  }
}

template <typename T>
void relu_score_gradient(const solo::ReluScoreGradient<T>& a) {
  cover_rows(a.rows, [&]<int kRows>(int row) HWY_ATTR { relu_score_gradient_of<T, kRows>(a, row); });
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
