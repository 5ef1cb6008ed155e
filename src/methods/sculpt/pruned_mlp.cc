#include "methods/sculpt/pruned_mlp.h"

#include <algorithm>
#include <numeric>

#include "models/initial_weights.h"

namespace modlab::methods {
namespace {

// Calls visit(from, to) for every parameter that both networks have: its place in the original and among the packed.
template <typename Visit>
void for_each_packed(const models::MlpShape& shape, const std::vector<std::vector<int>>& units,
                     const models::MlpShape& room, Visit visit) {
  const std::vector<LayerPlace> original = layer_places(shape);
  const std::vector<LayerPlace> packed = layer_places(room);
  for (std::size_t layer = 0; layer < original.size(); ++layer) {
    for (std::size_t to = 0; to < units[layer + 1].size(); ++to) {
      const auto unit = static_cast<std::size_t>(units[layer + 1][to]);
      const std::size_t original_row = original[layer].weights + unit * original[layer].in;
      const std::size_t packed_row = packed[layer].weights + to * packed[layer].in;
      for (std::size_t from = 0; from < units[layer].size(); ++from) {
        visit(original_row + units[layer][from], packed_row + from);
      }
      visit(original[layer].bias + unit, packed[layer].bias + to);
    }
  }
}

}  // namespace

int PrunedMlp::hidden_units() const { return std::accumulate(shape.widths.begin() + 1, shape.widths.end() - 1, 0); }

int PrunedMlp::weight_count() const {
  int count = 0;
  for (const LayerPlace& place : layer_places(shape)) {
    count += place.in * place.out;
  }
  return count;
}

int PrunedMlp::edge_count() const {
  std::ptrdiff_t count = 0;
  for (const LayerPlace& place : layer_places(shape)) {
    const auto weights = kept.begin() + static_cast<std::ptrdiff_t>(place.weights);
    count += std::count(weights, weights + static_cast<std::ptrdiff_t>(place.in) * place.out, 1);
  }
  return static_cast<int>(count);
}

KeptParameters kept_parameters(const PrunedMlp& network) {
  KeptParameters left;
  for (std::size_t place = 0; place < network.kept.size(); ++place) {
    if (network.kept[place] != 0) {
      left.places.push_back(static_cast<std::uint32_t>(place));
      left.values.push_back(network.parameters[place]);
    }
  }
  return left;
}

PrunedMlp with_parameters(const models::MlpShape& shape, const KeptParameters& kept) {
  PrunedMlp network;
  network.shape = shape;
  const std::size_t count = models::mlp_layout(shape).count;
  network.parameters.assign(count, 0);
  network.kept.assign(count, 0);
  for (std::size_t at = 0; at < kept.places.size(); ++at) {
    network.parameters[kept.places[at]] = kept.values[at];
    network.kept[kept.places[at]] = 1;
  }
  return network;
}

std::vector<LayerPlace> layer_places(const models::MlpShape& shape) {
  std::vector<LayerPlace> places;
  std::size_t next = 0;
  for (std::size_t layer = 0; layer + 1 < shape.widths.size(); ++layer) {
    const int in = shape.widths[layer];
    const int out = shape.widths[layer + 1];
    const std::size_t bias = next + static_cast<std::size_t>(in) * out;
    places.push_back({in, out, next, bias});
    next = bias + out;
  }
  return places;
}

PrunedMlp unpruned_mlp(const models::MlpShape& shape, models::Init init, std::uint64_t seed) {
  const engine::Layout layout = models::mlp_layout(shape);
  return {shape, models::initial_parameters(layout, init, seed), std::vector<std::uint8_t>(layout.count, 1)};
}

std::vector<std::vector<int>> used_units(const PrunedMlp& network) {
  const std::vector<int>& widths = network.shape.widths;
  std::vector<std::vector<std::uint8_t>> used;
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    const bool is_hidden = layer > 0 && layer + 1 < widths.size();
    used.emplace_back(widths[layer], is_hidden ? 0 : 1);
  }
  const std::vector<LayerPlace> places = layer_places(network.shape);
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    const std::uint8_t* kept = network.kept.data() + places[layer].weights;
    for (int to = 0; to < places[layer].out; ++to) {
      for (int from = 0; from < places[layer].in; ++from, ++kept) {
        used[layer][from] |= *kept;
        used[layer + 1][to] |= *kept;
      }
    }
  }
  std::vector<std::vector<int>> units(used.size());
  for (std::size_t layer = 0; layer < used.size(); ++layer) {
    for (int unit = 0; unit < widths[layer]; ++unit) {
      if (used[layer][unit] != 0) {
        units[layer].push_back(unit);
      }
    }
  }
  return units;
}

void clear_pruned(PrunedMlp& network) {
  for (const LayerPlace& place : layer_places(network.shape)) {
    for (int to = 0; to < place.out; ++to) {
      const auto row = network.kept.begin() + static_cast<std::ptrdiff_t>(place.weights) +
                       static_cast<std::ptrdiff_t>(to) * place.in;
      if (std::count(row, row + place.in, 1) == 0) {
        network.kept[place.bias + to] = 0;
      }
    }
  }
  for (std::size_t parameter = 0; parameter < network.parameters.size(); ++parameter) {
    if (network.kept[parameter] == 0) {
      network.parameters[parameter] = 0;
    }
  }
}

PackedMlp pack(const PrunedMlp& network, const std::vector<std::vector<int>>& units, const models::MlpShape& room) {
  const std::size_t count = models::mlp_layout(room).count;
  PackedMlp packed{std::vector<float>(count), std::vector<float>(count)};
  for_each_packed(network.shape, units, room, [&](std::size_t original, std::size_t place) {
    packed.parameters[place] = network.parameters[original];
    packed.mask[place] = network.kept[original];
  });
  return packed;
}

void unpack(const std::vector<float>& packed, const std::vector<std::vector<int>>& units, const models::MlpShape& room,
            PrunedMlp& network) {
  for_each_packed(network.shape, units, room, [&](std::size_t original, std::size_t place) {
    network.parameters[original] = network.kept[original] != 0 ? packed[place] : 0;
  });
}

models::LayeredNetwork to_layered(const PrunedMlp& network) {
  models::LayeredNetwork layered;
  layered.widths = network.shape.widths;
  for (const LayerPlace& place : layer_places(network.shape)) {
    models::Connections connections;
    for (int to = 0; to < place.out; ++to) {
      for (int from = 0; from < place.in; ++from) {
        const std::size_t at = place.weights + static_cast<std::size_t>(to) * place.in + from;
        if (network.kept[at] != 0) {
          connections.edges.push_back({from, to, network.parameters[at]});
        }
      }
    }
    const auto bias = network.parameters.begin() + static_cast<std::ptrdiff_t>(place.bias);
    connections.bias.assign(bias, bias + place.out);
    layered.connections.push_back(std::move(connections));
  }
  return layered;
}

PrunedMlp from_layered(const models::LayeredNetwork& network) {
  PrunedMlp pruned;
  pruned.shape.widths = network.widths;
  const std::vector<LayerPlace> places = layer_places(pruned.shape);
  const std::size_t parameters = places.back().bias + static_cast<std::size_t>(places.back().out);
  pruned.parameters.assign(parameters, 0);
  pruned.kept.assign(parameters, 0);
  const auto set = [&](std::size_t at, float value) {
    pruned.parameters[at] = value;
    pruned.kept[at] = 1;
  };
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    const LayerPlace& place = places[layer];
    for (const models::Edge& edge : network.connections[layer].edges) {
      set(place.weights + static_cast<std::size_t>(edge.to) * place.in + edge.from, edge.weight);
    }
    for (int unit = 0; unit < place.out; ++unit) {
      set(place.bias + unit, network.connections[layer].bias[unit]);
    }
  }
  return pruned;
}

}  // namespace modlab::methods
