#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/solo/masked_kernels.h"
#include "methods/mask/masked_parameters.h"
#include "methods/torch/flat_optimizer.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// Trains the logits of a mask over the parameters of a network whose products are libtorch's. Draws, slopes and the
// optimiser are ours: libtorch sees a few networks whose weights are partly zero. A network on a graphics card draws
// the same masks there.
class FlatMaskTrainer {
 public:
  // `weights`: all parameters, in the order of the layout; `logits` those of the masked ones.
  FlatMaskTrainer(models::TorchNetwork& network, const MaskedParameters& masked, std::span<const float> weights,
                  std::vector<float> logits, const MaskSpec& spec, double beta, std::uint64_t seed, std::uint32_t stage,
                  const engine::solo::MaskedKernels<float>& kernels);

  // One step on these rows, in as many parts as there are samples; the mean loss as it was before. `outputs`: see
  // TorchBatch.
  double step(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> outputs);

  std::vector<float> logits() const;
  // The logits of this tensor become what they are among these, those of all masked parameters, and stay so.
  void freeze(const std::string& tensor, std::span<const float> logits);

  // All that the next steps follow from, and back.
  std::vector<float> state() const;
  static std::size_t state_size(const engine::Layout& layout);
  void restore(std::span<const float> state);
  std::uint32_t steps() const { return steps_; }

 private:
  std::vector<models::TorchBatch> batches_of(std::span<const std::uint32_t> rows,
                                             std::span<const std::uint8_t> outputs) const;
  // The mean loss, and its gradient and that of the penalty by the logits: masks are drawn here, or by the network.
  double gradient_here(std::span<const models::TorchBatch> batches);
  double gradient_there(std::span<const models::TorchBatch> batches);

  models::TorchNetwork& network_;
  const MaskedParameters& masked_;
  int samples_;
  double alpha_;
  bool of_count_;  // the penalty is on the expected number of kept weights
  double inverse_tau_;
  bool deterministic_;
  std::uint64_t seed_;
  std::uint32_t stage_;
  const engine::solo::MaskedKernels<float>& kernels_;
  std::vector<std::uint8_t> wanted_;       // [tensor]: masked
  std::vector<std::uint8_t> frozen_;       // [tensor]
  std::size_t padded_;                     // parameters, as kernels take them
  AlignedVector<float> weights_, shares_;  // all parameters, and a sample's share of them
  AlignedVector<float> logits_, gradients_;
  AlignedVector<float> drawn_, products_;  // [sample][parameter]
  FlatOptimizer optimizer_;
  std::uint32_t steps_ = 0;
};

}  // namespace modlab::methods
