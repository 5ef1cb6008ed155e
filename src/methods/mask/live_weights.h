#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/weight_mask.h"

namespace modlab::methods {

// Kept weights that lie on a path from an input to an output that is wanted, tensor by tensor: what a mask keeps beside
// them does nothing, or adds a constant. Nothing unless the mask's matrices are a chain of layers, [out][in] each; a
// tensor that is no matrix has none. `wanted`: [output], 1 or 0; empty: all.
std::optional<std::vector<std::size_t>> live_weights(const models::WeightMask& mask,
                                                     const std::vector<std::uint8_t>& wanted);

// A chain of layers of which these weights alone are left.
models::WeightMask live_part_of(const models::WeightMask& chain, const std::vector<std::uint8_t>& wanted);

}  // namespace modlab::methods
