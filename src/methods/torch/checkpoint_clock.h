#pragma once

#include <chrono>

namespace modlab::methods {

// When work that takes long is to be kept: what a killed process loses is a minute of it.
class CheckpointClock {
 public:
  bool is_time() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) {
      return false;
    }
    next_ = now + kBetween;
    return true;
  }

 private:
  static constexpr std::chrono::seconds kBetween{60};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kBetween;
};

}  // namespace modlab::methods
