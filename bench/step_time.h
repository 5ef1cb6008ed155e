#pragma once

#include <algorithm>

namespace modlab::bench {

// What a training step takes, in microseconds: on the clock, and of the processor, which other processes disturb less.
struct StepTime {
  double wall_us = 1e30;
  double processor_us = 1e30;

  // Keeps the smaller ones.
  void improve(const StepTime& other) {
    wall_us = std::min(wall_us, other.wall_us);
    processor_us = std::min(processor_us, other.processor_us);
  }
};

}  // namespace modlab::bench
