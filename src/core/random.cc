#include "core/random.h"

#include <cmath>
#include <numbers>

namespace modlab {

double RandomSequence::next_normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - next_uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * next_uniform());
}

}  // namespace modlab
