#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/solo/masked_kernels.h"
#include "methods/flat_optimizer.h"
#include "methods/mask/masked_parameters.h"

namespace modlab::methods {

// Which network's which mask is trained, and how.
struct FlatMaskTraining {
  MaskSpec spec;
  double beta = 0;
  std::uint64_t seed = 0;
  std::uint32_t stage = 0;
  int divisor = 1;  // of what passes say: the step's loss is the sum of all passes' losses divided by it
};

// The logits of a mask of any kind over parameters as they lie in memory, for networks of which no more is known than
// what they make of their parameters: passes are made with each sample's masked parameters in turn.
class FlatMask {
 public:
  // `weights`: all parameters, in the order of the layout, which stay as they are. `logits`: those of `masked`.
  FlatMask(const engine::Layout& layout, const MaskedParameters& masked, std::span<const float> weights,
           std::span<const float> logits, const FlatMaskTraining& training,
           const engine::solo::MaskedKernels<float>& kernels);

  // A pass with one sample's parameters: its loss, and the gradient of that by all parameters. Gradients of parameters
  // that are not masked need not be given.
  using Pass = std::function<double(int sample, std::span<const float> parameters, std::span<float> gradients)>;
  // Draws samples and makes a pass with each; what follows for the logits counts in the next step. A network that is
  // used several times in a step is drawn masks for each time. The loss, as the step has it.
  double add_passes(const Pass& pass);
  // The gradient by all logits instead, penalty excluded, of a network that draws masks itself.
  void set_gradients(std::span<const float> gradients);
  // A step of the optimiser along the gradients so far.
  void step();

  std::vector<float> logits() const;
  // The logits of this tensor become what they are among these, those of all masked parameters, and stay so.
  void freeze(const std::string& tensor, std::span<const float> logits);

  // All that the next steps follow from, and back.
  std::vector<float> state() const;
  static std::size_t state_size(const engine::Layout& layout, const MaskedParameters& masked);
  void restore(std::span<const float> state);

  std::uint32_t steps() const { return steps_; }
  const std::vector<std::uint8_t>& wanted() const { return wanted_; }
  // Of every parameter, where each has a place among the logits.
  std::span<const float> all_logits() const { return {logits_.data(), layout_.count}; }
  std::span<const float> weights() const { return {weights_.data(), layout_.count}; }

 private:
  int samples() const { return training_.spec.samples; }
  engine::solo::MaskNoise noise() const;
  void draw();
  void draw_shared();
  void add_slopes();
  // Adds what each weight's gradient says to its logit's, [sample][place].
  void sum_products();

  const engine::Layout& layout_;
  const MaskedParameters& masked_;
  FlatMaskTraining training_;
  const engine::solo::MaskedKernels<float>& kernels_;
  // A logit lies at the place of its weight, or, where weights share one, at its own number.
  bool shares_logits_;
  std::size_t padded_;                               // parameters, as kernels take them
  std::size_t places_;                               // of logits, as kernels take them
  std::vector<std::uint8_t> wanted_;                 // [tensor]: masked
  std::vector<std::uint8_t> is_still_;               // [place]: no logit, or one that stays as it is
  AlignedVector<float> weights_, shares_;            // [parameter]; and divided
  AlignedVector<float> ones_;                        // [place], where weights share logits
  AlignedVector<float> logits_, gradients_, later_;  // [place]
  AlignedVector<float> drawn_, products_;            // [sample][parameter]
  AlignedVector<float> factors_, sums_;              // [sample][place], where weights share logits
  FlatOptimizer optimizer_;
  std::uint32_t steps_ = 0;
  std::uint32_t calls_ = 0;  // of the network, in the step that is being made
};

}  // namespace modlab::methods
