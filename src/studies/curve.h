#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/train_block.h"

namespace modlab::studies {

// The curve of a run as the store keeps it: right bits after every epoch, losses at epochs that lie ever further apart.
// docs/formats.md describes the bytes.
std::string encode_curve(const std::vector<engine::Scores>& curve);

struct Curve {
  std::vector<std::uint32_t> right_bits[engine::kParts];  // [epoch - 1]
  std::vector<int> loss_epochs;
  std::vector<float> loss[engine::kParts];  // at loss_epochs
};
// Throws FormatError, naming `source`, if the bytes are not the curve of so many epochs.
Curve decode_curve(std::string_view stream, int epochs, const std::string& source);

// Every epoch up to 40, then each about 5 % after the one before, and the last.
std::vector<int> loss_epochs(int epochs);

}  // namespace modlab::studies
