#include "methods/mask/digit_mask_by_sample.h"

#include <algorithm>

#include "methods/mask/digit_training.h"

namespace modlab::methods {

DigitMaskBySample::DigitMaskBySample(models::DigitNetwork& network, const MaskedParameters& masked,
                                     std::span<const float> weights, const FlatMaskTraining& training,
                                     const engine::Kernels<float>& kernels)
    : network_(network),
      samples_(training.spec.samples),
      mask_(network.layout(), masked, weights,
            std::vector<float>(static_cast<std::size_t>(masked.logits), static_cast<float>(training.spec.init)),
            training, engine::solo::masked_kernels_for(kernels.target)),
      gradients_(network.panels().size()) {}

double DigitMaskBySample::step(std::span<const models::DigitBatch> passes) {
  const double count = counted_digits(passes);
  double loss = 0;
  for (const models::DigitBatch& batch : passes) {
    loss += mask_.add_passes([&](int sample, std::span<const float> parameters, std::span<float> gradients) {
      network_.load(parameters);
      network_.forward(models::part_of(batch, sample, samples_), {});
      const double sum = network_.loss(static_cast<float>(1 / count));
      network_.backward({.values = gradients_.data(), .wanted = mask_.wanted()});
      std::ranges::copy(network_.panels().in_order<float>(gradients_), gradients.begin());
      return sum;
    });
  }
  mask_.step();
  return loss / count;
}

}  // namespace modlab::methods
