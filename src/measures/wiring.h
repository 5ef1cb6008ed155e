#pragma once

#include <vector>

#include "tasks/function_graph.h"
#include "tasks/routing.h"

namespace modlab::measures {

// A network or a function graph as the edit distance sees it: nodes by level, and edges as sets.
struct Wiring {
  struct Node {
    std::vector<int> reads;    // nodes of the level below, or inputs; ascending, each once
    std::vector<int> outputs;  // outputs that read the node; ascending
    int needs = 0;             // values that it reads, those from further below included
  };
  struct Wire {
    tasks::Wire from;
    tasks::Wire to;  // at level 0 an output
  };

  int inputs = 0;
  int outputs = 0;
  std::vector<std::vector<Node>> levels;
  std::vector<Wire> skipping;  // edges that skip a level, which no network has; each once

  int edge_count() const;
};

// Throws ConfigError if the routing reads something that is not there.
Wiring wiring_of(const tasks::Routing& routing, int inputs);
Wiring wiring_of(const tasks::FunctionGraph& graph);

// [level][node]: whether some output depends on it.
std::vector<std::vector<bool>> nodes_in_use(const Wiring& wiring);
// The wiring without its other nodes. What is kept must read only what is kept.
Wiring part_of(const Wiring& wiring, const std::vector<std::vector<bool>>& kept);

}  // namespace modlab::measures
