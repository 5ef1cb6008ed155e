#include "tasks/image_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/errors.h"

namespace modlab::tasks {
namespace {

constexpr ImageInputs kPairs = {2, 8, 3};
constexpr std::uint32_t kSeeds[] = {40, 41, 42};

// Images without pixels: only their labels play a role.
ImageSet set_of(std::vector<std::uint8_t> labels) { return {0, 0, {}, std::move(labels)}; }

// The counts of MNIST for digits 0 to 7, one digit after the other in turns, and others in between.
ImageSet labelled(std::vector<int> counts) {
  std::vector<std::uint8_t> labels;
  while (std::ranges::any_of(counts, [](int count) { return count > 0; })) {
    for (std::size_t digit = 0; digit < counts.size(); ++digit) {
      if (counts[digit]-- > 0) {
        labels.push_back(static_cast<std::uint8_t>(digit));
      }
    }
    labels.push_back(9);
  }
  return set_of(std::move(labels));
}
const ImageData& mnist_like() {
  static const ImageData kData = {labelled({5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265}),
                                  labelled({980, 1135, 1032, 1010, 982, 892, 958, 1028}), ""};
  return kData;
}

// [image]: how many images before it show the same digit.
std::vector<int> ranks(const ImageSet& set) {
  std::vector<int> seen(256, 0);
  std::vector<int> result;
  for (const std::uint8_t label : set.labels) {
    result.push_back(seen[label]++);
  }
  return result;
}

std::vector<int> joined(const CombinationSplit& split) {
  std::vector<int> rows = split.train;
  rows.insert(rows.end(), split.validation.begin(), split.validation.end());
  rows.insert(rows.end(), split.unseen.begin(), split.unseen.end());
  return rows;
}

using Tuples = std::vector<std::pair<std::vector<std::uint32_t>, std::uint32_t>>;

Tuples tuples(const std::vector<ImageSample>& samples, int images) {
  Tuples result;
  for (const ImageSample& sample : samples) {
    result.push_back({{sample.images.begin(), sample.images.begin() + images}, sample.combination});
    EXPECT_TRUE(
        std::all_of(sample.images.begin() + images, sample.images.end(), [](auto image) { return image == 0; }));
  }
  return result;
}

bool same(const std::vector<ImageSample>& a, const std::vector<ImageSample>& b) {
  return std::ranges::equal(a, b, [](const ImageSample& left, const ImageSample& right) {
    return left.images == right.images && left.combination == right.combination;
  });
}

// Every sample shows its combination, and none is there twice.
void expect_sound(const std::vector<ImageSample>& samples, const ImageSet& set, const ImageInputs& inputs) {
  std::set<std::array<std::uint32_t, kMaxImages>> seen;
  for (const ImageSample& sample : samples) {
    const std::vector<int> digits = digits_of(inputs, static_cast<int>(sample.combination));
    for (int image = 0; image < inputs.images; ++image) {
      ASSERT_LT(sample.images[image], set.count());
      ASSERT_EQ(set.labels[sample.images[image]], digits[image]);
    }
    ASSERT_TRUE(seen.insert(sample.images).second);
  }
}

std::set<std::uint32_t> images_in(const std::vector<ImageSample>& samples, int images) {
  std::set<std::uint32_t> used;
  for (const ImageSample& sample : samples) {
    used.insert(sample.images.begin(), sample.images.begin() + images);
  }
  return used;
}

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

// From the published code: "d1d2" in the order of the split, and the first training samples as ranks among the
// images of their digits.
struct Fixture {
  std::uint32_t seed;
  const char* order;
  std::vector<std::pair<int, int>> first;
};

const Fixture kFixtures[] = {
    {40,
     "36 23 76 00 77 25 30 67 54 37 62 46 71 73 66 16 61 55 42 05 40 04 43 31 27 12 33 32 56 63 65 06 "
     "11 44 20 07 24 13 53 35 47 14 51 03 64 74 01 34 57 21 26 60 10 15 75 50 52 22 17 02 41 70 45 72",
     {{5200, 2975}, {5941, 4370}, {361, 783}}},
    {41,
     "23 40 46 65 63 75 32 14 06 36 53 37 26 51 50 47 10 67 05 31 41 61 57 76 64 04 62 35 13 27 42 15 "
     "66 33 02 07 03 45 20 74 24 55 11 34 01 52 17 00 70 77 56 73 21 43 22 54 44 30 72 71 12 16 25 60",
     {{4170, 3595}, {3636, 2911}, {2525, 2527}}},
    {42,
     "27 31 07 26 55 41 23 73 56 11 50 22 52 37 20 25 44 51 35 24 13 62 47 60 03 36 30 67 04 71 66 61 "
     "12 00 74 34 54 32 64 14 43 65 46 40 72 15 63 76 02 33 45 05 42 70 53 06 75 10 77 17 21 57 01 16",
     {{1192, 3421}, {267, 5688}, {2946, 215}}},
};

TEST(CombinationSplit, PublishedOrder) {
  for (const Fixture& fixture : kFixtures) {
    std::string order;
    for (const int row : joined(split_combinations(kPairs, 0.5, fixture.seed))) {
      order += (order.empty() ? "" : " ") + std::to_string(row / 8) + std::to_string(row % 8);
    }
    EXPECT_EQ(order, fixture.order);
  }
}

TEST(CombinationSplit, PublishedSizes) {
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
  std::vector<int> smaller;
  for (std::size_t ratio = 0; ratio < ratios.size(); ++ratio) {
    const CombinationSplit split = split_combinations(kPairs, ratios[ratio], 41);
    EXPECT_EQ(split.train.size(), sizes[ratio][0]);
    EXPECT_EQ(split.validation.size(), sizes[ratio][1]);
    EXPECT_EQ(split.unseen.size(), sizes[ratio][2]);
    // Nested across ratios.
    EXPECT_TRUE(std::equal(smaller.begin(), smaller.end(), split.train.begin()));
    smaller = split.train;
  }
}

TEST(CombinationSplit, EveryCombinationIsInExactlyOnePart) {
  for (const ImageInputs& inputs : {kPairs, ImageInputs{2, 10, 4}, ImageInputs{3, 5, 3}, ImageInputs{4, 2, 1}}) {
    std::vector<int> all = joined(split_combinations(inputs, 0.6, 7));
    EXPECT_EQ(static_cast<int>(all.size()), inputs.combinations());
    std::ranges::sort(all);
    EXPECT_EQ(all, combination_rows(inputs));
  }
}

TEST(CombinationSplit, ARatioOfOneIsAllInNaturalOrder) {
  const CombinationSplit split = split_combinations(kPairs, 1, 40);
  for (const std::vector<int>& rows : {split.train, split.validation, split.unseen}) {
    EXPECT_EQ(rows, combination_rows(kPairs));
  }
}

TEST(CombinationSplit, ImpossibleRatiosSayWhichOnesWork) {
  const auto message = [](double ratio) { return message_of([&] { split_combinations(kPairs, ratio, 40); }); };
  EXPECT_NE(message(0.01).find("ratio 0.01 leaves no combination to learn from, of 64"), std::string::npos)
      << message(0.01);
  EXPECT_NE(message(0.01).find("0.015625"), std::string::npos);
  EXPECT_NE(message(0.99).find("to validate with"), std::string::npos) << message(0.99);
  EXPECT_NE(message(0.99).find("0.984375"), std::string::npos);
  for (const double ratio : {0.0, -1.0, std::nan("")}) {
    EXPECT_NE(message(ratio).find("not above 0"), std::string::npos) << message(ratio);
  }
  // The ends that the message names.
  EXPECT_EQ(message(0.015625), "no error");
  EXPECT_EQ(message(0.984374), "no error");
  EXPECT_NE(message(0.984375), "no error");
}

TEST(ImageSamples, PublishedFirstSamples) {
  const std::vector<int> rank = ranks(mnist_like().train);
  for (const Fixture& fixture : kFixtures) {
    const CombinationSplit split = split_combinations(kPairs, 0.1, fixture.seed);
    const ImageSamples samples = draw_samples(mnist_like(), kPairs, split, fixture.seed, {1000, 100});
    for (std::size_t sample = 0; sample < fixture.first.size(); ++sample) {
      EXPECT_EQ(static_cast<int>(samples.train[sample].combination), split.train.front());
      EXPECT_EQ(rank[samples.train[sample].images[0]], fixture.first[sample].first);
      EXPECT_EQ(rank[samples.train[sample].images[1]], fixture.first[sample].second);
    }
  }
}

TEST(ImageSamples, SizesAndOrderOfTheFourSets) {
  for (const std::uint32_t seed : kSeeds) {
    const CombinationSplit split = split_combinations(kPairs, 0.3, seed);
    const ImageSamples samples = draw_samples(mnist_like(), kPairs, split, seed, {50, 20});
    const auto expect_set = [](const std::vector<ImageSample>& set, const std::vector<int>& combinations, int count,
                               const ImageSet& images) {
      ASSERT_EQ(set.size(), combinations.size() * count);
      for (std::size_t sample = 0; sample < set.size(); ++sample) {
        ASSERT_EQ(static_cast<int>(set[sample].combination), combinations[sample / count]);
      }
      expect_sound(set, images, kPairs);
    };
    expect_set(samples.train, split.train, 50, mnist_like().train);
    expect_set(samples.validation, split.validation, 20, mnist_like().train);
    expect_set(samples.seen, split.train, 20, mnist_like().test);
    expect_set(samples.unseen, split.unseen, 20, mnist_like().test);
  }
}

TEST(ImageSamples, OnlyTheTrainingSetDependsOnItsSize) {
  const CombinationSplit split = split_combinations(kPairs, 0.5, 42);
  const ImageSamples few = draw_samples(mnist_like(), kPairs, split, 42, {100, 100});
  const ImageSamples many = draw_samples(mnist_like(), kPairs, split, 42, {1000, 100});
  EXPECT_TRUE(same(few.validation, many.validation));
  EXPECT_TRUE(same(few.seen, many.seen));
  EXPECT_TRUE(same(few.unseen, many.unseen));
  // The first combination's draws are the same, only more.
  EXPECT_TRUE(same({few.train.begin(), few.train.begin() + 100}, {many.train.begin(), many.train.begin() + 100}));
}

TEST(ImageSamples, ADigitWithItselfMayUseAnImageTwice) {
  const ImageData data = {set_of({0, 1, 1}), set_of({0, 1}), ""};
  const ImageInputs inputs = {2, 2, 1};
  const ImageSamples samples = draw_samples(data, inputs, split_combinations(inputs, 1, 0), 0, {1000, 100});
  EXPECT_EQ(samples.train.size(), 9U);
  EXPECT_EQ(tuples({samples.train.front()}, 2), (Tuples{{{0, 0}, 0}}));
}

// Small data, so that CPython draws from pools for pairs and from sets for triples. All numbers are what CPython 3.11
// says: random.sample over itertools.product of the digits' images.
const ImageData kSmall = {set_of({0, 1, 2, 9, 2, 1, 0, 0, 2, 1, 1, 5, 0, 2}), set_of({2, 1, 0, 0, 1, 9, 2}), ""};

TEST(ImageSamples, PairsOfSmallDataAsPythonDrawsThem) {
  const ImageInputs inputs = {2, 3, 2};
  const CombinationSplit split = split_combinations(inputs, 0.5, 40);
  EXPECT_EQ(split.train, (std::vector<int>{10, 6, 4, 5}));
  EXPECT_EQ(split.validation, (std::vector<int>{8, 2}));
  EXPECT_EQ(split.unseen, (std::vector<int>{1, 0, 9}));
  const ImageSamples samples = draw_samples(kSmall, inputs, split, 40, {3, 2});
  EXPECT_EQ(tuples(samples.train, 2), (Tuples{{{13, 8}, 10},
                                              {{8, 4}, 10},
                                              {{8, 2}, 10},
                                              {{1, 4}, 6},
                                              {{1, 13}, 6},
                                              {{5, 2}, 6},
                                              {{5, 7}, 4},
                                              {{1, 7}, 4},
                                              {{10, 0}, 4},
                                              {{9, 10}, 5},
                                              {{5, 1}, 5},
                                              {{10, 10}, 5}}));
  EXPECT_EQ(tuples(samples.validation, 2), (Tuples{{{13, 7}, 8}, {{8, 6}, 8}, {{0, 4}, 2}, {{0, 13}, 2}}));
  EXPECT_EQ(
      tuples(samples.seen, 2),
      (Tuples{
          {{6, 6}, 10}, {{6, 0}, 10}, {{1, 0}, 6}, {{4, 6}, 6}, {{4, 2}, 4}, {{4, 3}, 4}, {{1, 4}, 5}, {{1, 1}, 5}}));
  EXPECT_EQ(tuples(samples.unseen, 2),
            (Tuples{{{3, 4}, 1}, {{3, 1}, 1}, {{2, 2}, 0}, {{3, 3}, 0}, {{6, 1}, 9}, {{6, 4}, 9}}));
}

TEST(ImageSamples, FewerCandidatesThanAskedForAreAllTaken) {
  const ImageInputs inputs = {2, 3, 2};
  const CombinationSplit split = split_combinations(inputs, 0.5, 40);
  const ImageSamples samples = draw_samples(kSmall, inputs, split, 40, {100, 100});
  EXPECT_EQ(samples.train.size(), 64U);
  EXPECT_EQ(samples.validation.size(), 32U);
  EXPECT_EQ(samples.seen.size(), 16U);
  EXPECT_EQ(samples.unseen.size(), 12U);
  EXPECT_EQ(tuples({samples.train.begin(), samples.train.begin() + 8}, 2), (Tuples{{{13, 8}, 10},
                                                                                   {{8, 4}, 10},
                                                                                   {{8, 2}, 10},
                                                                                   {{2, 2}, 10},
                                                                                   {{2, 13}, 10},
                                                                                   {{4, 2}, 10},
                                                                                   {{8, 13}, 10},
                                                                                   {{2, 8}, 10}}));
  EXPECT_EQ(
      tuples({samples.unseen.begin(), samples.unseen.begin() + 8}, 2),
      (Tuples{{{3, 4}, 1}, {{3, 1}, 1}, {{2, 1}, 1}, {{2, 4}, 1}, {{3, 2}, 0}, {{3, 3}, 0}, {{2, 2}, 0}, {{2, 3}, 0}}));
  expect_sound(samples.train, kSmall.train, inputs);
}

TEST(ImageSamples, TriplesOfSmallDataAsPythonDrawsThem) {
  const ImageInputs inputs = {3, 3, 2};
  const CombinationSplit split = split_combinations(inputs, 0.5, 40);
  EXPECT_EQ(split.train, (std::vector<int>{20, 41, 6, 17, 38, 36, 33, 37, 4, 24, 2, 26, 40}));
  const ImageSamples samples = draw_samples(kSmall, inputs, split, 40, {2, 1});
  ASSERT_EQ(samples.train.size(), 26U);
  EXPECT_EQ(tuples({samples.train.begin(), samples.train.begin() + 8}, 3), (Tuples{{{10, 9, 7}, 20},
                                                                                   {{1, 5, 0}, 20},
                                                                                   {{4, 13, 10}, 41},
                                                                                   {{8, 4, 1}, 41},
                                                                                   {{6, 9, 8}, 6},
                                                                                   {{6, 1, 2}, 6},
                                                                                   {{9, 12, 1}, 17},
                                                                                   {{9, 0, 10}, 17}}));
  EXPECT_EQ(tuples(samples.validation, 3), (Tuples{{{12, 7, 7}, 0},
                                                   {{1, 5, 1}, 21},
                                                   {{4, 13, 13}, 42},
                                                   {{7, 4, 2}, 10},
                                                   {{5, 7, 8}, 18},
                                                   {{6, 1, 1}, 5},
                                                   {{7, 13, 0}, 8}}));
  EXPECT_EQ(tuples(samples.unseen, 3), (Tuples{{{6, 3, 6}, 34},
                                               {{1, 2, 2}, 16},
                                               {{2, 6, 4}, 9},
                                               {{3, 2, 1}, 1},
                                               {{1, 6, 4}, 25},
                                               {{0, 3, 2}, 32},
                                               {{4, 1, 6}, 22}}));
}

TEST(ImageSamples, FourImages) {
  const ImageInputs inputs = {4, 8, 3};
  const CombinationSplit split = split_combinations(inputs, 0.02, 41);
  const ImageSamples samples = draw_samples(mnist_like(), inputs, split, 41, {4, 1});
  EXPECT_EQ(samples.train.size(), 4 * 81U);
  expect_sound(samples.train, mnist_like().train, inputs);
  expect_sound(samples.unseen, mnist_like().test, inputs);
}

TEST(ImageSamples, DisjointValidationHasTheLastSixthOfEachDigit) {
  const CombinationSplit split = split_combinations(kPairs, 0.5, 40);
  const ImageSamples shared = draw_samples(mnist_like(), kPairs, split, 40, {1000, 100, false});
  const ImageSamples apart = draw_samples(mnist_like(), kPairs, split, 40, {1000, 100, true});
  const std::vector<int> rank = ranks(mnist_like().train);
  const std::vector<int> counts = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265};
  const auto is_for_validation = [&](std::uint32_t image) {
    const int count = counts[mnist_like().train.labels[image]];
    return rank[image] >= count - count / 6;
  };
  EXPECT_TRUE(std::ranges::none_of(images_in(apart.train, 2), is_for_validation));
  EXPECT_TRUE(std::ranges::all_of(images_in(apart.validation, 2), is_for_validation));
  EXPECT_FALSE(std::ranges::all_of(images_in(shared.validation, 2), is_for_validation));
  expect_sound(apart.train, mnist_like().train, kPairs);
  expect_sound(apart.validation, mnist_like().train, kPairs);
  EXPECT_TRUE(same(apart.seen, shared.seen));
  EXPECT_TRUE(same(apart.unseen, shared.unseen));

  // Small enough to see all of them: of seven and thirteen images the last one and the last two.
  const ImageInputs bits = {2, 2, 1};
  const ImageData data = {labelled({7, 13}), set_of({0, 1}), ""};
  const ImageSamples all = draw_samples(data, bits, split_combinations(bits, 1, 0), 0, {1000, 1000, true});
  EXPECT_EQ(images_in(all.train, 2).size(), 6U + 11U);
  EXPECT_EQ(images_in(all.validation, 2).size(), 1U + 2U);
  EXPECT_EQ(all.validation.size(), 9U);
}

TEST(ImageSamples, MissingImagesAreNamed) {
  const ImageInputs inputs = {2, 3, 2};
  const CombinationSplit split = split_combinations(inputs, 0.5, 40);
  const auto message = [&](const ImageData& data, const SampleCounts& counts) {
    return message_of([&] { draw_samples(data, inputs, split, 40, counts); });
  };
  const std::string no_test = message({set_of({0, 1, 2}), set_of({0, 2, 9}), ""}, {});
  EXPECT_NE(no_test.find("test images show no 1"), std::string::npos) << no_test;
  const std::string no_train = message({set_of({0, 1, 7}), set_of({0, 1, 2}), ""}, {});
  EXPECT_NE(no_train.find("training images show no 2"), std::string::npos) << no_train;
  const std::string too_few = message(kSmall, {10, 10, true});
  EXPECT_NE(too_few.find("only 4 of the training images show a 0"), std::string::npos) << too_few;
  EXPECT_NE(message(kSmall, {0, 10}).find("0 training"), std::string::npos);
}

TEST(ImageSamples, TooManyTuplesToCount) {
  const ImageInputs inputs = {4, 2, 1};
  const ImageData data = {labelled({1 << 16, 1 << 16}), labelled({1, 1}), ""};
  const CombinationSplit split = split_combinations(inputs, 0.5, 40);
  EXPECT_NE(message_of([&] { draw_samples(data, inputs, split, 40, {1, 1}); }).find("fewer images"), std::string::npos);
}

}  // namespace
}  // namespace modlab::tasks
