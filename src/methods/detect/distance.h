#pragma once

#include <span>

#include "methods/detect/features.h"
#include "methods/detect/pair_table.h"

namespace modlab::methods {

int count_ones(std::span<const std::uint64_t> bits);
int count_common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

// Between the feature vectors of a layer's units. With weights, Jaccard's distance is one minus the sum of minima over
// the sum of maxima. Vectors of nothing but zeros are equal, and as far from all others as vectors that share nothing.
PairTable distances(const LayerFeatures& features, Distance distance);

// Squares of Euclid's distance; whole numbers unless features are weighted.
PairTable squared_distances(const LayerFeatures& features);

}  // namespace modlab::methods
