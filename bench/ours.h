#pragma once

#include <vector>

#include "bench/curve.h"
#include "bench/stopwatch.h"
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
template <typename Spec>
Timing time_loop(const WorkOf<Spec>& work, int networks, int epochs, int threads, int repeats,
                 const engine::Kernels<float>& kernels);

// Training steps alone, on one block, the best of `repeats`.
Timing time_steps(const Work& work, int steps, int repeats, const engine::Kernels<float>& kernels);

// Training steps alone of one network on images, one thread, the best of `repeats`. Setting up the training is within:
// it is less than a percent.
SpentTime time_image_steps(const ImageWork& work, int repeats, const engine::Kernels<float>& kernels);

// Of the images that a run learns from: how many of their pixels the first layer's products take, zeros being left out.
struct PixelShare {
  double forward = 0;   // pixels that are not zero
  double gradient = 0;  // pairs of neighbours that are not both zero
};
PixelShare pixel_share(const ImageWork& work);

// Trains networks of the first `seeds` seeds on images.
std::vector<Curve> train_curves(const ImageWork& work, int seeds, int threads, const engine::Kernels<float>& kernels);

// The most memory this process has ever held, in megabytes.
double peak_memory_mb();

}  // namespace modlab::bench
