#include "measures/pool_use.h"

#include <gtest/gtest.h>

#include "measures/hand_made.h"
#include "measures/network_measures.h"

namespace modlab::measures {
namespace {

using test::hand_made;
using test::HandMade;

std::optional<PoolUse> use_of(const HandMade& network) {
  const std::optional<ModularView> view = view_modular(network.blueprint, network.parameters);
  std::vector<InSitu> in_situ;
  for (int task = 0; view && task < static_cast<int>(network.suite.tasks.size()); ++task) {
    if (std::optional<InSitu> found = in_situ_correlation(*view, network.suite, task)) {
      in_situ.push_back(*std::move(found));
    }
  }
  return view ? pool_use(*view, network.suite, in_situ) : std::nullopt;
}

// The network with other members in its slots, through all levels.
PoolUse use_with(const HandMade& network, const std::vector<std::vector<int>>& members) {
  std::optional<ModularView> view = view_modular(network.blueprint, network.parameters);
  view->routings.front().modules = members;
  return *pool_use(*view, network.suite, {*in_situ_correlation(*view, network.suite, 0)});
}

HandMade perfect(const char* task) {
  HandMade network = hand_made(task, {{"model", "modular-shared-fcms"}});
  network.set_xor(0);
  network.set_and(1);
  return network;
}

TEST(PoolUse, OneMemberForEachOperationIsPerfect) {
  const PoolUse found = *use_of(perfect("depth2"));
  EXPECT_EQ(found.operations, (std::vector<std::string>{"XOR", "AND"}));
  ASSERT_EQ(found.gates.size(), 5U);
  for (const PoolUse::Served& served : found.gates) {
    EXPECT_EQ(served.operation, served.level) << "level 1 is XOR, level 2 AND";
    EXPECT_EQ(served.member, served.operation);
  }
  const UseMeasures measured = measure_use(found.use);
  for (const UseMeasure& measure : use_measures()) {
    EXPECT_NEAR(measured.*measure.value, 0, 1e-6) << measure.name;
  }
  EXPECT_EQ(measured.dead_modules, 0);
}

TEST(PoolUse, WhichMemberPlaysNoRole) {
  const UseMeasures swapped = measure_use(use_with(perfect("depth2"), {{1, 1, 1}, {0, 0}}).use);
  EXPECT_NEAR(swapped.collapse_avg, 0, 1e-12);
  EXPECT_NEAR(swapped.alignment, 0, 1e-12);
}

TEST(PoolUse, OneMemberForAllIsCollapse) {
  const UseMeasures collapsed = measure_use(use_with(perfect("depth2"), {{1, 1, 1}, {1, 1}}).use);
  EXPECT_NEAR(collapsed.collapse_avg, 1, 1e-12);
  EXPECT_NEAR(collapsed.alignment, 0.5, 1e-12);
  EXPECT_EQ(collapsed.dead_modules, 1);
}

// An operation counts as much as another, however many gates have it.
TEST(PoolUse, OperationsCountEqually) {
  const PoolUse mixed = use_with(perfect("depth2"), {{0, 0, 1}, {1, 1}});
  EXPECT_NEAR(mixed.use.at(0, 0), 2.0 / 3, 1e-12);
  EXPECT_NEAR(mixed.use.at(0, 1), 1.0 / 3, 1e-12);
  EXPECT_NEAR(mixed.use.at(1, 1), 1, 1e-12);
  EXPECT_NEAR(measure_use(mixed.use).alignment, 1.0 / 6, 1e-12);
}

TEST(PoolUse, MembersBeyondTheOperationsLieIdle) {
  const PoolUse found = *use_of(hand_made("depth2", {{"model", "modular-shared"}, {"pool", "5"}}));
  EXPECT_EQ(found.use.rules(), 2);
  EXPECT_EQ(found.use.modules(), 5);
}

TEST(PoolUse, TasksOfASuiteShareThePool) {
  const PoolUse found = *use_of(hand_made("A+B", {{"model", "modular-shared-fcms"}}));
  EXPECT_EQ(found.operations, (std::vector<std::string>{"XOR", "OR", "AND"}));
  EXPECT_EQ(found.gates.size(), 10U);
  EXPECT_NEAR(measure_use(found.use).alignment, 0, 1e-12);
}

TEST(PoolUse, NothingWithoutAPoolOrAGraph) {
  EXPECT_FALSE(use_of(hand_made("depth2", {{"model", "modular"}})));
  EXPECT_FALSE(use_of(hand_made("depth2", {{"model", "dense"}})));
  EXPECT_FALSE(use_of(hand_made("random62", {{"model", "modular-shared"}, {"slots", "3,2"}, {"pool", "2"}})));
}

TEST(PoolUse, IsAMeasureOfTheNetwork) {
  const HandMade network = perfect("depth2");
  const NetworkMeasures found = measure_network(network.blueprint, network.suite, network.parameters);
  ASSERT_TRUE(found.pool);
  EXPECT_NEAR(found.pool->collapse_avg, 0, 1e-12);
  const HandMade own = hand_made("depth2", {{"model", "modular"}});
  EXPECT_FALSE(measure_network(own.blueprint, own.suite, own.parameters).pool);
}

}  // namespace
}  // namespace modlab::measures
