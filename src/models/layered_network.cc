#include "models/layered_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/errors.h"

namespace modlab::models {
namespace {

constexpr int kMaxUnits = 1'000'000;  // of one layer
constexpr std::int64_t kMaxPairs = std::numeric_limits<int>::max();

[[noreturn]] void fail(const std::string& source, const std::string& reason) {
  throw FormatError(fmt::format("{}: {}", source, reason));
}

// Of neighbouring units; adding ends beyond kMaxPairs, long before 64 bits are full.
std::int64_t pairs_of(const std::vector<int>& widths) {
  std::int64_t pairs = 0;
  for (std::size_t layer = 0; layer + 1 < widths.size() && pairs <= kMaxPairs; ++layer) {
    pairs += static_cast<std::int64_t>(widths[layer]) * widths[layer + 1];
  }
  return pairs;
}

void check_widths(const LayeredNetwork& network, const std::string& source) {
  if (network.connections.empty()) {
    fail(source, "a network without a layer of edges; it needs inputs, outputs and edges between them");
  }
  if (network.widths.size() != network.connections.size() + 1) {
    fail(source, fmt::format("{} layers of units and {} of edges do not meet; give one layer of units more than edges",
                             network.widths.size(), network.connections.size()));
  }
  for (std::size_t layer = 0; layer < network.widths.size(); ++layer) {
    if (network.widths[layer] < 1) {
      fail(source, fmt::format("layer {} has no units; leave it out or give it some", layer));
    }
    if (network.widths[layer] > kMaxUnits) {
      fail(source,
           fmt::format("layer {} has {} units; at most {} are possible", layer, network.widths[layer], kMaxUnits));
    }
  }
  if (pairs_of(network.widths) > kMaxPairs) {
    fail(source, fmt::format("its neighbouring units make too many pairs; at most {} are possible", kMaxPairs));
  }
}

void check_edges(const std::vector<Edge>& edges, std::size_t layer, int in, int out, const std::string& source) {
  for (const Edge& edge : edges) {
    if (edge.from < 0 || edge.from >= in || edge.to < 0 || edge.to >= out) {
      fail(source, fmt::format("an edge of layer {} goes from unit {} to unit {}, but there are {} and {} units, "
                               "counted from 0",
                               layer, edge.from, edge.to, in, out));
    }
    if (!std::isfinite(edge.weight)) {
      fail(source, fmt::format("the edge of layer {} from unit {} to unit {} has a weight that is no finite number",
                               layer, edge.from, edge.to));
    }
  }
}

std::pair<int, int> place_of(const Edge& edge) { return {edge.to, edge.from}; }

void put_in_order(std::vector<Edge>& edges, std::size_t layer, const std::string& source) {
  std::ranges::sort(edges, {}, place_of);
  // Before zeros go: a pair given twice is a mistake whatever its weights.
  const auto twice = std::ranges::adjacent_find(edges, {}, place_of);
  if (twice != edges.end()) {
    fail(source,
         fmt::format("layer {} has two edges from unit {} to unit {}; remove one", layer, twice->from, twice->to));
  }
  std::erase_if(edges, [](const Edge& edge) { return edge.weight == 0; });
}

void complete_bias(std::vector<float>& bias, std::size_t layer, int out, const std::string& source) {
  if (bias.empty()) {
    bias.resize(out);
  }
  if (bias.size() != static_cast<std::size_t>(out)) {
    fail(source, fmt::format("layer {} has {} biases for {} units; give each unit one, or none at all", layer,
                             bias.size(), out));
  }
  const auto broken = std::ranges::find_if_not(bias, [](float value) { return std::isfinite(value); });
  if (broken != bias.end()) {
    fail(source, fmt::format("the bias of unit {} after layer {} is no finite number", broken - bias.begin(), layer));
  }
}

}  // namespace

int LayeredNetwork::edge_count() const {
  std::size_t count = 0;
  for (const Connections& layer : connections) {
    count += layer.edges.size();
  }
  return static_cast<int>(count);
}

int LayeredNetwork::full_edge_count() const { return static_cast<int>(pairs_of(widths)); }

LayeredNetwork checked(LayeredNetwork network, const std::string& source) {
  check_widths(network, source);
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    Connections& connections = network.connections[layer];
    const int out = network.widths[layer + 1];
    check_edges(connections.edges, layer, network.widths[layer], out, source);
    put_in_order(connections.edges, layer, source);
    complete_bias(connections.bias, layer, out, source);
  }
  return network;
}

LayeredNetwork from_matrices(std::span<const DenseLayer> layers, const std::string& source) {
  LayeredNetwork network;
  for (std::size_t index = 0; index < layers.size(); ++index) {
    const DenseLayer& layer = layers[index];
    if (layer.in < 1 || layer.out < 1 ||
        layer.weights.size() != static_cast<std::size_t>(layer.in) * static_cast<std::size_t>(layer.out)) {
      fail(source, fmt::format("layer {} has {} weights, which is no matrix of {} by {}", index, layer.weights.size(),
                               layer.out, layer.in));
    }
    if (index == 0) {
      network.widths.push_back(layer.in);
    } else if (network.widths.back() != layer.in) {
      fail(source, fmt::format("layer {} gives {} units, but the matrix of layer {} reads {}; check the order of the "
                               "matrices and which side is the input",
                               index - 1, network.widths.back(), index, layer.in));
    }
    network.widths.push_back(layer.out);
    Connections& connections = network.connections.emplace_back();
    connections.bias = layer.bias;
    const float* weight = layer.weights.data();
    for (int to = 0; to < layer.out; ++to) {
      for (int from = 0; from < layer.in; ++from, ++weight) {
        if (*weight != 0) {
          connections.edges.push_back({from, to, *weight});
        }
      }
    }
  }
  return checked(std::move(network), source);
}

std::vector<std::vector<double>> unit_values(const LayeredNetwork& network, std::span<const double> inputs) {
  assert(inputs.size() == static_cast<std::size_t>(network.widths.front()));
  std::vector<std::vector<double>> values = {{inputs.begin(), inputs.end()}};
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    const Connections& connections = network.connections[layer];
    std::vector<double> sums(connections.bias.begin(), connections.bias.end());
    for (const Edge& edge : connections.edges) {
      sums[edge.to] += static_cast<double>(edge.weight) * values.back()[edge.from];
    }
    if (layer + 1 < network.connections.size()) {
      std::ranges::transform(sums, sums.begin(), [](double sum) { return std::max(0.0, sum); });
    }
    values.push_back(std::move(sums));
  }
  return values;
}

}  // namespace modlab::models
