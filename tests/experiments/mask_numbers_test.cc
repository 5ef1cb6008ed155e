#include <gtest/gtest.h>

#include "experiments/mask/mask_record.h"

namespace modlab::experiments {
namespace {

methods::MaskStage stage_that_keeps(const std::string& name, std::vector<std::uint8_t> kept) {
  methods::MaskStage stage;
  stage.name = name;
  const std::size_t weights = kept.size();
  stage.mask = {name, {{"w", {1, weights}, std::move(kept)}}};
  stage.accuracy = stage.inverse = {0, 0, 0};
  return stage;
}

// Three targets, of which the first two need something in common: [a, b], [a, c] and [b, c].
TEST(MaskNumbers, TargetsThatNeedNothingInCommonStandApart) {
  methods::MaskOutcome outcome;
  outcome.targets = {"a", "b", "c"};
  outcome.unmasked = {100, 100, 100};
  outcome.stages = {stage_that_keeps("all", {1, 1, 1, 1, 1, 1, 1, 1}), stage_that_keeps("a", {1, 1, 0, 0, 0, 0, 0, 0}),
                    stage_that_keeps("b", {1, 1, 0, 0, 0, 0, 0, 0}), stage_that_keeps("c", {1, 0, 1, 0, 0, 0, 0, 0})};
  const Numbers numbers = mask_numbers(outcome, {true, false, false}, true);
  const double chance = 0.5 / 3.5;  // two of eight weights each
  EXPECT_DOUBLE_EQ(numbers.at("iou_related"), 1);
  EXPECT_DOUBLE_EQ(numbers.at("iou_unrelated"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(numbers.at("unrelated_above_chance"), 1.0 / 3 - chance);
  EXPECT_DOUBLE_EQ(numbers.at("related_above_unrelated"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(numbers.at("iou_above_chance"), (1 + 2.0 / 3) / 3 - chance);
  const Numbers all_related = mask_numbers(outcome, {true, true, true}, true);
  EXPECT_FALSE(all_related.contains("unrelated_above_chance")) << "a value that means nothing is absent";
}

}  // namespace
}  // namespace modlab::experiments
