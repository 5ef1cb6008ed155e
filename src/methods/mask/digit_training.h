#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "methods/mask/digit_optimizer.h"
#include "methods/mask/mask_clip.h"
#include "models/digits/digit_network.h"

namespace modlab::methods {

struct WeightTraining {
  double lr = 1e-3;
  double clip = 1;  // of the gradient's length; 0: none
};

// Trains the weights of a network on digits.
class DigitWeightTrainer {
 public:
  // `kernels` are of the target that the network's are of.
  DigitWeightTrainer(models::DigitNetwork& network, const WeightTraining& settings, Team& team,
                     const engine::Kernels<float>& kernels);

  // One step on the batches of all passes together: the gradients of their mean loss, which is given back as it was
  // before the step.
  double step(std::span<const models::DigitBatch> passes);

 private:
  models::DigitNetwork& network_;
  std::vector<std::uint8_t> wanted_;
  AlignedVector<float> gradients_;
  DigitOptimizer optimizer_;
};

// How a sample of a mask is drawn: with noise, or by the sign of the logits.
enum class MaskSampler { kGumbel, kDeterministic };

struct DigitMaskTraining {
  int samples = 4;
  double lr = 1e-2;
  double alpha = 0;  // times the sum of the logits is added to the loss
  double clip = 1;
  double tau = 1;
  MaskSampler sampler = MaskSampler::kGumbel;
  MaskClip clip_what = MaskClip::kLogits;
  std::uint64_t seed = 0;
  std::uint32_t stage = 0;  // which of a network's masks: each has noise of its own
};

// Trains logits of masks over the weights of a network on digits, which stay as they are.
class DigitMaskTrainer {
 public:
  // `is_masked`: by tensor of the layout; matrices only. `initial_logits` in the order of the layout, all tensors.
  DigitMaskTrainer(models::DigitNetwork& network, std::vector<std::uint8_t> is_masked,
                   std::span<const float> initial_logits, const DigitMaskTraining& settings, Team& team,
                   const engine::Kernels<float>& kernels);

  // One step. Every pass draws masks of its own. The loss that is given back is that of the task alone.
  double step(std::span<const models::DigitBatch> passes);

  // In the order of the layout.
  std::vector<float> logits() const { return network_.panels().in_order<float>(logits_); }
  // What the next step draws from, of one tensor and pass: see engine::solo::mask_uniform.
  engine::solo::MaskNoise noise(std::uint32_t tensor, std::uint32_t pass) const;

 private:
  void draw(std::uint32_t pass);

  models::DigitNetwork& network_;
  std::vector<std::uint8_t> is_masked_;
  DigitMaskTraining settings_;
  Team& team_;
  const engine::solo::MaskedKernels<float>& kernels_;
  AlignedVector<float> logits_, gradients_;
  AlignedVector<std::uint16_t> bits_;
  models::DigitMasks masks_;
  AlignedVector<float> weight_gradients_;  // of all steps, for the published clipping
  DigitOptimizer optimizer_;
  std::uint32_t steps_ = 0;
};

}  // namespace modlab::methods
