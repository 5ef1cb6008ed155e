#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/network.h"
#include "methods/mask/mask_spec.h"
#include "models/weight_mask.h"

namespace modlab::methods {

// A tensor that is masked, and where its parameters lie in the network's layout.
struct MaskedTensor {
  std::string name;
  std::vector<int> shape;
  std::size_t offset = 0;
  std::size_t count = 0;
};

// Which parameters of a network have a logit, and which one.
struct MaskedParameters {
  std::vector<MaskedTensor> tensors;
  std::vector<std::int32_t> logit_of;  // [parameter]; -1: it stays as it is
  int logits = 0;
};

// All tensors that the spec includes and does not exclude; selection vectors never are. Throws ConfigError for a
// pattern that fits no tensor, and where none is left.
MaskedParameters masked_parameters(const engine::Layout& layout, const MaskSpec& spec);
// Whether a tensor's name fits a preset (no-bias, no-norm, no-embedding) or a pattern with * and ?.
bool fits_pattern(const std::string& name, const std::string& pattern);

// The weights that logits keep: those above zero. Weights that are zero themselves, as in a pruned network, are not.
models::WeightMask kept_weights(const MaskedParameters& masked, std::span<const float> logits,
                                std::span<const float> weights, const std::string& name);

// The network of which a mask, or everything but the mask, is left. Parameters that are not masked stay.
std::vector<float> masked_weights(const MaskedParameters& masked, const models::WeightMask& mask,
                                  std::span<const float> weights, bool inverted = false);

// 1 for a logit whose weights are all zero in the network, so that it decides nothing; empty where there is none.
std::vector<std::uint8_t> idle_logits(const MaskedParameters& masked, std::span<const float> weights);
// Of logits that decide something those whose chance to keep is neither below 5 % nor above 95 %, as a share from 0
// to 1.
double ambiguous_share(std::span<const float> logits, std::span<const std::uint8_t> idle);

// Of each tensor of the layout, 1 if it is masked.
std::vector<std::uint8_t> masked_tensors(const engine::Layout& layout, const MaskedParameters& masked);
// The logits of the masked weights alone, from those of all parameters in the order of the layout.
std::vector<float> logits_of(const MaskedParameters& masked, std::span<const float> all);

}  // namespace modlab::methods
