#include "methods/detect/stability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "methods/published_networks.h"
#include "methods/small_networks.h"

namespace modlab::methods {
namespace {

using test::small_network;

bool has(const Stability& stability, CloseCall call) {
  return std::ranges::find(stability.close, call, &CloseDecision::call) != stability.close.end();
}

bool is_same(const Stability& stability, Change change) {
  return std::ranges::all_of(stability.variations,
                             [&](const Variation& variation) { return variation.change != change || variation.same; });
}

TEST(Stability, WhatIsClearStaysUnderEveryChange) {
  const Stability stability = methods::stability(test::kSeparable, {});
  EXPECT_EQ(stability.variations.size(), 5 + 4 + 5);
  EXPECT_TRUE(stability.all_same());
  EXPECT_TRUE(stability.close.empty());
}

TEST(Stability, DeadUnitsAndOneUnitLayersAreNoTrouble) {
  const auto network = small_network({2, 3, 1, 3}, {"0>0 1>0 1>1", "0>0", "0>0 0>1"});
  EXPECT_TRUE(stability(network, {}).all_same());
  EXPECT_TRUE(stability(small_network({2, 1, 2}, {"0>0", ""}), {}).all_same());
}

TEST(Stability, SharesNearTheMergingThresholdAreListed) {
  // Input 0 feeds both outputs: output 1 has five of six edges from the others.
  const auto network = small_network({6, 4}, {"0>0 0>1 0>2 1>1 1>3 2>1 2>3 3>1 3>3 4>1 4>3 5>1 5>3"});
  const Stability found = stability(network, {});
  EXPECT_FALSE(is_same(found, Change::kMerging));
  EXPECT_TRUE(is_same(found, Change::kThreshold));
  DetectSettings settings;
  settings.merging = 0.85;
  const Stability near = stability(network, settings);
  const auto close = std::ranges::find(near.close, CloseCall::kNearMerging, &CloseDecision::call);
  ASSERT_NE(close, near.close.end());
  EXPECT_EQ(close->layer, 1);
  EXPECT_EQ(close->cluster, 1);
  EXPECT_NEAR(close->margin, 0.85 - 5.0 / 6, 1e-12);
}

TEST(Stability, AClusterBetweenTwoOthersIsListed) {
  // Input 1 is as near to 0 as to 2.
  const auto network = small_network({4, 4}, {"0>0 0>1 1>1 1>2 2>2 2>3 3>3"});
  EXPECT_TRUE(has(stability(network, {}), CloseCall::kTiedMerge));
  EXPECT_FALSE(has(stability(test::kLevels, {}), CloseCall::kTiedMerge));
}

// Inputs 0, 1 and 3 of this published network are 2's nearest neighbours alike, and much depends on whom it joins.
TEST(Stability, RenumberingFindsWhatHangsOnTheOrderOfUnits) {
  const auto networks = test::published_networks();
  const auto published =
      std::ranges::find(networks, "input_overlap_exp/5-3-2-4/5-48-4/seed2/pu30/pe2.5", &test::PublishedNetwork::id);
  ASSERT_NE(published, networks.end());
  StabilitySettings settings;
  settings.renumberings = 20;
  const auto same_at = [&](std::uint64_t seed) {
    settings.seed = seed;
    std::vector<bool> same;
    for (const Variation& variation : stability(published->network, {}, settings).variations) {
      if (variation.change == Change::kRenumbering) {
        same.push_back(variation.same);
      }
    }
    return same;
  };
  const std::vector<bool> same = same_at(0);
  ASSERT_EQ(same.size(), 20);
  EXPECT_GT(std::ranges::count(same, true), 0);
  EXPECT_GT(std::ranges::count(same, false), 0);
  EXPECT_EQ(same_at(0), same);
  EXPECT_NE(same_at(1), same);
}

// What the spec says of all 1499 networks: thresholds to 0.2 change none, 0.25 changes 2, 0.3 changes 70; merging at
// 0.85 changes 7 and at 0.8 changes 10; renumbering, three times, changes 12. Whatever renumbering changes is a listed
// tie.
TEST(Stability, FewPublishedNetworksHangOnAThresholdOrAnOrder) {
  std::map<std::pair<Change, double>, int> changed;
  int renumbered = 0;
  for (const auto& published : test::published_networks()) {
    const Stability found = stability(published.network, {});
    for (const Variation& variation : found.variations) {
      changed[{variation.change, variation.value}] +=
          variation.change != Change::kRenumbering && !variation.same ? 1 : 0;
    }
    if (!is_same(found, Change::kRenumbering)) {
      ++renumbered;
      EXPECT_TRUE(has(found, CloseCall::kTiedMerge)) << published.id();
    }
  }
  EXPECT_EQ((changed[{Change::kThreshold, 0.1}]), 0);
  EXPECT_EQ((changed[{Change::kThreshold, 0.15}]), 0);
  EXPECT_EQ((changed[{Change::kThreshold, 0.2}]), 0);
  EXPECT_EQ((changed[{Change::kThreshold, 0.25}]), 1);
  EXPECT_EQ((changed[{Change::kThreshold, 0.3}]), 15);
  EXPECT_EQ((changed[{Change::kMerging, 0.9}]), 0);
  EXPECT_EQ((changed[{Change::kMerging, 0.85}]), 1);
  EXPECT_EQ((changed[{Change::kMerging, 0.8}]), 2);
  EXPECT_GE(renumbered, 1);
  EXPECT_LE(renumbered, 12);
}

}  // namespace
}  // namespace modlab::methods
