// Random numbers by lane (core/random.h, vectorised): each lane has its own key, all lanes share the counter.

#if defined(MODLAB_ENGINE_KERNELS_RANDOM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_RANDOM_INL_H_
#undef MODLAB_ENGINE_KERNELS_RANDOM_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_RANDOM_INL_H_
#endif

#include "core/random.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

using FloatWords = Words<float>;

// What a key adds to the counter and to every fourth round.
struct LaneSchedule {
  FloatWords words[5];

  // Every lane has a key of its own, [word][lane].
  HWY_INLINE explicit LaneSchedule(const std::uint32_t* keys) {
    const WordTag<float> d;
    for (std::size_t word = 0; word < 4; ++word) {
      words[word] = hn::LoadU(d, keys + word * hn::Lanes(d));
    }
    add_parity();
  }
  // All lanes have the same.
  HWY_INLINE explicit LaneSchedule(const Words4& key) {
    for (std::size_t word = 0; word < 4; ++word) {
      words[word] = hn::Set(WordTag<float>(), key[word]);
    }
    add_parity();
  }

 private:
  HWY_INLINE void add_parity() {
    words[4] = hn::Set(WordTag<float>(), kThreefryParity);
    for (int word = 0; word < 4; ++word) {
      words[4] = hn::Xor(words[4], words[word]);
    }
  }
};

// The generator for counters (index, step, use, 0), of which the index alone changes from draw to draw: what the first
// round makes of the other words is computed once.
class LaneThreefry {
 public:
  HWY_INLINE LaneThreefry(const LaneSchedule& schedule, std::uint32_t step, std::uint32_t use) : schedule_(schedule) {
    const WordTag<float> d;
    const auto word1 = hn::Add(schedule.words[1], hn::Set(d, step));
    sum01_ = hn::Add(schedule.words[0], word1);
    turned1_ = turned<0, 0>(word1);
    sum23_ = hn::Add(hn::Add(schedule.words[2], hn::Set(d, use)), schedule.words[3]);
    mixed3_ = hn::Xor(turned<0, 1>(schedule.words[3]), sum23_);
    for (int injection = 1; injection <= kInjections; ++injection) {
      last_[injection - 1] =
          hn::Add(schedule.words[(injection + 3) % 5], hn::Set(d, static_cast<std::uint32_t>(injection)));
    }
  }

  // Four words for each of some indices, every lane with indices of its own. A draw is a chain of operations that wait
  // for each other; several at once are as many chains.
  template <int kDraws>
  HWY_INLINE void draw(const FloatWords (&index)[kDraws], FloatWords (&x)[kDraws][4]) const {
    MODLAB_UNROLL
    for (int i = 0; i < kDraws; ++i) {
      x[i][0] = hn::Add(sum01_, index[i]);
      x[i][1] = hn::Xor(turned1_, x[i][0]);
      x[i][2] = sum23_;
      x[i][3] = mixed3_;
    }
    rounds<1>(x);
  }
  HWY_INLINE void draw(FloatWords index, FloatWords (&x)[4]) const {
    const FloatWords indices[1] = {index};
    draw(indices, reinterpret_cast<FloatWords(&)[1][4]>(x));
  }
  HWY_INLINE void draw(std::uint32_t index, FloatWords (&x)[4]) const { draw(hn::Set(WordTag<float>(), index), x); }

 private:
  static constexpr int kInjections = (kThreefryRounds - 1) / 4;

  template <int kRound, int kPair>
  static HWY_INLINE FloatWords turned(FloatWords word) {
    return hn::RotateRight<32 - kThreefryRotations[kRound % 8][kPair]>(word);
  }
  template <int kRound, int kDraws>
  HWY_INLINE void rounds(FloatWords (&x)[kDraws][4]) const {
    if constexpr (kRound < kThreefryRounds) {
      constexpr int kFirst = kRound % 2 == 0 ? 1 : 3;
      mix<kRound, 0, 0, kFirst>(x);
      mix<kRound, 1, 2, 4 - kFirst>(x);
      if constexpr (kRound % 4 == 3) {
        constexpr int kInjection = kRound / 4 + 1;
        MODLAB_UNROLL
        for (int i = 0; i < kDraws; ++i) {
          x[i][0] = hn::Add(x[i][0], schedule_.words[kInjection % 5]);
          x[i][1] = hn::Add(x[i][1], schedule_.words[(kInjection + 1) % 5]);
          x[i][2] = hn::Add(x[i][2], schedule_.words[(kInjection + 2) % 5]);
          x[i][3] = hn::Add(x[i][3], last_[kInjection - 1]);
        }
      }
      rounds<kRound + 1>(x);
    }
  }
  // A round's work on one pair of words.
  template <int kRound, int kPair, int kSum, int kTurned, int kDraws>
  static HWY_INLINE void mix(FloatWords (&x)[kDraws][4]) {
    MODLAB_UNROLL
    for (int i = 0; i < kDraws; ++i) {
      x[i][kSum] = hn::Add(x[i][kSum], x[i][kTurned]);
    }
    MODLAB_UNROLL
    for (int i = 0; i < kDraws; ++i) {
      x[i][kTurned] = turned<kRound, kPair>(x[i][kTurned]);
    }
    MODLAB_UNROLL
    for (int i = 0; i < kDraws; ++i) {
      x[i][kTurned] = hn::Xor(x[i][kTurned], x[i][kSum]);
    }
  }

  LaneSchedule schedule_;
  FloatWords sum01_, turned1_, sum23_, mixed3_;
  FloatWords last_[kInjections];  // what an injection adds to the last word
};

// Draws of four words at once for which there are registers.
inline constexpr int kDrawsTogether = kRegisters == 32 ? 4 : 1;

// Two independent standard normals from two words (Box and Muller).
HWY_INLINE void normals_of(FloatWords radius_word, FloatWords angle_word, Vector<float>* normal) {
  const Tag<float> d;
  const WordTag<float> dw;
  const hn::RebindToSigned<Tag<float>> di;
  const auto count = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(radius_word)));
  const auto uniform = hn::Mul(hn::Add(count, hn::Set(d, 1.0F)), hn::Set(d, 0x1p-24F));
  const auto radius = sqrt_of(larger(hn::Zero(d), hn::Mul(hn::Set(d, -2.0F), log_of(uniform))));
  // The upper 24 bits are an angle between -pi/4 and pi/4; bit 0 reflects it at the diagonal and bit 1 at the origin,
  // which together cover the circle without range reduction.
  const auto turn = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(angle_word)));
  const auto angle = fused(turn, hn::Set(d, 1.57079632679489662F * 0x1p-24F), hn::Set(d, -0.785398163397448310F));
  const auto square = hn::Mul(angle, angle);
  auto sine = fused(square, hn::Set(d, -1.9515295891e-4F), hn::Set(d, 8.3321608736e-3F));
  sine = fused(sine, square, hn::Set(d, -1.6666654611e-1F));
  sine = fused(hn::Mul(sine, square), angle, angle);
  auto cosine = fused(square, hn::Set(d, 2.443315711809948e-5F), hn::Set(d, -1.388731625493765e-3F));
  cosine = fused(cosine, square, hn::Set(d, 4.166664568298827e-2F));
  cosine = fused(hn::Mul(cosine, square), square, fused(square, hn::Set(d, -0.5F), hn::Set(d, 1.0F)));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<31>(hn::ShiftRight<1>(angle_word)));
  const auto reflected = hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(dw), hn::And(angle_word, hn::Set(dw, 1U)))));
  const auto signed_radius = hn::Xor(radius, sign);
  normal[0] = hn::Mul(signed_radius, hn::IfThenElse(reflected, sine, cosine));
  normal[1] = hn::Mul(signed_radius, hn::IfThenElse(reflected, cosine, sine));
}

inline void add_normal(const AddNormal<float>& a) {
  const Tag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const LaneThreefry generator(LaneSchedule(a.draw.keys), a.draw.step, 0);
  const auto deviation = hn::Load(d, a.deviation);
  const int total = a.units * a.rows;
  int unit = 0;
  int row = 0;
  for (int element = 0; element < total; element += 4) {
    FloatWords word[4];
    generator.draw(a.draw.first + static_cast<std::uint32_t>(element / 4), word);
    Vector<float> normal[4];
    normals_of(word[0], word[1], normal);
    normals_of(word[2], word[3], normal + 2);
    for (int offset = 0; offset < 4 && element + offset < total; ++offset) {
      const auto clean = hn::Load(d, a.clean.unit(unit) + row * lanes);
      hn::Store(fused(deviation, normal[offset], clean), d, a.x.unit(unit) + row * lanes);
      if (++row == a.rows) {
        row = 0;
        ++unit;
      }
    }
  }
}

// 23 bits and a half: never 0, never 1.
HWY_INLINE Vector<float> uniform_of(FloatWords word) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  const auto count = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<9>(word)));
  return hn::Mul(hn::Add(count, hn::Set(d, 0.5F)), hn::Set(d, 0x1p-23F));
}

// A standard Gumbel number of a word: -log of an exponential variate.
HWY_INLINE Vector<float> gumbel_of(FloatWords word) { return hn::Neg(log_of(hn::Neg(log_of(uniform_of(word))))); }

// Calls take(element, word) for the elements of a draw from `element` on, of kDraws draws of the generator, which are
// four elements each.
template <int kDraws, typename Take>
HWY_INLINE void draw_some_elements(const LaneThreefry& generator, std::uint32_t first, int element, int count,
                                   const Take& take) {
  FloatWords index[kDraws];
  FloatWords word[kDraws][4];
  MODLAB_UNROLL
  for (int i = 0; i < kDraws; ++i) {
    index[i] = hn::Set(WordTag<float>(), first + static_cast<std::uint32_t>(element / 4 + i));
  }
  generator.draw(index, word);
  MODLAB_UNROLL
  for (int i = 0; i < kDraws; ++i) {
    MODLAB_UNROLL
    for (int offset = 0; offset < 4; ++offset) {
      if (kDraws > 1 || element + offset < count) {
        take(element + 4 * i + offset, word[i][offset]);
      }
    }
  }
}

template <typename Take>
HWY_INLINE void draw_elements(const Draw& draw, int count, const Take& take) {
  const LaneThreefry generator(LaneSchedule(draw.keys), draw.step, 0);
  int element = 0;
  for (; element + 4 * kDrawsTogether <= count; element += 4 * kDrawsTogether) {
    draw_some_elements<kDrawsTogether>(generator, draw.first, element, count, take);
  }
  for (; element < count; element += 4) {
    draw_some_elements<1>(generator, draw.first, element, count, take);
  }
}

inline void gumbel_noise(const GumbelNoise<float>& a) {
  const Tag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  draw_elements(a.draw, a.count,
                [&](int element, FloatWords word) HWY_ATTR { hn::Store(gumbel_of(word), d, a.out + element * lanes); });
}

inline void uniforms(const Uniforms<float>& a) {
  const Tag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  draw_elements(a.draw, a.count, [&](int element, FloatWords word) HWY_ATTR {
    hn::Store(uniform_of(word), d, a.out + element * lanes);
  });
}

inline void random_words(const RandomWords& a) {
  const WordTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  draw_elements(a.draw, a.count,
                [&](int element, FloatWords word) HWY_ATTR { hn::StoreU(word, d, a.out + element * lanes); });
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
