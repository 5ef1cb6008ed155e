#include "methods/detect/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"

namespace modlab::methods {
namespace {

constexpr int kWordBits = 64;
// Tables of pairs then stay below one or two gigabytes.
constexpr int kMaxUnitsOfLayer = 12'000;
constexpr int kMaxUnits = 60'000;
constexpr int kMaxUnitsWeighted = 12'000;

// Which units each unit has paths to; rows and columns are all units of the network, layer after layer.
class PathBits {
 public:
  explicit PathBits(int units)
      : words_((units + kWordBits - 1) / kWordBits), bits_(static_cast<std::size_t>(units) * words_) {}

  // What `other` has paths to, `unit` now has as well, and a path to `other`.
  void extend(int unit, int other, double /*weight*/) {
    std::uint64_t* row = bits_.data() + unit * words_;
    const std::uint64_t* other_row = bits_.data() + other * words_;
    for (std::size_t word = 0; word < words_; ++word) {
      row[word] |= other_row[word];
    }
    row[other / kWordBits] |= std::uint64_t{1} << (other % kWordBits);
  }
  void add(const PathBits& table) {
    for (std::size_t word = 0; word < bits_.size(); ++word) {
      bits_[word] |= table.bits_[word];
    }
  }
  // Columns begin to end of rows first to first + units.
  void copy_to(LayerFeatures& features, int first, int begin, int end) const {
    const std::size_t first_word = begin / kWordBits;
    features.words = begin < end ? (end - 1) / kWordBits + 1 - first_word : 0;
    features.bits.reserve(features.units * features.words);
    for (int unit = first; unit < first + features.units; ++unit) {
      for (std::size_t word = first_word; word < first_word + features.words; ++word) {
        const int column = static_cast<int>(word) * kWordBits;
        features.bits.push_back(bits_[unit * words_ + word] & ones_from(begin - column) & ~ones_from(end - column));
      }
    }
  }

 private:
  static std::uint64_t ones_from(int bit) { return bit >= kWordBits ? 0 : ~std::uint64_t{0} << std::max(bit, 0); }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// The same, with the sum over all paths of the products of their |w|.
class PathWeights {
 public:
  explicit PathWeights(int units) : units_(units), weights_(units_ * units_) {}

  void extend(int unit, int other, double weight) {
    double* row = weights_.data() + unit * units_;
    const double* other_row = weights_.data() + other * units_;
    for (std::size_t column = 0; column < units_; ++column) {
      row[column] += weight * other_row[column];
    }
    row[other] += weight;
  }
  void add(const PathWeights& table) {
    for (std::size_t place = 0; place < weights_.size(); ++place) {
      weights_[place] += table.weights_[place];
    }
  }
  void copy_to(LayerFeatures& features, int first, int begin, int end) const {
    features.columns = end - begin;
    features.weights.reserve(features.units * features.columns);
    for (int unit = first; unit < first + features.units; ++unit) {
      const double* row = weights_.data() + unit * units_;
      features.weights.insert(features.weights.end(), row + begin, row + end);
    }
  }

 private:
  std::size_t units_;
  std::vector<double> weights_;
};

// Where each layer starts among all units, and where the last one ends.
std::vector<int> first_units(const std::vector<int>& widths) {
  std::vector<int> first = {0};
  for (const int width : widths) {
    first.push_back(first.back() + width);
  }
  return first;
}

template <typename Paths>
Paths outgoing_paths(const models::LayeredNetwork& live, const std::vector<int>& first) {
  Paths paths(first.back());
  for (std::size_t layer = live.connections.size(); layer-- > 0;) {
    for (const models::Edge& edge : live.connections[layer].edges) {
      paths.extend(first[layer] + edge.from, first[layer + 1] + edge.to, std::abs(static_cast<double>(edge.weight)));
    }
  }
  return paths;
}

template <typename Paths>
Paths incoming_paths(const models::LayeredNetwork& live, const std::vector<int>& first) {
  Paths paths(first.back());
  for (std::size_t layer = 0; layer < live.connections.size(); ++layer) {
    for (const models::Edge& edge : live.connections[layer].edges) {
      paths.extend(first[layer + 1] + edge.to, first[layer] + edge.from, std::abs(static_cast<double>(edge.weight)));
    }
  }
  return paths;
}

template <typename Paths>
Paths paths_of(const models::LayeredNetwork& live, const std::vector<int>& first, Direction direction) {
  if (direction == Direction::kIncoming) {
    return incoming_paths<Paths>(live, first);
  }
  auto paths = outgoing_paths<Paths>(live, first);
  if (direction == Direction::kBoth) {
    paths.add(incoming_paths<Paths>(live, first));
  }
  return paths;
}

// Layers begin to end - 1; a layer itself may lie between them and has no paths to its own units.
struct Window {
  int begin = 0;
  int end = 0;
};

Window window_of(int layer, int layers, const DetectSettings& settings) {
  const int hops = settings.hops == 0 ? layers : settings.hops;
  Window window = {layer + 1, layer};
  // Nothing lies before the inputs.
  if (settings.direction == Direction::kIncoming || (settings.direction == Direction::kBoth && layer > 0)) {
    window.begin = layer - std::min(hops, layer);
  }
  if (settings.direction != Direction::kIncoming) {
    window.end = layer + 1 + std::min(hops, layers - 1 - layer);
  }
  return window;
}

void check_size(const models::LayeredNetwork& live, const DetectSettings& settings) {
  const int largest = *std::max_element(live.widths.begin(), live.widths.end() - 1);
  if (largest > kMaxUnitsOfLayer) {
    throw ConfigError(
        fmt::format("a layer has {} live units; at most {} can be clustered, so prune the network further", largest,
                    kMaxUnitsOfLayer));
  }
  const int most = settings.weighted ? kMaxUnitsWeighted : kMaxUnits;
  if (first_units(live.widths).back() > most) {
    throw ConfigError(
        fmt::format("the network has {} live units; at most {} can be described by {}features, so prune it "
                    "further",
                    first_units(live.widths).back(), most, settings.weighted ? "weighted " : ""));
  }
}

// A sum of squares is infinite where distances would no longer be numbers.
void check_weights(const LayerFeatures& features) {
  double largest = 0;
  for (const double weight : features.weights) {
    largest = std::max(largest, weight);
  }
  if (!std::isfinite(largest * largest * static_cast<double>(std::max<std::size_t>(features.columns, 1)))) {
    throw ConfigError("the products of weights along paths are too large for weighted features; leave weights out");
  }
}

}  // namespace

std::vector<LayerFeatures> layer_features(const models::LayeredNetwork& live, const DetectSettings& settings) {
  check_size(live, settings);
  const std::vector<int> first = first_units(live.widths);
  const auto bits = paths_of<PathBits>(live, first, settings.direction);
  const PathWeights weights =
      settings.weighted ? paths_of<PathWeights>(live, first, settings.direction) : PathWeights(0);
  std::vector<LayerFeatures> all;
  for (int layer = 0; layer + 1 < live.layers(); ++layer) {
    const Window window = window_of(layer, live.layers(), settings);
    const int begin = first[window.begin];
    const int end = first[window.end];
    LayerFeatures& features = all.emplace_back();
    features.units = live.widths[layer];
    const bool spans_itself = window.begin <= layer && layer < window.end;
    features.positions = end - begin - (spans_itself ? features.units : 0);
    bits.copy_to(features, first[layer], begin, end);
    if (settings.weighted) {
      weights.copy_to(features, first[layer], begin, end);
      check_weights(features);
    }
  }
  return all;
}

}  // namespace modlab::methods
