#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "methods/mask/mask_outcome.h"

namespace modlab::experiments {

// The name of the blob that a picture is stored as.
inline constexpr const char* kMaskPicture = "masks";

// Bins of the chances to keep a weight: from 0 to 1, all of one width.
inline constexpr std::size_t kChanceBins = 20;
// Weights of a network up to which a picture has every one of them, as long as no matrix has a longer side; of a larger
// one it has blocks, at most so many down and across a matrix, and fewer where there are many tensors.
inline constexpr std::size_t kMostExactWeights = 16'384;
inline constexpr std::size_t kLongestExactSide = 256;
inline constexpr std::size_t kMostBlocks = 48;
inline constexpr std::size_t kFewBlocks = 8;
inline constexpr std::size_t kManyTensors = 48;
// Numbers from 0 to 63 in a picture, a letter each.
inline constexpr const char* kPictureLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::size_t kTargetsPerLetter = 6;

// What can be drawn of a network's masks:
//   "histograms"  [stage][bin] how many logits have such a chance to keep their weights
//   "exact"       whether cells are weights; otherwise they are blocks
//   "tensors"     each with its "name"; its "shape", rows and columns; and "cells", rows and columns of them; and its
//                 "letters", cell after cell. Of a weight: which targets keep it, six to a letter, the first one being
//                 the lowest bit. Of a block: for each target the share of weights that it alone keeps, and last the
//                 share that several keep, a letter each; a share that is not zero is at least one step.
nlohmann::ordered_json mask_picture(const methods::MaskOutcome& outcome);

}  // namespace modlab::experiments
