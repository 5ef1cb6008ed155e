#include "methods/detect/agreement.h"

#include <gtest/gtest.h>

#include "methods/small_networks.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

using test::small_network;

using Labels = std::vector<int>;

void expect_agreement(const Agreement& found, bool exact, double adjusted_rand, double mutual_information) {
  EXPECT_EQ(found.exact, exact);
  EXPECT_NEAR(found.adjusted_rand, adjusted_rand, 1e-12);
  EXPECT_NEAR(found.mutual_information, mutual_information, 1e-12);
}

TEST(Agreement, EqualPartitionsUnderOtherNames) {
  expect_agreement(agreement(Labels{0, 0, 1, 1, 2}, Labels{7, 7, -3, -3, 0}), true, 1, 1);
}

TEST(Agreement, KnownValues) {
  // One group of two halved: 1 pair of both, 2 and 1 pairs, 6 in all; entropies ln 2 and 1.5 ln 2.
  expect_agreement(agreement(Labels{0, 0, 1, 1}, Labels{0, 0, 1, 2}), false, (1 - 2.0 / 6) / (1.5 - 2.0 / 6), 1 / 1.25);
  // No pair in common, which is less than chance, and nothing that one says of the other.
  expect_agreement(agreement(Labels{0, 0, 1, 1}, Labels{0, 1, 0, 1}), false, -0.5, 0);
  // Counted by hand: 4 + 3 + 1 pairs within, 7 and 7 of 15.
  const Agreement six = agreement(Labels{0, 0, 0, 0, 1, 1}, Labels{0, 0, 0, 1, 1, 1});
  EXPECT_NEAR(six.adjusted_rand, (4 - 7.0 * 6 / 15) / (6.5 - 7.0 * 6 / 15), 1e-12);
}

TEST(Agreement, IsTheSameBothWays) {
  const Labels first = {0, 0, 1, 1, 1, 2, 2, 3};
  const Labels second = {0, 1, 1, 1, 0, 2, 2, 2};
  const Agreement there = agreement(first, second);
  const Agreement back = agreement(second, first);
  EXPECT_NEAR(there.adjusted_rand, back.adjusted_rand, 1e-12);
  EXPECT_NEAR(there.mutual_information, back.mutual_information, 1e-12);
}

TEST(Agreement, ExtremePartitionsHaveValuesToo) {
  const Labels one_group = {4, 4, 4};
  const Labels all_apart = {0, 1, 2};
  expect_agreement(agreement(one_group, one_group), true, 1, 1);
  expect_agreement(agreement(all_apart, all_apart), true, 1, 1);
  expect_agreement(agreement(one_group, all_apart), false, 0, 0);
  expect_agreement(agreement(one_group, Labels{0, 0, 1}), false, 0, 0);
  // All apart says everything about the other, but half of what it says is its own.
  EXPECT_EQ(agreement(all_apart, Labels{0, 0, 1}).adjusted_rand, 0);
  expect_agreement(agreement(Labels{5}, Labels{6}), true, 1, 1);
  expect_agreement(agreement(Labels{}, Labels{}), true, 1, 1);
}

const tasks::Task& separable() {
  static const tasks::TaskSuite kSuite = tasks::load_task("sculpt/4-2-4");
  return kSuite.tasks.front();
}

TEST(Agreement, WithTheTrueModules) {
  const models::LayeredNetwork right = small_network({4, 2, 4}, {"0>0 1>0 2>1 3>1", "0>0 0>1 1>2 1>3"});
  const auto found = truth_agreement(detect(right, {}), separable());
  ASSERT_TRUE(found);
  expect_agreement(found->inputs, true, 1, 1);
  expect_agreement(found->outputs, true, 1, 1);
  expect_agreement(found->all, true, 1, 1);
}

TEST(Agreement, TheRightGroupsInTheWrongModules) {
  // Inputs 0 and 1 feed the outputs of the other two.
  const models::LayeredNetwork crossed = small_network({4, 2, 4}, {"0>0 1>0 2>1 3>1", "0>2 0>3 1>0 1>1"});
  const auto found = truth_agreement(detect(crossed, {}), separable());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->inputs.exact);
  EXPECT_TRUE(found->outputs.exact);
  EXPECT_FALSE(found->all.exact);
  EXPECT_LT(found->all.adjusted_rand, 0.3);
}

TEST(Agreement, ADeadInputIsOnItsOwn) {
  const models::LayeredNetwork network = small_network({4, 2, 4}, {"0>0 2>1 3>1", "0>0 0>1 1>2 1>3"});
  const auto found = truth_agreement(detect(network, {}), separable());
  ASSERT_TRUE(found);
  expect_agreement(found->inputs, false, agreement(Labels{0, 1, 2, 2}, Labels{0, 0, 1, 1}).adjusted_rand, 0.8);
  EXPECT_TRUE(found->outputs.exact);
}

TEST(Agreement, TasksThatNameNoModules) {
  const tasks::TaskSuite suite = tasks::load_task("depth1");
  ASSERT_TRUE(suite.tasks.front().modules.empty());
  EXPECT_FALSE(truth_agreement(detect(small_network({4, 2}, {"0>0 1>1"}), {}), suite.tasks.front()));
}

TEST(Agreement, NamesOfTrueModules) {
  const models::LayeredNetwork right = small_network({4, 2, 4}, {"0>0 1>0 2>1 3>1", "0>0 0>1 1>2 1>3"});
  EXPECT_EQ(same_as_truth(hierarchy(right, detect(right, {})), separable()), (Labels{0, 1}));
  const models::LayeredNetwork wrong = small_network({4, 2, 4}, {"0>0 2>0 1>1 3>1", "0>0 0>1 1>2 1>3"});
  EXPECT_EQ(same_as_truth(hierarchy(wrong, detect(wrong, {})), separable()), (Labels{-1, -1}));
}

}  // namespace
}  // namespace modlab::methods
