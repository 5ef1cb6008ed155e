#pragma once

#include <vector>

#include "models/layered_network.h"
#include "tasks/function_graph.h"

namespace modlab::models {

// The wiring of a function graph as a network: gates are units, levels are layers, every wire is an edge of weight 1,
// negated or not. It shows structure, and does not compute the function.
struct IdealNetwork {
  LayeredNetwork network;
  // [layer][unit]: the input or gate whose value a unit has. A value that skips levels passes through a unit on each
  // level between, behind the gates there.
  std::vector<std::vector<tasks::Wire>> values;
};

// Where each gate of the last level is one output, that level is the layer of outputs, in their order; otherwise the
// outputs are a layer of their own on top.
IdealNetwork ideal_network(const tasks::FunctionGraph& graph);

}  // namespace modlab::models
