#pragma once

#include <memory>
#include <vector>

#include "engine/network.h"

namespace modlab::models {

// The monolithic network: dense layers with ReLU between them. A random sparse network is the same with a mask in the
// optimiser (see mask.h): weights that start at zero and get no gradient stay at zero.
struct MlpShape {
  std::vector<int> widths;  // inputs, hidden layers, outputs
};

template <typename T>
std::unique_ptr<engine::Network<T>> make_mlp(const MlpShape& shape, const engine::Kernels<T>& kernels);

engine::Layout mlp_layout(const MlpShape& shape);

}  // namespace modlab::models
