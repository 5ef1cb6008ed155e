#include "methods/detect/cross_edges.h"

namespace modlab::methods {

std::vector<std::vector<int>> modules_by_unit(const models::LayeredNetwork& network, const Hierarchy& hierarchy) {
  std::vector<std::vector<int>> modules;
  for (const int width : network.widths) {
    modules.emplace_back(width, -1);
  }
  for (std::size_t module = 0; module < hierarchy.modules.size(); ++module) {
    const std::vector<std::vector<int>>& units = hierarchy.modules[module].units;
    for (std::size_t layer = 0; layer < units.size(); ++layer) {
      for (const int unit : units[layer]) {
        modules[layer][unit] = static_cast<int>(module);
      }
    }
  }
  return modules;
}

std::vector<CrossEdge> cross_edges(const models::LayeredNetwork& network, const Hierarchy& hierarchy) {
  const std::vector<std::vector<int>> modules = modules_by_unit(network, hierarchy);
  std::vector<CrossEdge> crossing;
  for (int layer = 0; layer + 1 < network.layers(); ++layer) {
    for (const models::Edge& edge : network.connections[layer].edges) {
      const int from = modules[layer][edge.from];
      const int to = modules[layer + 1][edge.to];
      if (from >= 0 && to >= 0 && from != to &&
          (hierarchy.modules[from].last_layer != layer || hierarchy.modules[to].first_layer != layer + 1)) {
        crossing.push_back({layer, edge, from, to});
      }
    }
  }
  return crossing;
}

std::vector<double> inside_shares(const Hierarchy& hierarchy) {
  std::vector<int> touching = hierarchy.inside_edges;
  for (const ModuleEdge& edge : hierarchy.edges) {
    touching[edge.from] += edge.edges;
    touching[edge.to] += edge.edges;
  }
  std::vector<double> shares;
  for (std::size_t module = 0; module < touching.size(); ++module) {
    shares.push_back(touching[module] == 0 ? 1
                                           : static_cast<double>(hierarchy.inside_edges[module]) / touching[module]);
  }
  return shares;
}

}  // namespace modlab::methods
