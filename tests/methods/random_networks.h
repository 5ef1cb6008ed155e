#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "models/layered_network.h"

namespace modlab::test {

// Each pair of neighbouring units is wired with the given chance, with a weight between -1 and 1.
inline models::LayeredNetwork random_network(const std::vector<int>& widths, double chance, std::uint64_t seed) {
  RandomSequence random(seed, Stream::kMask);
  models::LayeredNetwork network;
  network.widths = widths;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    models::Connections& connections = network.connections.emplace_back();
    for (int to = 0; to < widths[layer + 1]; ++to) {
      for (int from = 0; from < widths[layer]; ++from) {
        if (random.next_uniform() < chance) {
          connections.edges.push_back({from, to, static_cast<float>(2 * random.next_uniform() - 1)});
        }
      }
    }
  }
  return models::checked(network, "random network");
}

}  // namespace modlab::test
