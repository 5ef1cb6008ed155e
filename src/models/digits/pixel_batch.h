#pragma once

#include <span>

#include "models/digits/digit_batch.h"
#include "tasks/permuted_images.h"

namespace modlab::models {

// Images by their numbers among the training images, with their pixels in an order: one group of outputs says what each
// of them shows.
DigitBatch pixel_batch(const tasks::PermutedImages& images, std::span<const std::uint32_t> order,
                       std::span<const std::uint32_t> numbers);

}  // namespace modlab::models
