#pragma once

#include <cstdint>
#include <span>

#include "engine/solo/kernels.h"

namespace modlab::engine::solo {

// Images of `pixels` bytes each, [image][pixel]. A byte's value is byte / 255, or with `normalized` that less the mean
// and divided by the deviation that the published code has for MNIST; then no pixel is zero and none is skipped.
PixelImages make_pixel_images(std::span<const std::uint8_t> bytes, int pixels, bool normalized);

// The same rows seen from the inputs; reuses the memory of `columns`.
void make_columns(const PixelRows& rows, PixelColumns& columns);

}  // namespace modlab::engine::solo
