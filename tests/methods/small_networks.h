#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "models/layered_network.h"

namespace modlab::test {

// A network from its widths and, for each layer, edges as text: "0>1 0>2 1>1".
inline models::LayeredNetwork small_network(const std::vector<int>& widths, const std::vector<std::string>& layers) {
  models::LayeredNetwork network;
  network.widths = widths;
  for (const std::string& layer : layers) {
    models::Connections& connections = network.connections.emplace_back();
    std::istringstream text(layer);
    models::Edge edge;
    for (char arrow = 0; text >> edge.from >> arrow >> edge.to;) {
      connections.edges.push_back(edge);
    }
  }
  return models::checked(network, "small network");
}

// Every unit with every unit of the next layer.
inline models::LayeredNetwork full_network(const std::vector<int>& widths) {
  models::LayeredNetwork network;
  network.widths = widths;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    models::Connections& connections = network.connections.emplace_back();
    for (int to = 0; to < widths[layer + 1]; ++to) {
      for (int from = 0; from < widths[layer]; ++from) {
        connections.edges.push_back({from, to, 1});
      }
    }
  }
  return models::checked(network, "full network");
}

// The worked examples of the spec, section 5.10, in its order.
inline const models::LayeredNetwork kSeparable =
    small_network({4, 4, 4}, {"0>1 0>2 1>1 1>2 2>0 2>3 3>0 3>3", "0>2 0>3 1>0 1>1 2>0 2>1 3>2 3>3"});
inline const models::LayeredNetwork kBoth =
    small_network({6, 3, 3}, {"0>2 1>2 2>0 3>0 4>1 5>1", "0>0 0>2 1>1 1>2 2>0 2>1"});
inline const models::LayeredNetwork kNone = full_network({4, 2, 1, 4});
inline const models::LayeredNetwork kReused =
    small_network({4, 3, 2, 2, 16}, {"0>0 1>0 1>1 1>2 2>0 2>2 3>0", "0>0 0>1 1>1 2>0", "0>0 0>1 1>1",
                                     "0>0 0>2 0>4 0>6 0>8 0>10 0>12 0>14 1>1 1>3 1>5 1>7 1>9 1>11 1>13 1>15"});
inline const models::LayeredNetwork kLevels =
    small_network({8, 5, 2, 2, 4}, {"0>0 0>1 1>0 1>3 2>0 2>3 3>0 3>1 4>2 4>4 5>2 5>4 6>2 6>4 7>2",
                                    "0>1 1>1 2>0 3>1 4>0", "0>0 0>1 1>0 1>1", "0>0 0>2 1>1 1>3"});
inline const models::LayeredNetwork kOverlapOne =
    small_network({7, 3, 3, 2}, {"0>2 1>2 2>2 3>0 3>1 3>2 4>0 4>1 5>0 5>1 6>1", "0>1 1>1 2>0 2>2", "0>0 1>1 2>0"});
inline const models::LayeredNetwork kOverlapThree =
    small_network({5, 3, 3, 2}, {"0>0 0>1 1>0 1>1 1>2 2>0 2>1 2>2 3>0 3>1 3>2 4>2", "0>1 0>2 1>1 2>0", "0>1 1>0 2>1"});

}  // namespace modlab::test
