#include "core/numpy_random.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

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

std::vector<std::uint32_t> NumpyRandom::permutation(std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t last = count; last-- > 1;) {
    // As many bits as the largest place has, drawn until they are none too large.
    const std::uint32_t mask = std::bit_ceil(last + 1) - 1;
    std::uint32_t place = 0;
    do {
      place = static_cast<std::uint32_t>(generator_()) & mask;
    } while (place > last);
    std::swap(order[last], order[place]);
  }
  return order;
}

}  // namespace modlab
