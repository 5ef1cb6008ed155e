#include "core/python_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace modlab {
namespace {

using Numbers = std::vector<std::uint64_t>;

// All numbers are what CPython 3.11 says: random.Random(seed).getrandbits, ._randbelow, .shuffle and .sample.
TEST(PythonRandom, Words) {
  const auto words = [](std::uint32_t seed) {
    PythonRandom random(seed);
    return Numbers{random.getrandbits(32), random.getrandbits(32), random.getrandbits(32)};
  };
  EXPECT_EQ(words(0), (Numbers{3626764237, 1654615998, 3255389356}));
  EXPECT_EQ(words(40), (Numbers{1969700810, 2488880523, 3770413946}));
  EXPECT_EQ(words(0xffffffff), (Numbers{2728839433, 2661025012, 872737089}));
}

TEST(PythonRandom, AnyNumberOfBits) {
  const std::pair<int, std::uint64_t> expected[] = {{0, 0},
                                                    {1, 0},
                                                    {5, 30},
                                                    {31, 323946139},
                                                    {32, 1695753998},
                                                    {33, 2795742288},
                                                    {40, 902254243635},
                                                    {48, 26493659877419},
                                                    {63, 5375270654777870840},
                                                    {64, 16781078052021535861U}};
  PythonRandom random(7);
  for (const auto& [count, bits] : expected) {
    EXPECT_EQ(random.getrandbits(count), bits) << count;
  }
}

TEST(PythonRandom, BelowAroundPowersOfTwo) {
  const std::pair<std::uint64_t, std::uint64_t> expected[] = {{1, 0},
                                                              {2, 0},
                                                              {3, 0},
                                                              {4, 2},
                                                              {5, 1},
                                                              {7, 1},
                                                              {8, 5},
                                                              {9, 4},
                                                              {63, 56},
                                                              {64, 56},
                                                              {65, 3},
                                                              {65535, 34569},
                                                              {65536, 17022},
                                                              {65537, 7773},
                                                              {2147483648, 867511447},
                                                              {4294967295, 2661075220},
                                                              {4294967296, 3037058785},
                                                              {4294967297, 228390618},
                                                              {8589934591, 7698464383},
                                                              {1099511627783, 250453341649},
                                                              {9223372036854775808U, 2671210814714083422},
                                                              {18446744073709551615U, 9464137654737328242U}};
  PythonRandom random(40);
  for (const auto& [limit, drawn] : expected) {
    EXPECT_EQ(random.below(limit), drawn) << limit;
  }
  PythonRandom eights(41);
  for (const std::uint64_t drawn : {6, 5, 3, 2, 6, 4, 4, 6, 0, 3, 0, 7}) {
    EXPECT_EQ(eights.below(8), drawn);
  }
}

TEST(PythonRandom, Shuffle) {
  std::vector<int> values(10);
  std::iota(values.begin(), values.end(), 0);
  PythonRandom random(40);
  random.shuffle(values);
  EXPECT_EQ(values, (std::vector<int>{9, 5, 3, 4, 6, 2, 1, 0, 8, 7}));
  EXPECT_EQ(random.getrandbits(32), 3778494533U);
  // Nothing to draw.
  PythonRandom other(1);
  std::vector<int> one = {5};
  other.shuffle(one);
  one.clear();
  other.shuffle(one);
  EXPECT_EQ(other.getrandbits(32), 577090037U);
}

struct Sample {
  std::uint32_t seed;
  std::uint64_t candidates;
  Numbers chosen;
  std::uint64_t next;  // getrandbits(32) afterwards: as many draws as Python
};

void expect_sample(const Sample& sample) {
  SCOPED_TRACE(testing::Message() << sample.chosen.size() << " of " << sample.candidates);
  PythonRandom random(sample.seed);
  EXPECT_EQ(random.sample(sample.candidates, sample.chosen.size()), sample.chosen);
  EXPECT_EQ(random.getrandbits(32), sample.next);
}

// Python draws from a pool up to 21, 85 or 277 candidates, and above from a set; the seeds are such that the other way
// would say something else.
TEST(PythonRandom, BothWaysToSampleWhereTheyMeet) {
  expect_sample({2, 21, {1, 2, 19, 11, 5}, 3160967032});
  expect_sample({2, 22, {1, 2, 11, 5, 21}, 3667190760});
  expect_sample({5, 85, {79, 32, 45, 67, 3, 59}, 3332716663});
  expect_sample({2, 86, {7, 11, 10, 46, 21, 85}, 3667190760});
  expect_sample(
      {0, 85, {49, 53, 5, 33, 65, 62, 51, 38, 61, 45, 74, 27, 64, 17, 36, 71, 12, 32, 18, 39, 68}, 3134603515});
  expect_sample(
      {0, 86, {49, 53, 5, 33, 65, 62, 51, 38, 61, 45, 74, 27, 64, 17, 36, 12, 79, 32, 68, 77, 18}, 1332073689});
  expect_sample(
      {0,
       277,
       {197, 215, 20, 132, 261, 248, 207, 155, 244, 183, 111, 258, 71, 144, 264, 48, 128, 75, 158, 50, 37, 169},
       2027837527});
  expect_sample(
      {0,
       278,
       {197, 215, 20, 132, 261, 248, 207, 155, 244, 183, 111, 258, 71, 144, 48, 128, 272, 75, 158, 50, 37, 169},
       2027837527});
}

TEST(PythonRandom, SamplesOfAllSizes) {
  expect_sample({1, 10, {2, 1, 4, 0, 3, 5, 7, 9, 8, 6}, 403123852});
  expect_sample({2, 1, {0}, 393353683});
  expect_sample({2, 5, {}, 4106135923});
  expect_sample({40, 39932866, {30776575, 38888758, 35163208, 2137181, 16461143}, 1213011046});
  expect_sample({40, 4294967296, {136779594, 2853227234, 1496320357}, 3778494533});
  expect_sample({40, 4294967297, {136779594, 2853227234, 1496320357}, 3778494533});
  expect_sample(
      {41, 2066117388430096, {748103335055969, 2031133697073637, 868364707757304, 2018542622068679}, 2964097208});
}

TEST(PythonRandom, SamplesHaveNoRepeats) {
  PythonRandom random(3);
  for (const std::uint64_t candidates : {4000, 5000, 100000}) {
    Numbers chosen = random.sample(candidates, 1000);
    std::ranges::sort(chosen);
    EXPECT_EQ(std::ranges::adjacent_find(chosen), chosen.end());
    EXPECT_LT(chosen.back(), candidates);
  }
}

}  // namespace
}  // namespace modlab
