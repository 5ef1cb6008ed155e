#pragma once

#include <array>
#include <vector>

#include "engine/solo/network.h"
#include "engine/training.h"

namespace modlab::engine::solo {

// Moves one network's parameters along its gradients, and sets those to zero. The lane kernel does it: its lanes are
// parameters here, which an update treats all alike.
class Optimizer {
 public:
  Optimizer(const engine::Kernels<float>& kernels, Parameters<float>& parameters, const Layout& layout,
            OptimizerKind kind, const LaneSettings& lane);

  // `rate_factor`: what the schedule makes of the learning rates. `late`: gradients that are still to be computed.
  void update(double rate_factor, const std::vector<LateGradient<float>*>& late = {});

 private:
  // Parameters that follow one rate and one weight decay: a stretch that one call updates.
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
    Rate rate = Rate::kFunctional;
    bool structural = false;
  };

  // The parameters [begin, begin + count), with gradients given.
  void update_range(std::size_t begin, std::size_t count, float* gradients, AdamScales scales);
  void update_late(LateGradient<float>& late, AdamScales scales);

  const engine::Kernels<float>& kernels_;
  Parameters<float>& parameters_;
  OptimizerKind kind_;
  const LaneSettings& lane_;
  std::vector<Stretch> stretches_;
  AlignedVector<float> first_, second_, mask_;
  AlignedVector<float> rate_, decay_;
  AlignedVector<float> piece_;  // of a late gradient
  int steps_ = 0;
};

}  // namespace modlab::engine::solo
