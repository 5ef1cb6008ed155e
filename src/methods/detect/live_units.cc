#include "methods/detect/detect.h"

namespace modlab::methods {

std::vector<std::vector<int>> live_units(const models::LayeredNetwork& network) {
  const int last = network.layers() - 1;
  // An output counts as read and an input as fed, whatever their edges.
  std::vector<std::vector<char>> fed;
  std::vector<std::vector<char>> read;
  for (int layer = 0; layer <= last; ++layer) {
    fed.emplace_back(network.widths[layer], layer == 0 ? 1 : 0);
    read.emplace_back(network.widths[layer], layer == last ? 1 : 0);
  }
  for (int layer = 0; layer < last; ++layer) {
    for (const models::Edge& edge : network.connections[layer].edges) {
      fed[layer + 1][edge.to] |= fed[layer][edge.from];
    }
  }
  for (int layer = last - 1; layer >= 0; --layer) {
    for (const models::Edge& edge : network.connections[layer].edges) {
      read[layer][edge.from] |= read[layer + 1][edge.to];
    }
  }
  std::vector<std::vector<int>> live(network.widths.size());
  for (int layer = 0; layer <= last; ++layer) {
    for (int unit = 0; unit < network.widths[layer]; ++unit) {
      if (layer == last || (fed[layer][unit] != 0 && read[layer][unit] != 0)) {
        live[layer].push_back(unit);
      }
    }
  }
  return live;
}

}  // namespace modlab::methods
