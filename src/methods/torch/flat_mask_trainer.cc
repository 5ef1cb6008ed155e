#include "methods/torch/flat_mask_trainer.h"

#include "methods/torch/torch_training.h"

namespace modlab::methods {

FlatMaskTrainer::FlatMaskTrainer(models::TorchNetwork& network, const MaskedParameters& masked,
                                 std::span<const float> weights, std::span<const float> logits, const MaskSpec& spec,
                                 double beta, std::uint64_t seed, std::uint32_t stage,
                                 const engine::solo::MaskedKernels<float>& kernels)
    : network_(network),
      spec_(spec),
      seed_(seed),
      stage_(stage),
      // The loss is the mean over samples.
      mask_(network.layout(), masked, weights, logits,
            {.spec = spec, .beta = beta, .seed = seed, .stage = stage, .divisor = spec.samples}, kernels) {}

// The rows of each sample.
std::vector<models::TorchBatch> FlatMaskTrainer::batches_of(std::span<const std::uint32_t> rows,
                                                            std::span<const std::uint8_t> outputs) const {
  const std::size_t part = rows.size() / static_cast<std::size_t>(spec_.samples);
  const std::uint64_t step_noise = noise_of_step(seed_, stage_, mask_.steps(), kNoiseOfAll);
  std::vector<models::TorchBatch> batches;
  for (int sample = 0; sample < spec_.samples; ++sample) {
    batches.push_back({.rows = rows.subspan(static_cast<std::size_t>(sample) * part, part),
                       .outputs = outputs,
                       .noise = noise_of_step(seed_, stage_, mask_.steps(), static_cast<std::uint32_t>(sample)),
                       .step_noise = step_noise});
  }
  return batches;
}

double FlatMaskTrainer::let_network_draw(std::span<const models::TorchBatch> batches) {
  std::vector<float> gradients(network_.layout().count);
  const double loss = network_.mask_gradient({.logits = mask_.all_logits(),
                                              .weights = mask_.weights(),
                                              .key = engine::solo::mask_key(seed_, stage_),
                                              .step = mask_.steps(),
                                              .inverse_tau = 1 / spec_.tau,
                                              .deterministic = spec_.sampler == engine::MaskDrawing::kDeterministic},
                                             batches, mask_.wanted(), gradients);
  mask_.set_gradients(gradients);
  return loss;
}

double FlatMaskTrainer::step(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> outputs) {
  const std::vector<models::TorchBatch> batches = batches_of(rows, outputs);
  const double loss =
      network_.draws_masks() && has_bits(spec_)
          ? let_network_draw(batches)
          : mask_.add_passes([&](int sample, std::span<const float> parameters, std::span<float> gradients) {
              return network_.gradient(parameters, batches[static_cast<std::size_t>(sample)], mask_.wanted(),
                                       gradients);
            });
  mask_.step();
  return loss;
}

}  // namespace modlab::methods
