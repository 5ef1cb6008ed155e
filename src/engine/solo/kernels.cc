#include "engine/solo/kernels.h"

#include <algorithm>

// Includes this file once for each target, see the CMake definitions for which.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/solo/kernels.cc"
#include "hwy/foreach_target.h"

#include "engine/kernels/lane_math-inl.h"
#include "engine/kernels/loss-inl.h"
#include "engine/kernels/random-inl.h"
#include "engine/solo/attention-inl.h"
#include "engine/solo/layers-inl.h"
#include "engine/solo/lstm-inl.h"
#include "engine/solo/pixels-inl.h"
#include "engine/solo/turn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
void output_loss(const solo::OutputLoss<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int at = 0; at < a.count; at += lanes) {
    const auto z = hn::Load(d, a.z + at);
    const auto target = hn::Load(d, a.targets + at);
    const auto error = hn::Sub(sigmoid_of<T>(z), target);
    if (a.d != nullptr) {
      auto gradient = hn::Mul(error, hn::Set(d, a.scale));
      if (a.kind == LossKind::kMse) {
        const auto p = hn::Add(error, target);
        const auto slope = hn::Mul(p, hn::Sub(hn::Set(d, T{1}), p));
        gradient = hn::Mul(hn::Mul(gradient, hn::Set(d, T{2})), slope);
      }
      hn::Store(gradient, d, a.d + at);
    }
    if (a.loss != nullptr) {
      CrossEntropy<T> entropy;
      entropy.add(hn::IfThenElse(hn::Gt(target, hn::Zero(d)), hn::Neg(z), z));
      hn::Store(a.kind == LossKind::kMse ? hn::Mul(error, error) : entropy.sum(), d, a.loss + at);
    }
  }
}

template <typename T>
T dot(const T* a, const T* b, std::size_t count) {
  const Tag<T> d;
  constexpr int kPad = solo::kUnitPad;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) T partial[kPad] = {};
  for (std::size_t at = 0; at < count; at += kPad) {
    for (int part = 0; part < kPad; part += lanes) {
      const auto sum = hn::Load(d, partial + part);
      hn::Store(fused(hn::Load(d, a + at + part), hn::Load(d, b + at + part), sum), d, partial + part);
    }
  }
  for (int half = kPad / 2; half > 0; half /= 2) {
    for (int part = 0; part < half; ++part) {
      partial[part] += partial[part + half];
    }
  }
  return partial[0];
}

template <typename T>
void sigmoid(const T* x, T* y, int count) {
  const Tag<T> d;
  for (int at = 0; at < count; at += static_cast<int>(hn::Lanes(d))) {
    hn::Store(sigmoid_of<T>(hn::Load(d, x + at)), d, y + at);
  }
}

template <typename T>
void exponential(const T* x, T* y, int count) {
  const Tag<T> d;
  for (int at = 0; at < count; at += static_cast<int>(hn::Lanes(d))) {
    hn::Store(exp_of(hn::Load(d, x + at)), d, y + at);
  }
}

// A block is four words of sixteen counters: say(words, numbers) makes four vectors of numbers of them, and the first
// vectors of all counters come before the second ones.
template <typename Say>
HWY_INLINE void stream_numbers(const solo::Normals& a, const Say& say) {
  const Tag<float> d;
  const WordTag<float> dw;
  constexpr int kCounters = solo::kNormalBlock / 4;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const LaneThreefry generator(LaneSchedule(a.key), a.step, a.use);
  const auto places = hn::Iota(dw, 0);  // which Highway makes number by number
  for (int first = 0; first < a.count; first += solo::kNormalBlock) {
    for (int counter = 0; counter < kCounters; counter += lanes) {
      FloatWords word[4];
      generator.draw(hn::Add(places, hn::Set(dw, static_cast<std::uint32_t>(first / 4 + counter))), word);
      Vector<float> number[4];
      say(word, number);
      for (int part = 0; part < 4; ++part) {
        hn::Store(number[part], d, a.out + first + part * kCounters + counter);
      }
    }
  }
}

inline void stream_normals(const solo::Normals& a) {
  stream_numbers(a, [](const FloatWords* word, Vector<float>* normal) HWY_ATTR {
    normals_of(word[0], word[1], normal);
    normals_of(word[2], word[3], normal + 2);
  });
}

inline void stream_gumbels(const solo::Normals& a) {
  stream_numbers(a, [](const FloatWords* word, Vector<float>* gumbel) HWY_ATTR {
    for (int part = 0; part < 4; ++part) {
      gumbel[part] = gumbel_of(word[part]);
    }
  });
}

template <typename T>
solo::Kernels<T> make_table(const char* target) {
  return {.target = target,
          .pixel_forward = &pixel_forward<T>,
          .pixel_gradient = &pixel_gradient<T>,
          .layer_forward = &layer_forward<T>,
          .layer_input_gradient = &layer_input_gradient<T>,
          .layer_weight_gradient = &layer_weight_gradient<T>,
          .turn = &turn_matrix<T>,
          .attention_forward = &attention_forward<T>,
          .attention_backward = &attention_backward<T>,
          .lstm_forward = &lstm_forward<T>,
          .lstm_mix = &lstm_mix<T>,
          .lstm_ask = &lstm_ask<T>,
          .lstm_backward = &lstm_backward<T>,
          .relu_score = &relu_score<T>,
          .relu_score_gradient = &relu_score_gradient<T>,
          .output_loss = &output_loss<T>,
          .dot = &dot<T>,
          .sigmoid = &sigmoid<T>,
          .exponential = &exponential<T>,
          .normals = &stream_normals,
          .gumbels = &stream_gumbels};
}

const solo::Kernels<float>& solo_float_kernels(const char* target) {
  static const solo::Kernels<float> kTable = make_table<float>(target);
  return kTable;
}

#if HWY_TARGET == HWY_SCALAR
const solo::Kernels<double>& solo_double_kernels() {
  static const solo::Kernels<double> kTable = make_table<double>("scalar double");
  return kTable;
}
#endif

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace modlab::engine::solo {

const Kernels<float>& kernels_for(const std::string& target) {
#if HWY_TARGETS & HWY_AVX3
  if (target == "avx512") {
    return N_AVX3::solo_float_kernels("avx512");
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (target == "avx2") {
    return N_AVX2::solo_float_kernels("avx2");
  }
#endif
  return N_SCALAR::solo_float_kernels("scalar");
}

const Kernels<double>& oracle_kernels() { return N_SCALAR::solo_double_kernels(); }

}  // namespace modlab::engine::solo
#endif
