#pragma once

#include <vector>

namespace modlab::tasks {

// A drawing in layers from left to right. Edges join neighbouring layers; a wire that spans more passes through
// nodes that are drawn as a piece of line.
struct LayoutNode {
  int layer = 0;
  double width = 0;
  double height = 0;
  bool keeps_order = false;  // stays where it is among its layer's nodes
  double x = 0;              // centre
  double y = 0;
  int group = -1;    // nodes of a group stand together in each layer; -1 is no group
  double above = 0;  // room for the group's edge, where the neighbour is of another
  double below = 0;
  double beside = 0;
};

struct LayoutEdge {
  int from = 0;
  int to = 0;
  double begin_offset = 0;  // from the source's centre, downwards
  double end_offset = 0;    // from the target's centre, downwards
};

struct Layout {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
  std::vector<std::vector<int>> layers;  // [layer]: nodes from top to bottom
  double width = 0;
  double height = 0;
};

// Orders each layer for few crossings and sets the coordinates and the size of the whole. Layers are taken as they are
// given where no other order has fewer crossings. Nodes of a group must be given side by side.
void arrange(Layout& layout);

// Crossings into nodes that keep their order count several times, and groups that cross between two layers most.
int count_crossings(const Layout& layout);

}  // namespace modlab::tasks
