// Matrices turned: rows become columns.

#if defined(MODLAB_ENGINE_SOLO_TURN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_TURN_INL_H_
#undef MODLAB_ENGINE_SOLO_TURN_INL_H_
#else
#define MODLAB_ENGINE_SOLO_TURN_INL_H_
#endif

#include <cstddef>

#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Four rows of four become four columns.
HWY_INLINE void turn_square(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<std::uint64_t, 2> pairs;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + from_stride);
  const auto c = hn::LoadU(d, from + 2 * from_stride);
  const auto e = hn::LoadU(d, from + 3 * from_stride);
  const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, to + 3 * to_stride);
}
#endif

// to[column][row] = from[row][column].
template <typename T>
void turn_matrix(const T* HWY_RESTRICT from, std::ptrdiff_t from_stride, int rows, int columns, T* HWY_RESTRICT to,
                 std::ptrdiff_t to_stride) {
  int turned_rows = 0;
  int turned_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  turned_rows = rows / 4 * 4;
  turned_columns = columns / 4 * 4;
  for (int row = 0; row < turned_rows; row += 4) {
    for (int column = 0; column < turned_columns; column += 4) {
      turn_square(from + row * from_stride + column, from_stride, to + column * to_stride + row, to_stride);
    }
  }
#endif
  for (int row = 0; row < rows; ++row) {
    for (int column = row < turned_rows ? turned_columns : 0; column < columns; ++column) {
      to[column * to_stride + row] = from[row * from_stride + column];
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
