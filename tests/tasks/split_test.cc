#include "tasks/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/errors.h"

namespace modlab::tasks {
namespace {

std::vector<int> joined(const Split& split) {
  std::vector<int> rows = split.train;
  rows.insert(rows.end(), split.validation.begin(), split.validation.end());
  rows.insert(rows.end(), split.test.begin(), split.test.end());
  return rows;
}

// From the published code.
struct Fixture {
  std::uint32_t seed;
  std::vector<int> first;
  std::vector<int> second_begin;
  std::vector<int> third_begin;
};

const Fixture kFixtures[] = {
    {40,
     {6,  57, 41, 58, 16, 34, 36, 4,  0,  7,  8,  20, 39, 5,  61, 17, 59, 27, 19, 11, 37, 53,
      21, 33, 44, 22, 15, 55, 60, 52, 46, 45, 42, 54, 9,  63, 12, 51, 43, 56, 38, 18, 30, 10,
      31, 50, 29, 24, 3,  13, 47, 23, 28, 49, 35, 62, 25, 48, 1,  26, 2,  40, 14, 32},
     {5, 23, 11, 34, 32, 57},
     {50, 61, 52, 16, 27, 10}},
    {41,
     {0,  18, 34, 42, 56, 29, 55, 61, 15, 39, 62, 63, 16, 23, 37, 57, 50, 51, 12, 44, 46, 7,
      27, 20, 36, 5,  8,  24, 40, 48, 19, 32, 53, 11, 52, 59, 60, 21, 6,  1,  45, 9,  14, 47,
      41, 28, 38, 31, 22, 43, 30, 10, 25, 54, 4,  3,  33, 58, 17, 2,  26, 13, 49, 35},
     {36, 14, 62, 54, 9, 53},
     {60, 20, 48, 14, 33, 22}},
    {42,
     {38, 24, 48, 63, 10, 29, 36, 51, 22, 8,  50, 0,  30, 52, 45, 14, 7,  47, 35, 4,  41, 32,
      5,  57, 43, 56, 55, 33, 17, 11, 19, 58, 1,  59, 23, 26, 28, 16, 2,  49, 42, 34, 3,  18,
      37, 12, 44, 27, 61, 46, 31, 40, 62, 20, 60, 6,  39, 13, 54, 53, 21, 9,  15, 25},
     {8, 55, 19, 61, 44, 39},
     {25, 45, 35, 38, 11, 5}},
};

TEST(Split, PublishedPermutations) {
  for (const Fixture& fixture : kFixtures) {
    const std::vector<Split> splits = published_splits(0.5, fixture.seed, 64, 3);
    ASSERT_EQ(splits.size(), 3U);
    EXPECT_EQ(joined(splits[0]), fixture.first);
    const std::vector<int> second = joined(splits[1]);
    const std::vector<int> third = joined(splits[2]);
    EXPECT_EQ(std::vector<int>(second.begin(), second.begin() + 6), fixture.second_begin);
    EXPECT_EQ(std::vector<int>(third.begin(), third.begin() + 6), fixture.third_begin);
  }
}

TEST(Split, PublishedSizes) {
  const std::array<std::array<std::size_t, 3>, 9> sizes = {{{6, 29, 29},
                                                            {12, 26, 26},
                                                            {19, 22, 23},
                                                            {25, 19, 20},
                                                            {32, 16, 16},
                                                            {38, 13, 13},
                                                            {44, 10, 10},
                                                            {51, 6, 7},
                                                            {57, 3, 4}}};
  const std::array<double, 9> ratios = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  for (std::size_t ratio = 0; ratio < ratios.size(); ++ratio) {
    const Split split = published_splits(ratios[ratio], 40, 64, 1)[0];
    EXPECT_EQ(split.train.size(), sizes[ratio][0]);
    EXPECT_EQ(split.validation.size(), sizes[ratio][1]);
    EXPECT_EQ(split.test.size(), sizes[ratio][2]);
  }
}

TEST(Split, TrainingSetsAreNestedAcrossRatios) {
  std::vector<int> smaller;
  for (const double ratio : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
    const std::vector<int> train = published_splits(ratio, 41, 64, 1)[0].train;
    ASSERT_GT(train.size(), smaller.size());
    EXPECT_TRUE(std::equal(smaller.begin(), smaller.end(), train.begin()));
    smaller = train;
  }
}

TEST(Split, EveryRowIsInExactlyOnePart) {
  for (const int rows : {4, 8, 256, 4096}) {
    for (const Split& split : published_splits(0.5, 7, rows, 2)) {
      std::vector<int> all = joined(split);
      std::ranges::sort(all);
      std::vector<int> expected(rows);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected);
    }
  }
}

TEST(Split, ImpossibleRatiosSayWhichOnesWork) {
  const auto message = [](double ratio, int rows) -> std::string {
    try {
      published_splits(ratio, 40, rows, 1);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message(0.01, 64).find("no training row of 64 rows"), std::string::npos) << message(0.01, 64);
  EXPECT_NE(message(0.01, 64).find("0.015625"), std::string::npos);
  EXPECT_NE(message(0.99, 64).find("no validation row"), std::string::npos) << message(0.99, 64);
  EXPECT_NE(message(0.99, 64).find("0.984375"), std::string::npos);
  for (const double ratio : {0.0, 1.0, -1.0, 7.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(message(ratio, 64).find("not between 0 and 1"), std::string::npos) << message(ratio, 64);
  }
  EXPECT_NE(message(0.5, 2).find("2 rows cannot be split"), std::string::npos);
  // The ends that the message names.
  EXPECT_EQ(message(0.015625, 64), "no error");
  EXPECT_EQ(message(0.984374, 64), "no error");
  EXPECT_NE(message(0.984375, 64), "no error");
}

}  // namespace
}  // namespace modlab::tasks
