#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace modlab::bench {

// What some work took, in seconds: on the clock, and of the processor, which other processes disturb less.
struct SpentTime {
  double wall = 1e30;
  double processor = 1e30;

  // Keeps the smaller ones.
  void improve(const SpentTime& other) {
    wall = std::min(wall, other.wall);
    processor = std::min(processor, other.processor);
  }
  SpentTime per(double count) const { return {wall / count, processor / count}; }
};

// Runs from its making on; processor time is that of the calling thread.
class Stopwatch {
 public:
  SpentTime spent() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(),
            processor_seconds() - processor_begin_};
  }

 private:
  static double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double processor_begin_ = processor_seconds();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace modlab::bench
