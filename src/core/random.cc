#include "core/random.h"

#include <cmath>
#include <numbers>

namespace modlab {

std::uint32_t RandomSequence::next_word() {
  if (used_ == 4) {
    words_ = threefry({next_block_++, 0, 0, 0}, key_);
    used_ = 0;
  }
  return words_[used_++];
}

double RandomSequence::next_normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - next_uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * next_uniform());
}

}  // namespace modlab
