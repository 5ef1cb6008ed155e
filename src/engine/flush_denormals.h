#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace modlab::engine {

// While it lives, numbers below the normal range count as zero on this thread. Adam's moments of a parameter without
// gradient decay through that range, and every operation on them would trap into microcode. Scalar and vector
// instructions obey the same switch, so results stay equal.
class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushDenormals() { _mm_setcsr(saved_); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlushToZero = 0x8000;
  static constexpr unsigned kDenormalsAreZero = 0x0040;
  unsigned saved_;
#endif
};

}  // namespace modlab::engine
