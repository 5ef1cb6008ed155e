#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "methods/mask/digit_optimizer.h"
#include "methods/mask/mask_clip.h"
#include "models/digits/digit_network.h"

namespace modlab::methods {

// Digits whose mean loss a step takes. Throws ConfigError if there are none.
double counted_digits(std::span<const models::DigitBatch> passes);

struct WeightTraining {
  double lr = 1e-3;
  double clip = 1;  // of the gradient's length; 0: none
};

// Parameters that keep their values while others are trained: their gradients are zero.
class FrozenParameters {
 public:
  // `frozen`: [parameter] in the order of the layout, 1 or 0; empty: none.
  FrozenParameters(const models::PanelLayout& panels, std::span<const std::uint8_t> frozen);
  void clear(AlignedVector<float>& gradients) const;

 private:
  std::vector<std::size_t> places_;  // in panels
};

// Trains the weights of a network on digits.
class DigitWeightTrainer {
 public:
  // `kernels` are of the target that the network's are of. `frozen`: see FrozenParameters.
  DigitWeightTrainer(models::DigitNetwork& network, const WeightTraining& settings, Team& team,
                     const engine::Kernels<float>& kernels, std::span<const std::uint8_t> frozen = {});

  // One step on the batches of all passes together: the gradients of their mean loss, which is given back as it was
  // before the step.
  double step(std::span<const models::DigitBatch> passes);

 private:
  models::DigitNetwork& network_;
  std::vector<std::uint8_t> wanted_;
  AlignedVector<float> gradients_;
  FrozenParameters frozen_;
  DigitOptimizer optimizer_;
};

struct DigitMaskTraining {
  int samples = 4;
  double lr = 1e-2;
  double alpha = 0;       // times the sum of the logits is added to the loss,
  bool of_count = false;  // or times the expected number of kept weights
  double clip = 1;
  double tau = 1;
  engine::MaskDrawing sampler = engine::MaskDrawing::kGumbel;  // or kDeterministic
  MaskClip clip_what = MaskClip::kLogits;
  // Logits below minus this are given up: not drawn, not learned, not updated any more. Nothing: none are.
  std::optional<double> active = {};
  std::uint64_t seed = 0;
  std::uint32_t stage = 0;  // which of a network's masks: each has noise of its own
  // The weights are trained with the masks, at this rate, and gradients of both are clipped together; nothing: they
  // stay as they are.
  std::optional<double> weight_lr = {};
};

// Gradients that the published code never clears, and whose length counts when it clips: those of the frozen weights,
// which pile up over all steps of all masks, and the last ones of each mask that was trained before.
struct LeftGradients {
  AlignedVector<float> of_weights = {};  // in panels; empty: none yet
  float squares_of_masks = 0;            // squared length
};

// Trains logits of masks over the weights of a network on digits, and the weights too if asked to.
class DigitMaskTrainer {
 public:
  // `is_masked`: by tensor of the layout; matrices, and biases of a shape that masks them. `initial_logits` in the
  // order of the layout, all tensors. `frozen`: see FrozenParameters; of weights that are trained. `left`: what earlier
  // masks have left, for the published clipping.
  DigitMaskTrainer(models::DigitNetwork& network, std::vector<std::uint8_t> is_masked,
                   std::span<const float> initial_logits, const DigitMaskTraining& settings, Team& team,
                   const engine::Kernels<float>& kernels, std::span<const std::uint8_t> frozen = {},
                   LeftGradients left = {});

  // One step. Every pass draws masks of its own. The loss that is given back is that of the task alone.
  double step(std::span<const models::DigitBatch> passes);

  // In the order of the layout.
  std::vector<float> logits() const { return network_.panels().in_order<float>(logits_); }
  // What this mask leaves for those after it, with the published clipping.
  LeftGradients left() const;
  // What the next step draws from, of one tensor and pass: see engine::solo::mask_uniform.
  engine::solo::MaskNoise noise(std::uint32_t tensor, std::uint32_t pass) const;

 private:
  void draw(std::uint32_t pass);
  void update();
  void update_as_published();
  void give_up();

  models::DigitNetwork& network_;
  std::vector<std::uint8_t> is_masked_;
  DigitMaskTraining settings_;
  Team& team_;
  const engine::solo::MaskedKernels<float>& kernels_;
  AlignedVector<float> logits_, gradients_;
  AlignedVector<std::uint16_t> bits_;
  models::DigitMasks masks_;
  AlignedVector<float> weight_gradients_;  // of a step, if weights are trained; or empty
  LeftGradients left_;
  double last_squares_ = 0;  // of this mask's last gradient, as it was clipped
  FrozenParameters frozen_;
  DigitOptimizer optimizer_;
  std::optional<DigitOptimizer> weight_optimizer_;
  std::uint32_t steps_ = 0;
};

}  // namespace modlab::methods
