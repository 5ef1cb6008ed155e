#pragma once

#include <vector>

#include "methods/detect/detect.h"

namespace modlab::methods {

// A live edge that is no step of the hierarchy, which leads from a module's last layer to another's first: the module
// that it leaves goes on beside it, or the one that it enters was there before.
struct CrossEdge {
  int layer = 0;  // of the unit that it comes from
  models::Edge edge;
  int from = 0;  // modules, as indices into the hierarchy
  int to = 0;
};

// By layer, then as the network has them.
std::vector<CrossEdge> cross_edges(const models::LayeredNetwork& network, const Hierarchy& hierarchy);

// [layer][unit]: the module of the hierarchy that it is in, or -1.
std::vector<std::vector<int>> modules_by_unit(const models::LayeredNetwork& network, const Hierarchy& hierarchy);

// [module]: of the live edges that begin or end in it, the share that does both; 1 if it has none.
std::vector<double> inside_shares(const Hierarchy& hierarchy);

}  // namespace modlab::methods
