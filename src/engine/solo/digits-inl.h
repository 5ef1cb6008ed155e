// What a network on digits needs beside products: softmax and loss, LSTM cells, rows turned.

#if defined(MODLAB_ENGINE_SOLO_DIGITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_DIGITS_INL_H_
#undef MODLAB_ENGINE_SOLO_DIGITS_INL_H_
#else
#define MODLAB_ENGINE_SOLO_DIGITS_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/lstm-inl.h"
#include "engine/solo/masked_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

template <typename T>
void turn_rows(const solo::TurnRows<T>& a) {
  constexpr int kPad = solo::kUnitPad;
  for (int unit = 0; unit < solo::padded(a.units); unit += kPad) {
    const T* HWY_RESTRICT from = a.from + static_cast<std::ptrdiff_t>(unit) * a.width;
    T* HWY_RESTRICT to = a.to + static_cast<std::ptrdiff_t>(unit) * a.width;
    for (int row = 0; row < a.width; ++row) {
      MODLAB_UNROLL
      for (int offset = 0; offset < kPad; ++offset) {
        to[row * kPad + offset] = from[offset * a.width + row];
      }
    }
  }
}

template <typename T>
void row_sums(const solo::RowSums<T>& a) {
  const Tag<T> d;
  constexpr int kPad = solo::kUnitPad;
  for (int lane = 0; lane < kPad; lane += static_cast<int>(hn::Lanes(d))) {
    auto sum = a.add ? hn::Load(d, a.sums + lane) : hn::Zero(d);
    for (int block = 0; block < a.blocks; ++block) {
      const T* rows = a.dy_rows + (static_cast<std::ptrdiff_t>(block) * a.panels + a.panel) * a.width * kPad + lane;
      for (int row = 0; row < a.width; ++row) {
        sum = hn::Add(sum, hn::Load(d, rows + row * kPad));
      }
    }
    hn::Store(sum, d, a.sums + lane);
  }
}

template <typename T>
void digit_loss(const solo::DigitLoss<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  constexpr int kClasses = solo::kLossClasses;
  const auto zero = hn::Zero(d);
  for (int row = 0; row < a.width; row += lanes) {
    auto loss = hn::Load(d, a.loss + row);
    for (int group = 0; group < a.groups; ++group) {
      const T* z = a.z + static_cast<std::ptrdiff_t>(group) * kClasses * a.width + row;
      const auto digit = hn::Load(d, a.digits + static_cast<std::ptrdiff_t>(group) * a.width + row);
      const auto counts = hn::Ge(digit, zero);
      auto largest = hn::Load(d, z);
      for (int which = 1; which < kClasses; ++which) {
        largest = larger(hn::Load(d, z + which * a.width), largest);
      }
      Vector<T> power[kClasses];
      auto sum = zero;
      auto right = zero;
      MODLAB_UNROLL
      for (int which = 0; which < kClasses; ++which) {
        const auto above = hn::Sub(hn::Load(d, z + which * a.width), largest);
        power[which] = exp_of(above);
        sum = hn::Add(sum, power[which]);
        right = hn::IfThenElse(hn::Eq(digit, hn::Set(d, static_cast<T>(which))), above, right);
      }
      loss = hn::Add(loss, hn::IfThenElseZero(counts, hn::Sub(log_of(sum), right)));
      if (a.d == nullptr) {
        continue;
      }
      const auto inverse = inverse_of(sum);
      const auto scale = hn::IfThenElseZero(counts, hn::Set(d, a.scale));
      MODLAB_UNROLL
      for (int which = 0; which < kClasses; ++which) {
        const auto is_right = hn::Eq(digit, hn::Set(d, static_cast<T>(which)));
        const auto error = fused(power[which], inverse, hn::IfThenElseZero(is_right, hn::Set(d, T{-1})));
        hn::Store(hn::Mul(error, scale), d,
                  a.d + (static_cast<std::ptrdiff_t>(group) * kClasses + which) * a.width + row);
      }
    }
    hn::Store(loss, d, a.loss + row);
  }
}

template <typename T>
void cell_forward(const solo::CellForward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(a.units) * a.width;
  for (std::ptrdiff_t at = 0; at < size; at += lanes) {
    const auto in = sigmoid_of<T>(hn::Load(d, a.gates + at));
    const auto forget = sigmoid_of<T>(hn::Load(d, a.gates + size + at));
    const auto cell = tanh_of<T>(hn::Load(d, a.gates + 2 * size + at));
    const auto out = sigmoid_of<T>(hn::Load(d, a.gates + 3 * size + at));
    hn::Store(in, d, a.gates + at);
    hn::Store(forget, d, a.gates + size + at);
    hn::Store(cell, d, a.gates + 2 * size + at);
    hn::Store(out, d, a.gates + 3 * size + at);
    const auto before = a.before == nullptr ? hn::Zero(d) : hn::Load(d, a.before + at);
    const auto memory = fused(forget, before, hn::Mul(in, cell));
    const auto told = tanh_of<T>(memory);
    hn::Store(memory, d, a.memory + at);
    hn::Store(told, d, a.told + at);
    hn::Store(hn::Mul(out, told), d, a.hidden + at);
  }
}

template <typename T>
void cell_backward(const solo::CellBackward<T>& a) {
  const Tag<T> d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto one = hn::Set(d, T{1});
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(a.units) * a.width;
  // What a squashed number's slope is, s (1 - s) or 1 - g g.
  const auto slope = [](Vector<T> s) HWY_ATTR { return fused_minus(s, s, s); };
  for (std::ptrdiff_t at = 0; at < size; at += lanes) {
    const auto in = hn::Load(d, a.gates + at);
    const auto forget = hn::Load(d, a.gates + size + at);
    const auto cell = hn::Load(d, a.gates + 2 * size + at);
    const auto out = hn::Load(d, a.gates + 3 * size + at);
    const auto told = hn::Load(d, a.told + at);
    const auto dhidden = hn::Load(d, a.dhidden + at);
    const auto before = a.before == nullptr ? hn::Zero(d) : hn::Load(d, a.before + at);
    const auto down = fused(hn::Mul(dhidden, out), fused_minus(told, told, one), hn::Load(d, a.dmemory + at));
    hn::Store(hn::Mul(hn::Mul(down, cell), slope(in)), d, a.d + at);
    hn::Store(hn::Mul(hn::Mul(down, before), slope(forget)), d, a.d + size + at);
    hn::Store(hn::Mul(hn::Mul(down, in), fused_minus(cell, cell, one)), d, a.d + 2 * size + at);
    hn::Store(hn::Mul(hn::Mul(dhidden, told), slope(out)), d, a.d + 3 * size + at);
    hn::Store(hn::Mul(down, forget), d, a.dmemory + at);
  }
}

template <typename T>
void scale_numbers(T factor, T* x, std::size_t count) {
  const Tag<T> d;
  for (std::size_t at = 0; at < count; at += hn::Lanes(d)) {
    hn::Store(hn::Mul(hn::Set(d, factor), hn::Load(d, x + at)), d, x + at);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
