#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace modlab::methods {

enum class FlatOptimizerKind { kAdam, kMomentum };

struct FlatOptimizerSpec {
  FlatOptimizerKind kind = FlatOptimizerKind::kAdam;
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double momentum = 0.9;
  double decay = 0;  // times the parameter is added to its gradient
  double clip = 0;   // of the gradient's length; 0: none
};

// Clips a gradient and moves parameters along it, as PyTorch's Adam and SGD do; parameters are one vector.
class FlatOptimizer {
 public:
  FlatOptimizer(std::size_t count, const FlatOptimizerSpec& spec);

  // `rate_factor`: what a schedule makes of the learning rate.
  void step(std::span<float> parameters, std::span<const float> gradients, double rate_factor = 1);

  // Everything it knows besides the parameters, and back.
  std::vector<float> state() const;
  static std::size_t state_size(std::size_t count) { return 2 * count + 1; }
  void restore(std::span<const float> state);

 private:
  FlatOptimizerSpec spec_;
  std::vector<float> first_, second_;
  int steps_ = 0;
};

}  // namespace modlab::methods
