#pragma once

#include <torch/script.h>

#include "models/torch/torch_network.h"

namespace modlab::on_torch {

// The weights of one sample under a mask that is drawn from logits: the same draws as those of the engine's kernels
// (engine/solo/flat_mask-inl.h), written with libtorch's own operations, so that they run wherever it does. Of the loss
// of what they are used for, the gradient by `logits` is the straight-through one: a bit counts as the soft number
// that it was cut from. `words`: see drawn_words.
torch::Tensor masked_weights(const models::MaskDraws& draws, const torch::Tensor& logits, const torch::Tensor& weights,
                             const torch::Tensor& words);

// Of each weight, the 31 random bits of samples 4 * group to 4 * group + 3.
std::array<torch::Tensor, 4> drawn_words(const models::MaskDraws& draws, int group, const torch::Device& device);

}  // namespace modlab::on_torch
