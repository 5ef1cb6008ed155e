#include "methods/detect/live_part.h"

namespace modlab::methods {
namespace {

constexpr int kDead = -1;

std::vector<int> new_numbers(const std::vector<int>& live, int width) {
  std::vector<int> numbers(width, kDead);
  for (std::size_t place = 0; place < live.size(); ++place) {
    numbers[live[place]] = static_cast<int>(place);
  }
  return numbers;
}

}  // namespace

models::LayeredNetwork live_part(const models::LayeredNetwork& network, const std::vector<std::vector<int>>& live) {
  models::LayeredNetwork part;
  for (const std::vector<int>& units : live) {
    part.widths.push_back(static_cast<int>(units.size()));
  }
  std::vector<int> below = new_numbers(live[0], network.widths[0]);
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    std::vector<int> above = new_numbers(live[layer + 1], network.widths[layer + 1]);
    models::Connections& connections = part.connections.emplace_back();
    for (const models::Edge& edge : network.connections[layer].edges) {
      if (below[edge.from] != kDead && above[edge.to] != kDead) {
        connections.edges.push_back({below[edge.from], above[edge.to], edge.weight});
      }
    }
    below = std::move(above);
  }
  return part;
}

}  // namespace modlab::methods
