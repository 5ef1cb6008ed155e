// What is stored of masks for pictures of them.

#include "experiments/mask/mask_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace modlab::experiments {
namespace {

using nlohmann::ordered_json;
using Kept = std::vector<std::uint8_t>;

// Masks over one tensor: the control keeps everything.
methods::MaskOutcome outcome_of(const std::vector<std::size_t>& shape, const std::vector<Kept>& targets) {
  methods::MaskOutcome outcome;
  const auto add = [&](const std::string& name, const Kept& kept) {
    methods::MaskStage stage;
    stage.name = name;
    stage.logits.assign(kept.size(), 1.0F);
    stage.mask = {name, {{"layer0.weight", shape, kept}}};
    outcome.stages.push_back(std::move(stage));
  };
  add("all", Kept(targets.front().size(), 1));
  for (const Kept& kept : targets) {
    outcome.targets.push_back("y" + std::to_string(outcome.targets.size()));
    add(outcome.targets.back(), kept);
  }
  return outcome;
}

int number_of(char letter) { return static_cast<int>(std::string(kPictureLetters).find(letter)); }

TEST(MaskPicture, HasALetterForTheTargetsThatKeepAWeight) {
  const ordered_json picture = mask_picture(outcome_of({2, 3}, {{0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 0}}));
  EXPECT_EQ(picture["exact"], true);
  ASSERT_EQ(picture["tensors"].size(), 1U);
  const ordered_json& tensor = picture["tensors"][0];
  EXPECT_EQ(tensor["name"], "layer0.weight");
  EXPECT_EQ(tensor["shape"], ordered_json({2, 3}));
  EXPECT_EQ(tensor["cells"], ordered_json({2, 3}));
  EXPECT_EQ(tensor["letters"], "ABCDAB") << "none, the first, the second, both, none, the first";
}

TEST(MaskPicture, HasALetterForEverySixTargets) {
  std::vector<Kept> targets(8, Kept{0, 0});
  targets[5][0] = targets[6][1] = targets[7][1] = 1;
  const ordered_json picture = mask_picture(outcome_of({1, 2}, targets));
  EXPECT_EQ(picture["tensors"][0]["letters"], "gAAD") << "32 and 0, 0 and 1 + 2";
}

TEST(MaskPicture, WhatIsNoMatrixIsOneRow) {
  EXPECT_EQ(mask_picture(outcome_of({4}, {{0, 1, 1, 0}}))["tensors"][0]["shape"], ordered_json({1, 4}));
  EXPECT_EQ(mask_picture(outcome_of({2, 3, 2}, {Kept(12, 1)}))["tensors"][0]["shape"], ordered_json({2, 6}));
}

// Of 200 x 100 weights the first target keeps the upper half, the second the left half.
TEST(MaskPicture, OfALargeNetworkHasSharesOfBlocks) {
  constexpr std::size_t kRows = 200;
  constexpr std::size_t kColumns = 100;
  std::vector<Kept> targets(2, Kept(kRows * kColumns));
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      targets[0][row * kColumns + column] = row < kRows / 2 ? 1 : 0;
      targets[1][row * kColumns + column] = column < kColumns / 2 ? 1 : 0;
    }
  }
  // A single weight of the block at the lower right, which has 5 x 3.
  targets[0].back() = 1;
  const ordered_json picture = mask_picture(outcome_of({kRows, kColumns}, targets));
  EXPECT_EQ(picture["exact"], false);
  const ordered_json& tensor = picture["tensors"][0];
  EXPECT_EQ(tensor["shape"], ordered_json({kRows, kColumns}));
  EXPECT_EQ(tensor["cells"], ordered_json({kMostBlocks, kMostBlocks}));
  const std::string letters = tensor["letters"];
  ASSERT_EQ(letters.size(), kMostBlocks * kMostBlocks * 3);
  const auto block = [&](std::size_t down, std::size_t across) {
    return letters.substr(3 * (down * kMostBlocks + across), 3);
  };
  EXPECT_EQ(block(0, 0), "AA/") << "both keep all of it";
  EXPECT_EQ(block(0, 47), "/AA");
  EXPECT_EQ(block(47, 0), "A/A");
  EXPECT_EQ(block(30, 40), "AAA");
  EXPECT_EQ(number_of(block(47, 47)[0]), static_cast<int>(std::lround(63.0 / 15)));
}

TEST(MaskPicture, OfALongMatrixHasBlocks) {
  EXPECT_EQ(mask_picture(outcome_of({256, 2}, {Kept(512)}))["exact"], true);
  const ordered_json picture = mask_picture(outcome_of({257, 2}, {Kept(514)}));
  EXPECT_EQ(picture["exact"], false);
  EXPECT_EQ(picture["tensors"][0]["cells"], ordered_json({kMostBlocks, 2}));
}

TEST(MaskPicture, ASmallShareIsNotNothing) {
  Kept one(1'000'000);
  one[0] = 1;
  const std::string letters = mask_picture(outcome_of({1000, 1000}, {one}))["tensors"][0]["letters"];
  EXPECT_EQ(letters.substr(0, 4), "BAAA") << "one of some four hundred weights";
}

TEST(MaskPicture, CountsChancesToKeep) {
  methods::MaskOutcome outcome = outcome_of({1, 6}, {Kept(6)});
  const auto logit = [](double chance) { return static_cast<float>(std::log(chance / (1 - chance))); };
  outcome.stages[1].logits = {-1000, logit(0.01), logit(0.49), logit(0.51), logit(0.93), 1000};
  const ordered_json histograms = mask_picture(outcome)["histograms"];
  ASSERT_EQ(histograms.size(), 2U);
  std::vector<int> expected(kChanceBins);
  expected[0] = 2;
  expected[9] = expected[10] = expected[18] = expected[19] = 1;
  EXPECT_EQ(histograms[1], expected);
  EXPECT_EQ(histograms[0][14], 6) << "logits of 1 have a chance of 73 %";
}

}  // namespace
}  // namespace modlab::experiments
