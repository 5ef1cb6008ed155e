#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "methods/detect/detect.h"

namespace modlab::methods {

// What describes the units of a layer: the units of other layers that a path joins them with.
struct LayerFeatures {
  int units = 0;
  int positions = 0;                // units of other layers that a feature vector speaks of
  std::size_t words = 0;            // of a row of bits
  std::vector<std::uint64_t> bits;  // [unit][word]: is there a path?
  std::size_t columns = 0;          // of a row of weights
  std::vector<double> weights;      // [unit][column]: sums of path products of |w|; empty unless features are weighted

  std::span<const std::uint64_t> bits_of(int unit) const { return {bits.data() + unit * words, words}; }
  std::span<const double> weights_of(int unit) const { return {weights.data() + unit * columns, columns}; }
};

// Of all layers but the outputs, in a network of live units alone. Throws ConfigError where the network is too large
// for tables of pairs of its units, or path products are too large for a number.
std::vector<LayerFeatures> layer_features(const models::LayeredNetwork& live, const DetectSettings& settings);

}  // namespace modlab::methods
