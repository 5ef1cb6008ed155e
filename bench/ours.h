#pragma once

#include "bench/work.h"
#include "engine/kernels/kernels.h"

namespace modlab::bench {

struct Timing {
  double seconds = 0;  // for all networks and epochs
  int networks = 0;
  int epochs = 0;
  double test_accuracy = 0;  // mean, percent; of the loop

  double us_per_net_epoch() const { return 1e6 * seconds / networks / epochs; }
};

// The whole training loop of `networks` seeds, the best of `repeats`.
Timing time_loop(const Work& work, int networks, int epochs, int threads, int repeats,
                 const engine::Kernels<float>& kernels);

// Training steps alone, on one block, the best of `repeats`.
Timing time_steps(const Work& work, int steps, int repeats, const engine::Kernels<float>& kernels);

// The most memory this process has ever held, in megabytes.
double peak_memory_mb();

}  // namespace modlab::bench
