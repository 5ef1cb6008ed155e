#include "measures/mask_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace modlab::measures {
namespace {

using Mask = std::vector<std::uint8_t>;

Mask inverted(Mask mask) {
  for (std::uint8_t& kept : mask) {
    kept = kept == 0 ? 1 : 0;
  }
  return mask;
}

MaskOverlap overlap_of(const Mask& first, const Mask& second) {
  return measures::overlap_of(first, second, first.size());
}

TEST(MaskOverlap, OfTwoSmallMasks) {
  const MaskOverlap overlap = overlap_of(Mask{1, 1, 0, 0}, Mask{1, 0, 1, 0});
  EXPECT_EQ(overlap.weights, 4U);
  EXPECT_EQ(overlap.both, 1U);
  EXPECT_DOUBLE_EQ(overlap.iou(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(overlap.iomin(), 0.5);
  EXPECT_DOUBLE_EQ(overlap.both_by_chance, 1);
}

TEST(MaskOverlap, OfAMaskWithItselfItsInverseAndAPartOfIt) {
  const Mask mask = {1, 0, 1, 1, 0, 0, 1};
  EXPECT_DOUBLE_EQ(overlap_of(mask, mask).iou(), 1);
  EXPECT_DOUBLE_EQ(overlap_of(mask, mask).iomin(), 1);
  EXPECT_DOUBLE_EQ(overlap_of(mask, inverted(mask)).iou(), 0);
  EXPECT_FALSE(overlap_of(mask, inverted(mask)).is_empty());
  const MaskOverlap part = overlap_of(mask, Mask{1, 0, 0, 1, 0, 0, 0});
  EXPECT_DOUBLE_EQ(part.iomin(), 1);
  EXPECT_DOUBLE_EQ(part.iou(), 0.5);
}

TEST(MaskOverlap, WhereNothingIsKeptNothingIsSharedAndItSaysSo) {
  const Mask nothing(5);
  for (const Mask& other : {nothing, Mask{1, 1, 1, 1, 1}}) {
    const MaskOverlap overlap = overlap_of(nothing, other);
    EXPECT_TRUE(overlap.is_empty());
    EXPECT_EQ(overlap.iou(), 0);
    EXPECT_EQ(overlap.iomin(), 0);
    EXPECT_EQ(overlap.iou_by_chance(), 0);
  }
}

// pq / (p + q - pq) and the larger of p and q, for masks that keep a tenth.
TEST(MaskOverlap, ChanceFollowsFromTheDensities) {
  Mask first(1000);
  Mask second(1000);
  std::fill_n(first.begin(), 100, 1);
  std::fill_n(second.begin() + 300, 100, 1);
  const MaskOverlap overlap = overlap_of(first, second);
  EXPECT_NEAR(overlap.iou_by_chance(), 0.0526, 5e-5);
  EXPECT_NEAR(overlap.iomin_by_chance(), 0.1, 1e-12);
}

// Two tensors of different densities share more by chance than their weights in one pot would: random masks of each
// tensor agree with the sum, and not with the pot.
TEST(MaskOverlap, ChanceOfSeveralTensorsIsThatOfMasksDrawnTensorByTensor) {
  std::mt19937 random(1);
  const std::vector<std::pair<int, int>> tensors = {{400, 300}, {4000, 100}};  // weights, and how many are kept
  double shared = 0;
  MaskOverlap sum;
  constexpr int kDraws = 400;
  for (int draw = 0; draw < kDraws; ++draw) {
    sum = {};
    for (const auto& [weights, kept] : tensors) {
      Mask first(static_cast<std::size_t>(weights));
      std::fill_n(first.begin(), kept, 1);
      Mask second = first;
      std::ranges::shuffle(first, random);
      std::ranges::shuffle(second, random);
      sum += overlap_of(first, second);
    }
    shared += sum.iou() / kDraws;
  }
  EXPECT_EQ(sum.weights, 4400U);
  EXPECT_EQ(sum.first, 400U);
  EXPECT_NEAR(sum.iou_by_chance(), shared, 0.003);
  EXPECT_GT(sum.iou_by_chance(), 0.3);
}

// In a sparse network masks can only keep what is there, so that random ones meet more often than their shares of all
// places would say.
TEST(MaskOverlap, WeightsThatAreNotThereAreNoChanceToMiss) {
  std::mt19937 random(2);
  constexpr std::size_t kPlaces = 2000;
  constexpr std::size_t kPresent = 500;
  constexpr int kDraws = 400;
  double shared = 0;
  MaskOverlap overlap;
  for (int draw = 0; draw < kDraws; ++draw) {
    models::MaskTensor first{"w", {kPlaces}, Mask(kPlaces), kPlaces - kPresent};
    models::MaskTensor second = first;
    std::fill_n(first.kept.begin(), 200, 1);
    std::fill_n(second.kept.begin(), 100, 1);
    for (models::MaskTensor* mask : {&first, &second}) {
      std::shuffle(mask->kept.begin(), mask->kept.begin() + kPresent, random);
    }
    overlap = measures::overlap_of(first, second);
    shared += overlap.iou() / kDraws;
  }
  EXPECT_EQ(overlap.weights, kPresent);
  EXPECT_NEAR(overlap.iou_by_chance(), shared, 0.002);
  EXPECT_GT(overlap.iou_by_chance(), 0.15);
}

}  // namespace
}  // namespace modlab::measures
