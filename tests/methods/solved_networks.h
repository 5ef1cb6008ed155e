#pragma once

#include <string>

#include "methods/small_networks.h"
#include "tasks/task_file.h"

namespace modlab::test {

inline tasks::Task builtin_task(const std::string& name) { return tasks::load_task(name).tasks.front(); }

// Solves sculpt/6-3-3-3: hidden units are the ANDs of the three pairs of inputs, outputs the ORs of two of them each.
inline models::LayeredNetwork and_or_network() {
  models::LayeredNetwork network = small_network({6, 3, 3}, {"0>0 1>0 2>1 3>1 4>2 5>2", "0>0 1>0 0>1 2>1 1>2 2>2"});
  network.connections[0].bias.assign(3, -1);
  network.connections[1].bias.assign(3, -0.5F);
  return network;
}

// Solves sculpt/4-2-4: for each pair of inputs two hidden units that are active where one is larger than the other, and
// the outputs XOR and XNOR.
inline models::LayeredNetwork xor_network() {
  models::LayeredNetwork network =
      small_network({4, 4, 4}, {"0>0 1>0 0>1 1>1 2>2 3>2 2>3 3>3", "0>0 1>0 0>1 1>1 2>2 3>2 2>3 3>3"});
  for (models::Edge& edge : network.connections[0].edges) {
    edge.weight = edge.from % 2 == edge.to % 2 ? 1.0F : -1.0F;
  }
  for (models::Edge& edge : network.connections[1].edges) {
    edge.weight = edge.to % 2 == 0 ? 1.0F : -1.0F;
  }
  network.connections[1].bias = {-0.5F, 0.5F, -0.5F, 0.5F};
  return network;
}

}  // namespace modlab::test
