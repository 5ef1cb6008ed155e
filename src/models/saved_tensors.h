#pragma once

#include <string>
#include <vector>

#include "engine/network.h"
#include "io/safetensors.h"

// What files of all saved networks have in common: the run as JSON in their metadata, and tensors of two snapshots.
namespace modlab::models {

inline constexpr auto kSavedRunKey = "modlab.run";

// Every tensor of the layout as "best/NAME", then as "last/NAME".
void add_snapshots(const engine::Layout& layout, const std::vector<float>& best, const std::vector<float>& last,
                   io::TensorFile& file);

// The tensors "PREFIX/NAME" in the order of the layout. Throws FormatError where one is missing or of another shape.
std::vector<float> read_snapshot(const io::TensorFile& file, const engine::Layout& layout, const std::string& prefix,
                                 const std::string& path);

}  // namespace modlab::models
