#include "methods/torch/flat_mask_trainer.h"

#include <algorithm>

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

double FlatMaskTrainer::step(std::span<const std::uint32_t> rows, std::span<const std::uint8_t> outputs) {
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
  const std::vector<engine::Tensor>& tensors = network_.layout().tensors;
  const std::size_t part = rows.size() / static_cast<std::size_t>(samples_);
  const std::uint64_t step_noise = noise_of_step(seed_, stage_, steps_, kNoiseOfAll);
  double loss = 0;
  for (std::size_t sample = 0; sample < static_cast<std::size_t>(samples_); ++sample) {
    float* drawn = drawn_.data() + sample * padded_;
    for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
      if (wanted_[tensor] == 0) {
        std::copy_n(weights_.data() + tensors[tensor].offset, tensors[tensor].count, drawn + tensors[tensor].offset);
      }
    }
    loss += network_.gradient({drawn, network_.layout().count},
                              {.rows = rows.subspan(sample * part, part),
                               .outputs = outputs,
                               .noise = noise_of_step(seed_, stage_, steps_, static_cast<std::uint32_t>(sample)),
                               .step_noise = step_noise},
                              wanted_, {products_.data() + sample * padded_, network_.layout().count});
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
                                    .alpha = static_cast<float>(alpha_)},
                          .gradients = gradients_.data()});
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    if (wanted_[tensor] == 0 || frozen_[tensor] != 0) {
      std::fill_n(gradients_.begin() + static_cast<std::ptrdiff_t>(tensors[tensor].offset), tensors[tensor].count,
                  0.0F);
    }
  }
  std::fill(gradients_.begin() + static_cast<std::ptrdiff_t>(network_.layout().count), gradients_.end(), 0.0F);
  optimizer_.step(logits_, gradients_);
  ++steps_;
  return loss / samples_;
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
