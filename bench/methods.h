#pragma once

#include <cstdint>
#include <vector>

#include "bench/stopwatch.h"
#include "bench/trial_numbers.h"
#include "bench/work.h"
#include "engine/kernels/kernels.h"

namespace modlab::bench {

// Trials of one kind of network, which fill the lanes together.
struct SculptTiming {
  SpentTime time;  // of all of them
  int trials = 0;
  std::int64_t trainings = 0;
  std::vector<TrialNumbers> learned;  // where the dense network did; other trials are over after one training

  SpentTime per_trial() const { return time.per(static_cast<double>(learned.size())); }
  SpentTime per_training() const { return time.per(static_cast<double>(trainings)); }
};

// Sculpts networks of the first `trials` seeds on one thread, the best of `repeats`. Throws ConfigError if none of
// them learned.
SculptTiming time_sculpting(const SculptWork& work, int trials, int repeats, const engine::Kernels<float>& kernels);

// The detector on a random network in which so many of all possible edges exist.
struct DetectTiming {
  SpentTime time;
  int edges = 0;
  std::vector<int> live;      // units of each layer
  std::vector<int> clusters;  // of each layer
  int modules = 0;
};
DetectTiming time_detection(const std::vector<int>& widths, double density, std::uint64_t seed, int repeats);

}  // namespace modlab::bench
