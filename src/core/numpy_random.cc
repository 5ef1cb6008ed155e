#include "core/numpy_random.h"

#include <cmath>

namespace modlab {

double NumpyRandom::uniform() {
  constexpr double kLowBits = 67108864.0;        // 2^26
  constexpr double kSteps = 9007199254740992.0;  // 2^53
  const auto high = static_cast<double>(generator_() >> 5U);
  const auto low = static_cast<double>(generator_() >> 6U);
  return (high * kLowBits + low) / kSteps;
}

double NumpyRandom::normal() {
  if (waiting_) {
    const double value = *waiting_;
    waiting_.reset();
    return value;
  }
  while (true) {
    const double first = 2.0 * uniform() - 1.0;
    const double second = 2.0 * uniform() - 1.0;
    const double square = first * first + second * second;
    if (square > 0 && square < 1) {
      const double scale = std::sqrt(-2.0 * std::log(square) / square);
      waiting_ = scale * first;
      return scale * second;
    }
  }
}

}  // namespace modlab
