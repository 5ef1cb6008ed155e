// Arithmetic on lane vectors whose bits are the same on every target: fused products are written out, and exp, log,
// sine and cosine are polynomials of ours instead of a library's. Highway's own MulAdd, Max and contrib/math are not
// used because on the scalar target they round differently from the vector targets.

#if defined(MODLAB_ENGINE_KERNELS_LANE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_LANE_MATH_INL_H_
#undef MODLAB_ENGINE_KERNELS_LANE_MATH_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_LANE_MATH_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

// Before a loop over a tile: unless it is unrolled, the tile's vectors live in memory instead of registers.
#ifndef MODLAB_UNROLL
#define MODLAB_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;
template <typename T>
using WordTag = hn::Rebind<std::uint32_t, Tag<T>>;
template <typename T>
using Words = hn::Vec<WordTag<T>>;

// Vector registers of the target, which say how large a tile may be.
#if HWY_TARGET == HWY_AVX3
inline constexpr int kRegisters = 32;
#else
inline constexpr int kRegisters = 16;
#endif

// a * b + c, rounded once.
template <typename V>
HWY_INLINE V fused(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
  return V(std::fma(a.raw, b.raw, c.raw));
#else
  return hn::MulAdd(a, b, c);
#endif
}

// c - a * b, rounded once.
template <typename V>
HWY_INLINE V fused_minus(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
  return V(std::fma(-a.raw, b.raw, c.raw));
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

// a if a > b, else b: so the second operand where one is not a number, as x86's maximum does.
template <typename V>
HWY_INLINE V larger(V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return V(a.raw > b.raw ? a.raw : b.raw);
#else
  return hn::Max(a, b);
#endif
}

template <typename V>
HWY_INLINE V smaller(V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return V(a.raw < b.raw ? a.raw : b.raw);
#else
  return hn::Min(a, b);
#endif
}

// Keeps what is not a number, so that a diverged network is seen to be one.
template <typename V>
HWY_INLINE V relu(V zero, V x) {
  return larger(zero, x);
}

// e^x to about 1e-7 relative; arguments beyond +-87 give the value at 87.
HWY_INLINE Vector<float> exp_of(Vector<float> x) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  x = smaller(hn::Set(d, 87.0F), larger(hn::Set(d, -87.0F), x));
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits.
  const auto shifter = hn::Set(d, 12582912.0F);
  const auto shifted = fused(x, hn::Set(d, 1.44269504088896341F), shifter);
  const auto n = hn::Sub(shifted, shifter);
  auto r = fused_minus(n, hn::Set(d, 0.693359375F), x);
  r = fused_minus(n, hn::Set(d, -2.12194440e-4F), r);
  // Polynomials here are summed in pairs (Estrin): with few rows in flight a chain of products would wait for itself.
  const auto r2 = hn::Mul(r, r);
  const auto low = fused(hn::Set(d, 1.6666665459e-1F), r, hn::Set(d, 5.0000001201e-1F));
  const auto middle = fused(hn::Set(d, 8.3334519073e-3F), r, hn::Set(d, 4.1665795894e-2F));
  const auto high = fused(hn::Set(d, 1.9875691500e-4F), r, hn::Set(d, 1.3981999507e-3F));
  auto p = fused(fused(high, r2, middle), r2, low);
  p = fused(p, r2, hn::Add(r, hn::Set(d, 1.0F)));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

// ln x for positive, normal x, to about 1e-7.
HWY_INLINE Vector<float> log_of(Vector<float> x) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  // Mantissa between sqrt(1/2) and sqrt(2), so that x near 1 keeps its accuracy.
  const auto bits = hn::Add(hn::BitCast(di, x), hn::Set(di, 0x3f800000 - 0x3f3504f3));
  const auto k = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 127)));
  const auto mantissa = hn::Add(hn::And(bits, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f3504f3));
  const auto f = hn::Sub(hn::BitCast(d, mantissa), hn::Set(d, 1.0F));
  const auto f2 = hn::Mul(f, f);
  const auto f4 = hn::Mul(f2, f2);
  const auto p01 = fused(hn::Set(d, -2.4999993993e-1F), f, hn::Set(d, 3.3333331174e-1F));
  const auto p23 = fused(hn::Set(d, -1.6668057665e-1F), f, hn::Set(d, 2.0000714765e-1F));
  const auto p45 = fused(hn::Set(d, -1.2420140846e-1F), f, hn::Set(d, 1.4249322787e-1F));
  const auto p67 = fused(hn::Set(d, -1.1514610310e-1F), f, hn::Set(d, 1.1676998740e-1F));
  const auto low = fused(p23, f2, p01);
  const auto high = fused(fused(hn::Set(d, 7.0376836292e-2F), f2, p67), f2, p45);
  auto y = hn::Mul(hn::Mul(fused(high, f4, low), f), f2);
  y = fused(k, hn::Set(d, -2.12194440e-4F), y);
  y = fused_minus(hn::Set(d, 0.5F), f2, y);
  return fused(k, hn::Set(d, 0.693359375F), hn::Add(f, y));
}

// 1 / x for positive, normal x, to about one unit in the last place: a linear guess from the exponent's bits and
// Newton's steps. The hardware's division takes four times as long, and its fast guesses differ between targets.
// Some at once, step by step, as each step waits for the one before.
template <int kCount>
HWY_INLINE void inverses_of(const Vector<float> (&x)[kCount], Vector<float> (&y)[kCount]) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  MODLAB_UNROLL
  for (int i = 0; i < kCount; ++i) {
    y[i] = hn::BitCast(d, hn::Sub(hn::Set(di, 0x7EF311C3), hn::BitCast(di, x[i])));
  }
  MODLAB_UNROLL
  for (int iteration = 0; iteration < 3; ++iteration) {
    Vector<float> error[kCount];
    MODLAB_UNROLL
    for (int i = 0; i < kCount; ++i) {
      error[i] = fused_minus(x[i], y[i], hn::Set(d, 1.0F));
    }
    MODLAB_UNROLL
    for (int i = 0; i < kCount; ++i) {
      y[i] = fused(y[i], error[i], y[i]);
    }
  }
}
HWY_INLINE Vector<float> inverse_of(Vector<float> x) {
  const Vector<float> some[1] = {x};
  Vector<float> inverses[1];
  inverses_of(some, inverses);
  return inverses[0];
}

// The square root of x >= 0 to about one unit in the last place, by the same means; 0 gives 0.
HWY_INLINE Vector<float> sqrt_of(Vector<float> x) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  const auto half_x = hn::Mul(hn::Set(d, 0.5F), x);
  auto y = hn::BitCast(d, hn::Sub(hn::Set(di, 0x5F3759DF), hn::ShiftRight<1>(hn::BitCast(di, x))));
  for (int iteration = 0; iteration < 2; ++iteration) {
    y = hn::Mul(y, fused_minus(hn::Mul(half_x, y), y, hn::Set(d, 1.5F)));
  }
  // The last step works on the root itself, so that its error is the root's.
  const auto root = hn::Mul(x, y);
  return fused(hn::Mul(hn::Set(d, 0.5F), y), fused_minus(root, root, x), root);
}

#if HWY_TARGET == HWY_SCALAR
// The double-precision oracle has one lane and takes the library's functions.
HWY_INLINE Vector<double> inverse_of(Vector<double> x) { return Vector<double>(1.0 / x.raw); }
template <int kCount>
HWY_INLINE void inverses_of(const Vector<double> (&x)[kCount], Vector<double> (&y)[kCount]) {
  for (int i = 0; i < kCount; ++i) {
    y[i] = inverse_of(x[i]);
  }
}
HWY_INLINE Vector<double> sqrt_of(Vector<double> x) { return Vector<double>(std::sqrt(x.raw)); }
HWY_INLINE Vector<double> exp_of(Vector<double> x) { return Vector<double>(std::exp(x.raw)); }
HWY_INLINE Vector<double> log_of(Vector<double> x) { return Vector<double>(std::log(x.raw)); }
#endif

template <typename T>
HWY_INLINE Vector<T> sigmoid_of(Vector<T> x) {
  const Tag<T> d;
  const auto one = hn::Set(d, T{1});
  return inverse_of(hn::Add(one, exp_of(hn::Neg(x))));
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
