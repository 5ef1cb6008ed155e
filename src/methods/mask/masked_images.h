#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "methods/mask/mask_outcome.h"
#include "methods/mask/masked_digits.h"
#include "methods/mask/masked_parameters.h"
#include "tasks/permuted_images.h"

namespace modlab::methods {

// A network that learns one task after the other, on images whose pixels change places: weights and a mask over them
// together. What earlier masks keep stays as it is, and the mask may take it over; everything else begins anew.
struct ImageMaskingSpec {
  tasks::ImageFiles files;
  int tasks = 11;
  std::vector<int> hidden = {800, 800, 64};
  std::uint64_t seed = 0;
  int steps = 0;  // of the weights alone, before those of a task's mask
  double lr = 1e-2;
  // The logit that weights which no earlier mask keeps begin with, others having mask.init; nothing: the same.
  std::optional<double> prefer_old;
  // The first layer is every task's own, since its inputs are: earlier tasks are lost, and what is left to share are
  // the layers behind it.
  bool reset_first = true;
  MaskSpec mask = {.steps = 30'000, .samples = 8, .beta = 1.28e-3, .exclude = {}};
};

models::DigitShape image_shape(const ImageMaskingSpec& spec, int pixels);

// Parameters that earlier masks keep: what stays as it is in the next task, and what its logits begin with.
class KeptByEarlier {
 public:
  explicit KeptByEarlier(const engine::Layout& layout) : used_(layout.count) {}

  // `masked` says where the mask's weights lie.
  void add(const MaskedParameters& masked, const models::WeightMask& mask);
  // Of the first layer, weights and biases, nothing is kept from now on until masks are added.
  void forget_first_layer(const engine::Layout& layout);

  const std::vector<std::uint8_t>& used() const { return used_; }  // [parameter]
  // Those that are used as they were, the others of a fresh network.
  std::vector<float> restored(std::span<const float> old, std::vector<float> fresh) const;
  std::vector<float> initial_logits(double of_used, double of_new) const;
  // The same as a mask over the masked tensors.
  models::WeightMask as_mask(const MaskedParameters& masked) const;

 private:
  std::vector<std::uint8_t> used_;
};

struct MaskedImages {
  std::vector<float> weights;  // after the last task
  MaskOutcome outcome;
};

std::int64_t all_steps(const ImageMaskingSpec& spec);

// Nothing if it was asked to stop: then `unfinished` has the tasks that were learned, and those that it has already are
// not learned again.
std::optional<MaskedImages> mask_images(const ImageMaskingSpec& spec, const tasks::PermutedImages& images, int threads,
                                        const engine::Kernels<float>& kernels, DigitProgress& progress,
                                        const io::Unfinished& unfinished = {});

// How long one training step of the weights alone and one with a mask take here, and how long it takes to test the
// network on one image.
struct ImageStepSeconds {
  double weights = 0;
  double mask = 0;
  double test = 0;
};
ImageStepSeconds image_step_seconds(const ImageMaskingSpec& spec, const tasks::PermutedImages& images,
                                    const engine::Kernels<float>& kernels);

// Images that a run is tested on, each time counted: every mask and its inverse with the tasks so far.
std::int64_t all_tests(const ImageMaskingSpec& spec, const tasks::PermutedImages& images);

}  // namespace modlab::methods
