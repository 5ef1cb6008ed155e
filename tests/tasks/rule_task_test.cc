#include "tasks/rule_task.h"

#include <gtest/gtest.h>

namespace modlab::tasks {
namespace {

void expect_first(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_GE(values.size(), expected.size());
  for (std::size_t place = 0; place < expected.size(); ++place) {
    EXPECT_NEAR(values[place], expected[place], 6e-7) << place;
  }
}

TEST(RuleTask, PublishedNumbersOfTwoAndFourRules) {
  struct Published {
    int rules;
    std::uint32_t seed;
    std::vector<double> alpha, beta;
  };
  const Published published[] = {
      {2, 0, {1.764052, 0.400157}, {0.978738, 2.240893}},
      {2, 1, {1.624345, -0.611756}, {-0.528172, -1.072969}},
      {2, 2, {-0.416758, -0.056267}, {-2.136196, 1.640271}},
      {2, 3, {1.788628, 0.436510}, {0.096497, -1.863493}},
      {2, 4, {0.050562, 0.499951}, {-0.995909, 0.693599}},
      {4, 0, {1.764052, 0.400157, 0.978738, 2.240893}, {1.867558, -0.977278, 0.950088, -0.151357}},
      {4, 1, {1.624345, -0.611756, -0.528172, -1.072969}, {0.865408, -2.301539, 1.744812, -0.761207}},
  };
  for (const Published& one : published) {
    for (const RuleFamily family : {RuleFamily::kMlp, RuleFamily::kMha}) {
      const RuleTask task = draw_rules({.family = family, .rules = one.rules, .task_seed = one.seed});
      ASSERT_EQ(task.alpha.size(), static_cast<std::size_t>(one.rules));
      ASSERT_EQ(task.beta.size(), static_cast<std::size_t>(one.rules));
      expect_first(task.alpha, one.alpha);
      expect_first(task.beta, one.beta);
    }
  }
}

TEST(RuleTask, PublishedMatricesOfASwitchingSystem) {
  const RuleTask task = draw_rules({.family = RuleFamily::kRnn, .output = RuleOutput::kClassification});
  EXPECT_EQ(task.transition.size(), 2U * 32 * 32);
  EXPECT_EQ(task.drive.size(), 2U * 32 * 32);
  EXPECT_EQ(task.readout.size(), 32U);
  expect_first(task.transition, {0.311843, 0.070738, 0.173018});
  expect_first(task.drive, {-0.299836, 0.129079});
  expect_first(task.readout, {1.629475, -0.099045});
  const RuleTask regression = draw_rules({.family = RuleFamily::kRnn});
  EXPECT_EQ(regression.transition, task.transition);
  EXPECT_TRUE(regression.readout.empty());
}

// Spread of what always saying 0 misses, by rules and task seed.
TEST(RuleTask, LossOfAlwaysSayingZero) {
  constexpr double kPublished[5][5] = {{1.713, 1.174, 1.523, 1.478, 0.739},
                                       {1.443, 1.468, 1.384, 0.891, 0.835},
                                       {1.039, 1.284, 1.235, 0.930, 0.767},
                                       {1.104, 1.012, 1.069, 1.013, 1.011},
                                       {1.079, 0.907, 0.953, 1.132, 0.974}};
  for (int row = 0; row < 5; ++row) {
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const RuleTask task = draw_rules({.family = RuleFamily::kMha, .rules = 2 << row, .task_seed = seed});
      EXPECT_NEAR(zero_loss(task).value(), kPublished[row][seed], 6e-4);
    }
  }
  EXPECT_FALSE(zero_loss(draw_rules({.family = RuleFamily::kRnn})));
}

TEST(RuleTask, Columns) {
  EXPECT_EQ(draw_rules({.rules = 8}).inputs(), 10);
  EXPECT_EQ(draw_rules({.family = RuleFamily::kMha, .rules = 8}).inputs(), 40);
  EXPECT_EQ(draw_rules({.family = RuleFamily::kMha, .rules = 8, .search = 2}).inputs(), 56);
  const RuleTask system = draw_rules({.family = RuleFamily::kRnn, .rules = 8, .dimension = 5, .order = 2});
  EXPECT_EQ(system.inputs(), 13);
  EXPECT_EQ(system.outputs(), 5);
  EXPECT_EQ(system.transition.size(), 8U * 2 * 25);
  EXPECT_EQ(draw_rules({.family = RuleFamily::kRnn, .output = RuleOutput::kClassification}).outputs(), 1);
}

}  // namespace
}  // namespace modlab::tasks
