#pragma once

#include <cstdint>
#include <span>

#include "engine/kernels/kernels.h"
#include "methods/mask/mask_spec.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// How long one training step of the weights and one of a mask take here.
struct TorchStepSeconds {
  double weights = 0;
  double mask = 0;
};
// On some of these rows. `batch_size`: of the weights; 0: they are not trained. The network's buffers are changed.
TorchStepSeconds torch_step_seconds(models::TorchNetwork& network, std::span<const std::uint32_t> rows, int batch_size,
                                    const MaskSpec& spec, const engine::Kernels<float>& kernels);

}  // namespace modlab::methods
