#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "methods/mask/flat_mask.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// Trains the logits of a mask over the parameters of a network whose products are libtorch's. Draws, slopes and the
// optimiser are ours: libtorch sees a few networks whose weights are partly zero. A network on a graphics card draws
// the same masks there.
class FlatMaskTrainer {
 public:
  // `weights`: all parameters, in the order of the layout; `logits` those of the masked ones.
  FlatMaskTrainer(models::TorchNetwork& network, const MaskedParameters& masked, std::span<const float> weights,
                  std::span<const float> logits, const MaskSpec& spec, double beta, std::uint64_t seed,
                  std::uint32_t stage, const engine::solo::MaskedKernels<float>& kernels);

  // One step on these rows, in as many parts as there are samples; the mean loss as it was before. `outputs`: see
  // TorchBatch.
  double step(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> outputs);

  FlatMask& mask() { return mask_; }

 private:
  std::vector<models::TorchBatch> batches_of(std::span<const std::uint32_t> rows,
                                             std::span<const std::uint8_t> outputs) const;
  double let_network_draw(std::span<const models::TorchBatch> batches);

  models::TorchNetwork& network_;
  MaskSpec spec_;
  std::uint64_t seed_;
  std::uint32_t stage_;
  FlatMask mask_;
};

}  // namespace modlab::methods
