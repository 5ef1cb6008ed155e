#include "measures/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"

namespace modlab::measures {
namespace {

using Numbers = std::vector<double>;
constexpr double kEndless = std::numeric_limits<double>::infinity();

// The interval ends where p passes the tail.
void expect_consistent(const Estimate& estimate) {
  const double step = 1e-6 * (1 + std::abs(estimate.mean));
  EXPECT_LE(estimate.p_at_most(estimate.low - step), kTail);
  EXPECT_GT(estimate.p_at_most(estimate.low + step), kTail);
  EXPECT_LE(estimate.p_at_least(estimate.high + step), kTail);
  EXPECT_GT(estimate.p_at_least(estimate.high - step), kTail);
}

TEST(MeanOfDraws, FewByStudentsT) {
  // Mean 3, deviation sqrt(2.5), error 0.7071; t of four degrees of freedom is 2.1318.
  const Estimate found = mean_of_draws(Numbers{1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_NEAR(found.low, 3 - 2.131847 * std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(found.high, 3 + 2.131847 * std::sqrt(0.5), 1e-5);
  EXPECT_EQ(found.units, 5);
  EXPECT_FALSE(found.equal);
  EXPECT_NEAR(found.p_at_most(3), 0.5, 1e-12);
  expect_consistent(found);
  const Estimate wider = mean_of_draws(Numbers{1, 2, 3, 4, 5}, kTail / 10);
  EXPECT_NEAR(wider.low, 3 - 4.604095 * std::sqrt(0.5), 1e-5);
}

TEST(MeanOfDraws, ManyByABootstrapOfT) {
  Numbers normal;
  for (int at = 0; at < 40; ++at) {
    normal.push_back(std::sin(7.0 * at));
  }
  const Estimate symmetric = mean_of_draws(normal);
  expect_consistent(symmetric);
  EXPECT_NEAR(symmetric.high - symmetric.mean, symmetric.mean - symmetric.low, 0.03);
  // Skewed to the right: the mean may well lie further above than below.
  Numbers skewed;
  for (int at = 0; at < 40; ++at) {
    skewed.push_back(-std::log((at + 0.5) / 40));
  }
  const Estimate found = mean_of_draws(skewed);
  expect_consistent(found);
  EXPECT_GT(found.high - found.mean, 1.15 * (found.mean - found.low));
  const Estimate again = mean_of_draws(skewed);
  EXPECT_EQ(found.low, again.low);
  EXPECT_EQ(found.p_at_most(0.7), again.p_at_most(0.7));
}

TEST(MeanOfDraws, MostlyEqualHasFiniteEnds) {
  Numbers values(12, 0.0);
  values[3] = 1;
  const Estimate found = mean_of_draws(values);
  EXPECT_TRUE(std::isfinite(found.low));
  EXPECT_TRUE(std::isfinite(found.high));
  EXPECT_LT(found.low, found.mean);
}

TEST(MeanOfDraws, EqualDrawsSayWhatHalfOfTheOthersAre) {
  const Estimate nine = mean_of_draws(Numbers(9, 0.1));
  EXPECT_TRUE(nine.equal);
  EXPECT_EQ(nine.low, 0.1);
  EXPECT_EQ(nine.high, 0.1);
  EXPECT_EQ(nine.p_at_most(0), 1.0 / 512);
  EXPECT_EQ(nine.p_at_most(0.1), 1);
  EXPECT_EQ(nine.p_at_least(0.2), 1.0 / 512);
  EXPECT_EQ(nine.p_at_least(0), 1);
  const Estimate four = mean_of_draws(Numbers(4, 7.0));
  EXPECT_EQ(four.low, -kEndless) << "1/16 is more than the tail";
  EXPECT_EQ(four.high, kEndless);
  EXPECT_TRUE(mean_of_draws(Numbers{0.1 + 0.2, 0.3, 0.3, 0.3, 0.3}).equal) << "but for the last bit";
  EXPECT_NEAR(others_share(9), 0.283, 0.001);
}

TEST(MeanOfDraws, OneOrNone) {
  const Estimate one = mean_of_draws(Numbers{5});
  EXPECT_EQ(one.mean, 5);
  EXPECT_EQ(one.low, -kEndless);
  EXPECT_EQ(one.p_at_most(0), 0.5);
  const Estimate none = mean_of_draws(Numbers{});
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_EQ(none.units, 0);
}

TEST(MeanOfStrata, ByHand) {
  // Variances of 1 and 3 of means of 4 and 4 draws: the mean of two has an error of 1, and 16 / (1/3 + 9/3) = 4.8
  // degrees of freedom.
  const Estimate found = mean_of_strata(std::vector<Stratum>{{10, 1, 4}, {20, 3, 4}});
  EXPECT_DOUBLE_EQ(found.mean, 15);
  EXPECT_EQ(found.units, 8);
  EXPECT_NEAR(found.high - 15, 2.0337, 0.001);
  expect_consistent(found);
  const Estimate single = mean_of_strata(std::vector<Stratum>{{10, 1, 4}, {20, 0, 1}});
  EXPECT_EQ(single.mean, 15);
  EXPECT_EQ(single.low, -kEndless) << "a single draw has no spread";
  const Estimate equal = mean_of_strata(std::vector<Stratum>{{10, 0, 3}, {20, 0, 3}, {30, 0, 3}});
  EXPECT_TRUE(equal.equal);
  EXPECT_EQ(equal.p_at_most(0), 1.0 / 128) << "six draws that agree with the first of their group";
}

TEST(ChanceOf, ClopperAndPearson) {
  const Estimate all = chance_of(12, 12, 100);
  EXPECT_EQ(all.mean, 100);
  EXPECT_NEAR(all.low, 100 * std::pow(0.05, 1.0 / 12), 1e-9);
  EXPECT_EQ(all.high, 100);
  EXPECT_NEAR(all.p_at_most(90), std::pow(0.9, 12), 1e-12);
  EXPECT_EQ(all.p_at_most(100), 1);
  const Estimate none = chance_of(0, 20, 1);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.05, 1.0 / 20), 1e-12);
  // Of printed tables, 90 %: 3 of 10.
  const Estimate three = chance_of(3, 10, 1);
  EXPECT_NEAR(three.low, 0.0873, 1e-4);
  EXPECT_NEAR(three.high, 0.6066, 1e-4);
  expect_consistent(three);
}

TEST(SmallestMean, BeatsAllToBeAboveAndOneToBeBelow) {
  const std::vector<Numbers> draws = {{1, 2, 3, 4, 5}, {11, 12, 13, 14, 15}};
  const auto smallest = [&](std::size_t count) {
    return smallest_mean(count, [&](std::size_t which, double tail) { return mean_of_draws(draws[which], tail); });
  };
  const Estimate one = smallest(1);
  const Estimate two = smallest(2);
  EXPECT_EQ(two.mean, 3);
  EXPECT_EQ(two.low, one.low);
  EXPECT_GT(two.high, one.high) << "Bonferroni";
  EXPECT_DOUBLE_EQ(two.p_at_most(0), one.p_at_most(0));
  EXPECT_DOUBLE_EQ(two.p_at_least(6), 2 * one.p_at_least(6));
  const Estimate turned = negated(two);
  EXPECT_EQ(turned.mean, -3);
  EXPECT_EQ(turned.low, -two.high);
  EXPECT_EQ(turned.p_at_least(0), two.p_at_most(0));
}

// Of numbers from skewed and symmetric distributions with mean zero: how often an interval misses it on either side.
TEST(MeanOfDraws, ErrsAsOftenAsItSays) {
  RandomSequence random(1, Stream::kBootstrap);
  const auto uniform = [&] { return (random.next_word() + 0.5) / 4294967296.0; };
  constexpr int kTrials = 400;
  for (const int units : {3, 5, 9, 30}) {
    int above = 0;
    int below = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Numbers values;
      for (int unit = 0; unit < units; ++unit) {
        double sum = -6;
        for (int term = 0; term < 12; ++term) {
          sum += uniform();
        }
        values.push_back(sum);
      }
      const Estimate estimate = mean_of_draws(values);
      above += estimate.low > 0 ? 1 : 0;
      below += estimate.high < 0 ? 1 : 0;
    }
    // 20, and three standard deviations.
    EXPECT_LE(above, 33) << units;
    EXPECT_LE(below, 33) << units;
    EXPECT_GE(above + below, 20) << units;
  }
  int above = 0;
  int below = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Numbers values;
    for (int unit = 0; unit < 30; ++unit) {
      values.push_back(-std::log(uniform()) - 1);
    }
    const Estimate estimate = mean_of_draws(values);
    above += estimate.low > 0 ? 1 : 0;
    below += estimate.high < 0 ? 1 : 0;
  }
  EXPECT_LE(above, 36);
  EXPECT_LE(below, 36) << "Student's t would miss about 37 here";
}

}  // namespace
}  // namespace modlab::measures
