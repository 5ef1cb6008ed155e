#include "methods/sculpt/pruning.h"

#include <algorithm>
#include <cmath>

#include "methods/detect/detect.h"

namespace modlab::methods {
namespace {

double threshold_of(std::vector<double> scores, double percent) {
  std::ranges::sort(scores);
  return percentile(0, scores, percent);
}

// Hidden layers of a network: where each one's units begin among all hidden units.
struct HiddenLayer {
  std::size_t first;
  std::size_t count;
};

std::vector<HiddenLayer> hidden_layers(const models::MlpShape& shape) {
  std::vector<HiddenLayer> layers;
  std::size_t first = 0;
  for (std::size_t layer = 1; layer + 1 < shape.widths.size(); ++layer) {
    layers.push_back({first, static_cast<std::size_t>(shape.widths[layer])});
    first += layers.back().count;
  }
  return layers;
}

// The threshold of each layer.
std::vector<double> thresholds(const std::vector<HiddenLayer>& layers, const std::vector<double>& scores,
                               ScoreScale scale, double percent) {
  const double global = threshold_of(scores, percent);
  std::vector<double> result;
  for (const HiddenLayer& layer : layers) {
    const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(layer.first);
    const double local = threshold_of({begin, begin + static_cast<std::ptrdiff_t>(layer.count)}, percent);
    result.push_back(scale == ScoreScale::kGlobal  ? global
                     : scale == ScoreScale::kLocal ? local
                                                   : std::min(local, global));
  }
  return result;
}

void remove_unit(PrunedMlp& network, const LayerPlace& below, const LayerPlace& above, int unit) {
  const auto row =
      network.kept.begin() + static_cast<std::ptrdiff_t>(below.weights) + static_cast<std::ptrdiff_t>(unit) * below.in;
  std::fill(row, row + below.in, 0);
  for (int to = 0; to < above.out; ++to) {
    network.kept[above.weights + static_cast<std::size_t>(to) * above.in + unit] = 0;
  }
}

}  // namespace

double percentile(std::size_t zeros, const std::vector<double>& ascending, double percent) {
  const std::size_t last = zeros + ascending.size() - 1;
  const double position = percent / 100 * static_cast<double>(last);
  const std::size_t below = std::min(static_cast<std::size_t>(position), last);
  const auto at = [&](std::size_t index) { return index < zeros ? 0.0 : ascending[index - zeros]; };
  const double part = position - static_cast<double>(below);
  return at(below) + part * (at(std::min(below + 1, last)) - at(below));
}

PrunedMlp prune_units(const PrunedMlp& network, const std::vector<double>& scores, ScoreScale scale, double percent) {
  PrunedMlp pruned = network;
  const std::vector<LayerPlace> places = layer_places(network.shape);
  const std::vector<HiddenLayer> layers = hidden_layers(network.shape);
  const std::vector<double> threshold = thresholds(layers, scores, scale, percent);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t unit = 0; unit < layers[layer].count; ++unit) {
      if (scores[layers[layer].first + unit] <= threshold[layer]) {
        remove_unit(pruned, places[layer], places[layer + 1], static_cast<int>(unit));
      }
    }
  }
  clear_pruned(pruned);
  return pruned;
}

PrunedMlp prune_edges(const PrunedMlp& network, double percent) {
  // Weights that are gone are zeros at the bottom of the ranking; only the others need sorting.
  std::vector<double> magnitudes;
  std::vector<std::size_t> edges;
  std::size_t zeros = 0;
  for (const LayerPlace& place : layer_places(network.shape)) {
    for (std::size_t weight = place.weights; weight < place.bias; ++weight) {
      if (network.kept[weight] != 0) {
        edges.push_back(weight);
        magnitudes.push_back(std::abs(static_cast<double>(network.parameters[weight])));
      } else {
        ++zeros;
      }
    }
  }
  std::ranges::sort(magnitudes);
  const double threshold = percentile(zeros, magnitudes, percent);
  PrunedMlp pruned = network;
  for (const std::size_t edge : edges) {
    if (std::abs(static_cast<double>(network.parameters[edge])) <= threshold) {
      pruned.kept[edge] = 0;
    }
  }
  clear_pruned(pruned);
  return pruned;
}

bool is_cut_off(const PrunedMlp& network) {
  const models::LayeredNetwork layered = to_layered(network);
  const std::vector<std::vector<int>> live = live_units(layered);
  if (static_cast<int>(live.front().size()) < layered.widths.front()) {
    return true;
  }
  // Outputs always count as live: is each reached by an edge from a live unit?
  std::vector<bool> reached(layered.widths.back());
  for (const models::Edge& edge : layered.connections.back().edges) {
    if (std::ranges::binary_search(live[live.size() - 2], edge.from)) {
      reached[edge.to] = true;
    }
  }
  return std::ranges::find(reached, false) != reached.end();
}

}  // namespace modlab::methods
