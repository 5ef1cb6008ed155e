#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "bench/stopwatch.h"
#include "engine/kernels/kernels.h"
#include "methods/mask/mask_spec.h"
#include "models/torch/colour_network.h"
#include "models/torch/sequence_shape.h"

namespace modlab::bench {

// A network that runs on libtorch, of the published size, whose masks are trained.
struct TorchMaskWork {
  std::string name;   // scan/lstm
  std::string rival;  // as bench/rivals/mask_networks.py calls it
  std::variant<models::SequenceShape, models::ColourShape> shape;
  methods::MaskSpec spec;
  int steps = 5;  // that are timed
};
std::vector<TorchMaskWork> torch_mask_work();

// The rows of the batch that both sides learn from: commands of SCAN and what they mean, a hexadecimal digit for a
// token. Empty for images, which are noise.
std::string commands_text(const TorchMaskWork& work);

// The best time of a step, and of what it is made of: libtorch's passes, the draws of masks with the gradients of
// logits, and the optimiser with all else.
struct TorchMaskTiming {
  SpentTime step;
  SpentTime passes;
  SpentTime sampler;
  std::size_t masked = 0;  // weights
  double loss = 0;         // of the first step

  double rest() const { return step.processor - passes.processor - sampler.processor; }
};
TorchMaskTiming time_torch_mask_steps(const TorchMaskWork& work, const engine::Kernels<float>& kernels);

}  // namespace modlab::bench
