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
