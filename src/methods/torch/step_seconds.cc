#include "methods/torch/step_seconds.h"

#include <algorithm>
#include <vector>

#include "core/thread_seconds.h"
#include "methods/torch/flat_mask_trainer.h"

namespace modlab::methods {

TorchStepSeconds torch_step_seconds(models::TorchNetwork& network, std::span<const std::uint32_t> rows, int batch_size,
                                    const MaskSpec& spec, const engine::Kernels<float>& kernels) {
  constexpr std::uint32_t kSteps = 2;
  std::vector<std::uint32_t> batch(static_cast<std::size_t>(std::max(batch_size, spec.batch_size)));
  for (std::size_t place = 0; place < batch.size(); ++place) {
    batch[place] = rows[place * rows.size() / batch.size()];
  }
  const std::vector<float> weights = network.initial();
  const MaskedParameters masked = masked_parameters(network.layout(), spec);
  FlatMaskTrainer trainer(network, masked, weights, std::vector<float>(static_cast<std::size_t>(masked.logits), 2.0F),
                          spec, 0, 0, 0, engine::solo::masked_kernels_for(kernels.target));
  std::vector<float> gradients(weights.size());
  TorchStepSeconds seconds;
  // The first step waits for memory, and what a step draws as a whole is the one thing and the other by turns.
  for (std::uint32_t step = 0; step <= kSteps; ++step) {
    const double begin = thread_seconds();
    if (batch_size > 0) {
      network.gradient(weights,
                       {.rows = std::span(batch).first(static_cast<std::size_t>(batch_size)),
                        .trains_weights = true,
                        .step_noise = step % 2 == 0 ? 0 : ~std::uint64_t{0}},
                       {}, gradients);
    }
    const double between = thread_seconds();
    trainer.step(std::span(batch).first(static_cast<std::size_t>(spec.batch_size)), {});
    if (step > 0) {
      seconds.weights += (between - begin) / kSteps;
      seconds.mask += (thread_seconds() - between) / kSteps;
    }
  }
  return seconds;
}

}  // namespace modlab::methods
