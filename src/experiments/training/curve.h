#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/train_block.h"

namespace modlab::experiments {

// The curve of a run as the store keeps it: right bits at engine::curve_epochs(), losses at some of these that lie ever
// further apart. docs/formats.md describes the bytes.
// `parts`: how many the run has, 3 or on images 4.
std::string encode_curve(const std::vector<engine::Scores>& curve, std::size_t parts);

struct Curve {
  std::vector<int> epochs;
  std::vector<std::vector<std::uint32_t>> right_bits;  // [part], at epochs
  std::vector<int> loss_epochs;
  std::vector<std::vector<float>> loss;  // [part], at loss_epochs
};
// Throws FormatError, naming `source`, if the bytes are not the curve of so many epochs. Stores of earlier versions
// have every epoch of any training.
Curve decode_curve(std::string_view stream, int epochs, std::size_t parts, const std::string& source);

// Which of a curve's points have a loss, counted from 1: each up to 40, then each about 5 % after the one before, and
// the last.
std::vector<std::size_t> loss_points(std::size_t points);

}  // namespace modlab::experiments
