#include "methods/torch/flat_mask_trainer.h"

#include <algorithm>
#include <cmath>

#include "methods/torch/torch_training.h"

namespace modlab::methods {
namespace {

constexpr std::size_t padded_to_vectors(std::size_t count) {
  constexpr auto kPad = static_cast<std::size_t>(engine::solo::kUnitPad);
  return (count + kPad - 1) / kPad * kPad;
}

}  // namespace

FlatMaskTrainer::FlatMaskTrainer(models::TorchNetwork& network, const MaskedParameters& masked,
                                 std::span<const float> weights, std::vector<float> logits, const MaskSpec& spec,
                                 double beta, std::uint64_t seed, std::uint32_t stage,
                                 const engine::solo::MaskedKernels<float>& kernels)
    : network_(network),
      masked_(masked),
      samples_(spec.samples),
      alpha_(beta / spec.batch_size),
      of_count_(spec.penalty == MaskPenaltyKind::kCount),
      inverse_tau_(1 / spec.tau),
      deterministic_(spec.sampler == engine::MaskDrawing::kDeterministic),
      seed_(seed),
      stage_(stage),
      kernels_(kernels),
      wanted_(masked_tensors(network.layout(), masked)),
      frozen_(wanted_.size()),
      padded_(padded_to_vectors(network.layout().count)),
      weights_(padded_),
      shares_(padded_),
      logits_(padded_),
      gradients_(padded_),
      drawn_(padded_ * static_cast<std::size_t>(samples_)),
      products_(drawn_.size()),
      optimizer_(padded_, {.lr = spec.lr, .clip = spec.clip}) {
  std::ranges::copy(weights, weights_.begin());
  // The loss is the mean over samples, and so is its gradient.
  std::ranges::transform(weights_, shares_.begin(),
                         [&](float weight) { return weight / static_cast<float>(samples_); });
  for (std::size_t place = 0; place < masked.logit_of.size(); ++place) {
    if (masked.logit_of[place] >= 0) {
      logits_[place] = logits[static_cast<std::size_t>(masked.logit_of[place])];
    }
  }
}

void FlatMaskTrainer::freeze(const std::string& tensor, std::span<const float> logits) {
  const std::vector<engine::Tensor>& tensors = network_.layout().tensors;
  const auto found = std::ranges::find(tensors, tensor, &engine::Tensor::name);
  frozen_[static_cast<std::size_t>(found - tensors.begin())] = 1;
  for (std::size_t place = found->offset; place < found->offset + found->count; ++place) {
    if (masked_.logit_of[place] >= 0) {
      logits_[place] = logits[static_cast<std::size_t>(masked_.logit_of[place])];
    }
  }
}

// The rows of each sample.
std::vector<models::TorchBatch> FlatMaskTrainer::batches_of(std::span<const std::uint32_t> rows,
                                                            std::span<const std::uint8_t> outputs) const {
  const std::size_t part = rows.size() / static_cast<std::size_t>(samples_);
  const std::uint64_t step_noise = noise_of_step(seed_, stage_, steps_, kNoiseOfAll);
  std::vector<models::TorchBatch> batches;
  for (int sample = 0; sample < samples_; ++sample) {
    batches.push_back({.rows = rows.subspan(static_cast<std::size_t>(sample) * part, part),
                       .outputs = outputs,
                       .noise = noise_of_step(seed_, stage_, steps_, static_cast<std::uint32_t>(sample)),
                       .step_noise = step_noise});
  }
  return batches;
}

double FlatMaskTrainer::gradient_here(std::span<const models::TorchBatch> batches) {
  const engine::solo::MaskNoise noise{engine::solo::mask_key(seed_, stage_), steps_, 0, 0};
  kernels_.flat_draw({.logits = logits_.data(),
                      .weights = weights_.data(),
                      .masked = drawn_.data(),
                      .count = padded_,
                      .stride = padded_,
                      .first_index = 0,
                      .samples = samples_,
                      .noise = noise,
                      .deterministic = deterministic_});
  const engine::Layout& layout = network_.layout();
  double loss = 0;
  for (std::size_t sample = 0; sample < batches.size(); ++sample) {
    float* drawn = drawn_.data() + sample * padded_;
    for (std::size_t tensor = 0; tensor < layout.tensors.size(); ++tensor) {
      const engine::Tensor& place = layout.tensors[tensor];
      if (wanted_[tensor] == 0) {
        std::copy_n(weights_.data() + place.offset, place.count, drawn + place.offset);
      }
    }
    loss += network_.gradient({drawn, layout.count}, batches[sample], wanted_,
                              {products_.data() + sample * padded_, layout.count});
  }
  kernels_.flat_gradient({.weights = shares_.data(),
                          .products = products_.data(),
                          .count = padded_,
                          .stride = padded_,
                          .first_index = 0,
                          .samples = samples_,
                          .slope = {.logits = logits_.data(),
                                    .noise = noise,
                                    .deterministic = deterministic_,
                                    .inverse_tau = static_cast<float>(inverse_tau_),
                                    .alpha = static_cast<float>(alpha_),
                                    .of_count = of_count_},
                          .gradients = gradients_.data()});
  return loss / samples_;
}

double FlatMaskTrainer::gradient_there(std::span<const models::TorchBatch> batches) {
  const std::size_t count = network_.layout().count;
  const double loss = network_.mask_gradient({.logits = {logits_.data(), count},
                                              .weights = {weights_.data(), count},
                                              .key = engine::solo::mask_key(seed_, stage_),
                                              .step = steps_,
                                              .inverse_tau = inverse_tau_,
                                              .deterministic = deterministic_},
                                             batches, wanted_, {gradients_.data(), count});
  for (std::size_t at = 0; at < count; ++at) {
    const double kept = 1 / (1 + std::exp(-static_cast<double>(logits_[at])));
    gradients_[at] += static_cast<float>(of_count_ ? alpha_ * kept * (1 - kept) : alpha_);
  }
  return loss;
}

double FlatMaskTrainer::step(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> outputs) {
  const std::vector<models::TorchBatch> batches = batches_of(rows, outputs);
  const double loss = network_.draws_masks() ? gradient_there(batches) : gradient_here(batches);
  const std::vector<engine::Tensor>& tensors = network_.layout().tensors;
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    if (wanted_[tensor] == 0 || frozen_[tensor] != 0) {
      std::fill_n(gradients_.begin() + static_cast<std::ptrdiff_t>(tensors[tensor].offset), tensors[tensor].count,
                  0.0F);
    }
  }
  std::fill(gradients_.begin() + static_cast<std::ptrdiff_t>(network_.layout().count), gradients_.end(), 0.0F);
  optimizer_.step(logits_, gradients_);
  ++steps_;
  return loss;
}

std::vector<float> FlatMaskTrainer::logits() const {
  return logits_of(masked_, {logits_.data(), network_.layout().count});
}

std::size_t FlatMaskTrainer::state_size(const engine::Layout& layout) {
  const std::size_t padded = padded_to_vectors(layout.count);
  return padded + FlatOptimizer::state_size(padded) + 1;
}

std::vector<float> FlatMaskTrainer::state() const {
  std::vector<float> state(logits_.begin(), logits_.end());
  const std::vector<float> optimizer = optimizer_.state();
  state.insert(state.end(), optimizer.begin(), optimizer.end());
  state.push_back(static_cast<float>(steps_));
  return state;
}

void FlatMaskTrainer::restore(std::span<const float> state) {
  std::ranges::copy(state.first(padded_), logits_.begin());
  optimizer_.restore(state.subspan(padded_, FlatOptimizer::state_size(padded_)));
  steps_ = static_cast<std::uint32_t>(state.back());
}

}  // namespace modlab::methods
