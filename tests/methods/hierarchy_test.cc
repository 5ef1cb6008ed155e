#include <gtest/gtest.h>

#include "methods/detect/detect.h"
#include "methods/small_networks.h"

namespace modlab::methods {
namespace {

using models::LayeredNetwork;
using test::full_network;
using test::kBoth;
using test::kLevels;

using Layers = std::vector<std::vector<int>>;

TEST(Hierarchy, ModulesLevelsAndEdges) {
  const Hierarchy found = hierarchy(kLevels, detect(kLevels, {}));
  ASSERT_EQ(found.modules.size(), 5);
  const std::vector<int> levels = {0, 0, 1, 2, 2};
  for (std::size_t place = 0; place < found.modules.size(); ++place) {
    EXPECT_EQ(found.modules[place].level, levels[place]);
  }
  EXPECT_EQ(found.modules[0].units, (Layers{{0, 1, 2, 3}, {0, 1, 3}, {}, {}, {}}));
  EXPECT_EQ(found.modules[3].units, (Layers{{}, {}, {}, {0}, {0, 2}}));
  EXPECT_EQ(found.modules[3].first_layer, 3);
  EXPECT_EQ(found.modules[3].last_layer, 4);
  std::vector<std::vector<int>> edges;
  for (const ModuleEdge& edge : found.edges) {
    edges.push_back({edge.from, edge.to, edge.edges});
  }
  EXPECT_EQ(edges, (Layers{{0, 2, 3}, {1, 2, 2}, {2, 3, 2}, {2, 4, 2}}));
  EXPECT_EQ(found.inside_edges, (std::vector<int>{8, 7, 0, 2, 2}));
}

TEST(Hierarchy, IsOrderedByLayerThenSmallestUnitAndKeepsIds) {
  const Hierarchy found = hierarchy(kBoth, detect(kBoth, {}));
  std::vector<int> ids;
  for (const Module& module : found.modules) {
    ids.push_back(module.id);
  }
  EXPECT_EQ(ids, (std::vector<int>{2, 1, 0, 3, 4, 5}));
}

TEST(Hierarchy, ModulesThatFeedEachOtherShareALevel) {
  // Two columns of which each takes an edge from the other, and what reads both.
  const LayeredNetwork network = full_network({2, 2, 2, 1});
  Detection detection;
  detection.live = {{0, 1}, {0, 1}, {0, 1}, {0}};
  detection.modules = {{0, 1}, {0, 1}, {0, 1}, {2}};
  detection.module_count = 3;
  const Hierarchy found = hierarchy(network, detection);
  EXPECT_EQ(found.modules[0].level, 0);
  EXPECT_EQ(found.modules[1].level, 0);
  EXPECT_EQ(found.modules[2].level, 1);
  EXPECT_EQ(found.inside_edges, (std::vector<int>{2, 2, 0}));
}

}  // namespace
}  // namespace modlab::methods
