#include "measures/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace modlab::measures {
namespace {

using Numbers = std::vector<double>;

TEST(Combine, BothErrorsByHand) {
  // Means 2, 6, 5; squared standard errors 1/3, 4/3, 0.
  const MeanWithErrors found = combine({{1, 2, 3}, {4, 6, 8}, {5, 5, 5}});
  EXPECT_DOUBLE_EQ(found.mean, 13.0 / 3);
  EXPECT_DOUBLE_EQ(found.error_within, std::sqrt(5.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(found.error_between, std::sqrt(13.0 / 3) / std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(4.5));
  EXPECT_EQ(found.count, 9);
}

TEST(Combine, SplitsCountTheSameWhateverTheirSeeds) {
  const MeanWithErrors found = combine({{0, 0, 0, 0}, {}, {1, 3}});
  EXPECT_DOUBLE_EQ(found.mean, 1);
  EXPECT_DOUBLE_EQ(found.error_within, 0.5);
  EXPECT_DOUBLE_EQ(found.error_between, 1);
  EXPECT_EQ(found.count, 6);
}

TEST(Combine, NotANumberWhereUndefined) {
  const MeanWithErrors one_seed = combine({{1}, {2}, {3}});
  EXPECT_EQ(one_seed.mean, 2);
  EXPECT_TRUE(std::isnan(one_seed.error_within));
  EXPECT_DOUBLE_EQ(one_seed.error_between, 1 / std::sqrt(3.0));
  const MeanWithErrors one_split = combine({{1, 2, 3}});
  EXPECT_DOUBLE_EQ(one_split.error_within, 1 / std::sqrt(3.0));
  EXPECT_TRUE(std::isnan(one_split.error_between));
  const MeanWithErrors nothing = combine({{}, {}});
  EXPECT_TRUE(std::isnan(nothing.mean));
  EXPECT_TRUE(std::isnan(nothing.error_within));
  EXPECT_TRUE(std::isnan(nothing.error_between));
  EXPECT_EQ(nothing.count, 0);
}

TEST(BootstrapMean, EqualDifferencesHaveNoSpread) {
  for (const double value : {5.0, 0.1, 1e-9}) {
    const Interval found = bootstrap_mean(Numbers(9, value));
    EXPECT_EQ(found.estimate, value);
    EXPECT_EQ(found.low, value);
    EXPECT_EQ(found.high, value);
    EXPECT_EQ(found.p, 1.0 / 10001);
  }
  const Interval zero = bootstrap_mean(Numbers(9, 0.0));
  EXPECT_EQ(zero.estimate, 0);
  EXPECT_EQ(zero.p, 1);
  EXPECT_EQ(bootstrap_mean(Numbers(9, -2.0)).p, 1);
}

TEST(BootstrapMean, TwoValuesByHand) {
  // The mean of two draws from {-1, 1} is -1, 0, 1 with chances 1/4, 1/2, 1/4.
  const Interval found = bootstrap_mean(Numbers{-1, 1});
  EXPECT_EQ(found.estimate, 0);
  EXPECT_EQ(found.low, -1);
  EXPECT_EQ(found.high, 1);
  EXPECT_NEAR(found.p, 0.75, 0.02);
  // Draws from {3, -1}: only -1, -1 is not above 0.
  EXPECT_NEAR(bootstrap_mean(Numbers{3, -1}).p, 0.25, 0.02);
}

TEST(BootstrapMean, TheIntervalOfManyValuesIsTheNormalOne) {
  // 400 values, half 0 and half 2: the mean 1 has standard error 1/20, and 1.645 of them on either side.
  Numbers values(400, 0.0);
  std::fill_n(values.begin(), 200, 2.0);
  const Interval found = bootstrap_mean(values);
  EXPECT_DOUBLE_EQ(found.estimate, 1);
  EXPECT_NEAR(found.low, 1 - 1.645 / 20, 0.006);
  EXPECT_NEAR(found.high, 1 + 1.645 / 20, 0.006);
  EXPECT_EQ(found.p, 1.0 / 10001);
}

TEST(Bootstrap, TheSameEveryTimeAndTheSameAsTheMean) {
  const Numbers values = {1, 2, -3, 4, 0.5, 2.5};
  const auto mean = [&](std::span<const std::size_t> drawn) {
    double sum = 0;
    for (const std::size_t unit : drawn) {
      sum += values[unit];
    }
    return sum / static_cast<double>(drawn.size());
  };
  const Interval first = bootstrap(values.size(), mean, 3000);
  const Interval again = bootstrap(values.size(), mean, 3000);
  const Interval of_mean = bootstrap_mean(values, 3000);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_EQ(first.p, again.p);
  EXPECT_NEAR(first.estimate, of_mean.estimate, 1e-12);
  EXPECT_NEAR(first.low, of_mean.low, 1e-12);
  EXPECT_NEAR(first.high, of_mean.high, 1e-12);
  EXPECT_LT(first.low, first.estimate);
  EXPECT_GT(first.high, first.estimate);
}

TEST(Bootstrap, UndefinedResamplesCountAgainstTheClaim) {
  // Not a number unless both units are drawn, which happens half of the time.
  const Interval found =
      bootstrap(2, [](std::span<const std::size_t> drawn) { return drawn[0] == drawn[1] ? std::nan("") : 1.0; });
  EXPECT_EQ(found.estimate, 1);
  EXPECT_EQ(found.low, 1);
  EXPECT_EQ(found.high, 1);
  EXPECT_NEAR(found.p, 0.5, 0.05);
  const Interval nothing = bootstrap_mean({});
  EXPECT_TRUE(std::isnan(nothing.estimate));
  EXPECT_EQ(nothing.p, 1);
}

TEST(Bootstrap, ResamplesOfZeroSpeakForNobody) {
  // A resample of two has neither, the one, the other or both: a sum of -1, 0, 0, 1, each a quarter of the time.
  const Interval both = bootstrap_mean(Numbers{-1, 1});
  EXPECT_NEAR(both.p, 0.75, 0.02);
  EXPECT_NEAR(both.p_below, 0.75, 0.02);
  const Interval zero = bootstrap_mean(Numbers{0, 0, 0});
  EXPECT_EQ(zero.p, 1);
  EXPECT_EQ(zero.p_below, 1);
  const Interval below = bootstrap_mean(Numbers{-1, -2, -3});
  EXPECT_EQ(below.p, 1);
  EXPECT_DOUBLE_EQ(below.p_below, 1.0 / 10001);
}

TEST(Spearman, ByHand) {
  EXPECT_DOUBLE_EQ(spearman(Numbers{1, 2, 3, 4}, Numbers{10, 20, 30, 5}), -0.2);
  EXPECT_DOUBLE_EQ(spearman(Numbers{1, 2, 3}, Numbers{1, 100, 101}), 1);
  // Ranks 1.5, 1.5, 3 against 1, 2, 3.
  EXPECT_NEAR(spearman(Numbers{7, 7, 8}, Numbers{1, 2, 3}), std::sqrt(0.75), 1e-12);
  EXPECT_EQ(spearman(Numbers{1, 1, 1}, Numbers{1, 2, 3}), 0);
}

TEST(Slope, ByHand) {
  EXPECT_DOUBLE_EQ(slope(Numbers{0, 1, 2}, Numbers{1, 3, 5}), 2);
  EXPECT_DOUBLE_EQ(slope(Numbers{0, 1, 2}, Numbers{0, 3, 0}), 0);
  EXPECT_DOUBLE_EQ(slope(Numbers{0, 1, 2, 3}, Numbers{0, 2, 1, 3}), 0.8);
  EXPECT_TRUE(std::isnan(slope(Numbers{1, 1}, Numbers{0, 1})));
}

TEST(FirstReaching, TheSmallestXWhateverTheOrder) {
  EXPECT_EQ(first_reaching(Numbers{0.1, 0.2, 0.3, 0.4}, Numbers{50, 96, 90, 99}, 95), 0.2);
  EXPECT_EQ(first_reaching(Numbers{0.4, 0.3, 0.2}, Numbers{99, 95, 94.9}, 95), 0.3);
  EXPECT_EQ(first_reaching(Numbers{0.1}, Numbers{std::nan("")}, 95), std::nullopt);
  EXPECT_EQ(first_reaching({}, {}, 95), std::nullopt);
}

}  // namespace
}  // namespace modlab::measures
