#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"

namespace modlab::methods {

// Which of `count` samples a training step learns from: uniformly, with replacement. Each stage of a seed (see
// stage_numbers.h) draws others.
class DrawnRows {
 public:
  DrawnRows(std::uint64_t seed, std::uint32_t stage, std::size_t count)
      : key_(stream_key(seed, Stream::kMaskRows)), count_(count) {
    key_[3] = stage;
  }

  std::vector<std::uint32_t> draw(std::uint32_t step, int rows) const {
    std::vector<std::uint32_t> drawn;
    for (std::uint32_t group = 0; std::ssize(drawn) < rows; ++group) {
      for (const std::uint32_t word : threefry({group, step, 0, 0}, key_)) {
        if (std::ssize(drawn) < rows) {
          drawn.push_back(static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * count_) >> 32U));
        }
      }
    }
    return drawn;
  }

 private:
  Words4 key_;
  std::uint64_t count_;
};

}  // namespace modlab::methods
