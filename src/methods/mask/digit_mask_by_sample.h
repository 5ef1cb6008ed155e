#pragma once

#include <span>
#include <vector>

#include "methods/mask/flat_mask.h"
#include "models/digits/digit_network.h"

namespace modlab::methods {

// Trains logits of masks that are no bits, or that weights share, over the weights of a network on digits: each
// sample's weights are formed, and passes are made with them as with any weights. Bits are what DigitMaskTrainer is
// for, in half of the time and without a copy for each sample.
class DigitMaskBySample {
 public:
  // The network is left with the weights of some sample.
  DigitMaskBySample(models::DigitNetwork& network, const MaskedParameters& masked, std::span<const float> weights,
                    const FlatMaskTraining& training, const engine::Kernels<float>& kernels);

  // One step. Every pass draws masks of its own. The loss that is given back is that of the task alone.
  double step(std::span<const models::DigitBatch> passes);

  std::vector<float> logits() const { return mask_.logits(); }

 private:
  models::DigitNetwork& network_;
  int samples_;
  FlatMask mask_;
  AlignedVector<float> gradients_;  // of weights, in panels
};

}  // namespace modlab::methods
