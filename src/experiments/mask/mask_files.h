#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "engine/network.h"
#include "methods/mask/mask_outcome.h"
#include "methods/mask/masked_parameters.h"

namespace modlab::experiments {

// Adds what other programs read of a masked network as "file.NAME", by the name of its file: "network.safetensors" with
// all tensors, and for each stage "mask-STAGE.safetensors" (1 where a weight is kept), "logits-STAGE.safetensors" and
// "masked-STAGE.safetensors", the network of which only the mask is left, with the names and shapes of the network's
// own tensors. All carry the run as metadata.
void add_mask_files(const engine::Layout& layout, const methods::MaskedParameters& masked,
                    std::span<const float> weights, const methods::MaskOutcome& outcome,
                    const nlohmann::ordered_json& run, std::map<std::string, std::string>& blobs);

}  // namespace modlab::experiments
