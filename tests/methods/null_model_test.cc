#include "methods/detect/null_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.h"
#include "methods/small_networks.h"

namespace modlab::methods {
namespace {

using models::LayeredNetwork;
using test::full_network;
using test::small_network;

// Two groups of two units on each of three layers, each wired to all of its own.
const LayeredNetwork kTwoGroups =
    small_network({4, 4, 4}, {"0>0 0>1 1>0 1>1 2>2 2>3 3>2 3>3", "0>0 0>1 1>0 1>1 2>2 2>3 3>2 3>3"});

TEST(NullModel, WhatStaysInsideBeyondChance) {
  // All edges stay inside, where half would by chance.
  EXPECT_NEAR(inside_excess(kTwoGroups, detect(kTwoGroups, {})), 0.5, 1e-12);
  EXPECT_NEAR(inside_excess(full_network({4, 3, 4}), detect(full_network({4, 3, 4}), {})), 0, 1e-12);
  // Three pairs of inputs with a unit each, where a third of six edges is chance; the other six leave their modules.
  const LayeredNetwork both = small_network({6, 3, 3}, {"0>2 1>2 2>0 3>0 4>1 5>1", "0>0 0>2 1>1 1>2 2>0 2>1"});
  EXPECT_NEAR(inside_excess(both, detect(both, {})), 4.0 / 12, 1e-12);
}

// Of the 90 ways to give four units two edges to four others, 18 make two groups, and of those 6 make the same groups
// of the units below as another layer does: 18/90 * 6/90 of all networks are like this one.
TEST(NullModel, AllWiringsAreEquallyLikely) {
  const NullModel model = null_model(kTwoGroups, {}, {5000, 0});
  const double expected = 5000 * 18.0 / 90 * 6.0 / 90;
  EXPECT_NEAR(model.rewired.at_least, expected, 4 * std::sqrt(expected));
  EXPECT_EQ(model.rewired.p, (model.rewired.at_least + 1.0) / 5001);
  EXPECT_LT(model.rewired.mean, model.statistic);
  EXPECT_GT(model.rewired.deviation, 0);
  EXPECT_GT(model.rewired.different, 4900);
}

TEST(NullModel, WhatCannotBeOtherwiseIsNoEvidence) {
  for (const LayeredNetwork& network : {full_network({4, 3, 4}), small_network({3, 1, 1}, {"0>0 1>0", "0>0"})}) {
    const NullModel model = null_model(network, {}, {50, 0});
    EXPECT_EQ(model.rewired.different, 0);
    EXPECT_EQ(model.rewired.p, 1);
    EXPECT_EQ(model.rewired.mean, model.statistic);
    EXPECT_EQ(model.rewired.deviation, 0);
  }
}

TEST(NullModel, LargerGroupsAreBeyondChance) {
  std::string edges;
  for (int from = 0; from < 24; ++from) {
    for (int step = 0; step < 4; ++step) {
      edges += std::to_string(from) + ">" + std::to_string(from / 8 * 8 + (3 * from + step) % 8) + " ";
    }
  }
  const NullModel model = null_model(small_network({24, 24, 24}, {edges, edges}), {}, {});
  EXPECT_EQ(model.rewired.draws, 200);
  EXPECT_EQ(model.rewired.at_least, 0);
  EXPECT_EQ(model.rewired.p, 1.0 / 201);
}

TEST(NullModel, SeedsRepeat) {
  const NullModel first = null_model(kTwoGroups, {}, {100, 7});
  EXPECT_EQ(null_model(kTwoGroups, {}, {100, 7}).rewired.mean, first.rewired.mean);
  EXPECT_NE(null_model(kTwoGroups, {}, {100, 8}).rewired.mean, first.rewired.mean);
}

TEST(NullModel, DeadUnitsPlayNoPart) {
  LayeredNetwork larger = kTwoGroups;
  ++larger.widths[1];
  larger.connections[0].edges.push_back({0, 4, 1});
  larger.connections[0].bias.clear();
  larger = models::checked(larger, "larger");
  EXPECT_EQ(null_model(larger, {}, {100, 0}).rewired.mean, null_model(kTwoGroups, {}, {100, 0}).rewired.mean);
}

// Hidden units reach all outputs alike; their weights alone tell that they go on in the three groups of the inputs.
LayeredNetwork groups_by_weight() {
  LayeredNetwork network = full_network({6, 6, 3});
  std::erase_if(network.connections[0].edges, [](const models::Edge& edge) { return edge.from / 2 != edge.to / 2; });
  for (models::Edge& edge : network.connections[1].edges) {
    edge.weight = edge.from / 2 == edge.to ? 9.0F : 0.1F;
  }
  return network;
}

TEST(NullModel, ShuffledWeightsMatterWhereFeaturesUseThem) {
  EXPECT_FALSE(null_model(groups_by_weight(), {}, {20, 0}).reweighted);
  DetectSettings settings;
  settings.weighted = true;
  const NullModel model = null_model(groups_by_weight(), settings, {200, 0});
  ASSERT_TRUE(model.reweighted);
  EXPECT_LT(model.reweighted->p, 0.05);
  EXPECT_LT(model.reweighted->mean, model.statistic - 0.05);
  // Equal weights cannot change places.
  const NullModel equal = null_model(kTwoGroups, settings, {20, 0});
  EXPECT_EQ(equal.reweighted->different, 0);
  EXPECT_EQ(equal.reweighted->p, 1);
}

TEST(NullModel, NeedsADraw) { EXPECT_THROW(null_model(kTwoGroups, {}, {0, 0}), ConfigError); }

}  // namespace
}  // namespace modlab::methods
