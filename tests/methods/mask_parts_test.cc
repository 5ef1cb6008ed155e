// Which parameters are masked, for which targets, and what becomes of masks.

#include <gtest/gtest.h>

#include "core/errors.h"
#include "methods/mask/derived_masks.h"
#include "methods/mask/live_weights.h"
#include "methods/mask/mask_settings.h"
#include "methods/mask/mask_target.h"
#include "methods/mask/masked_parameters.h"
#include "models/mlp.h"
#include "tasks/task_cache.h"
#include "temporary_folder.h"

namespace modlab {
namespace {

using methods::MaskSpec;
using models::MaskTensor;
using models::WeightMask;

TEST(MaskedParameters, AreWhatIsIncludedAndNotExcluded) {
  const engine::Layout layout = models::mlp_layout({{3, 4, 2}});
  MaskSpec spec;
  methods::MaskedParameters masked = methods::masked_parameters(layout, spec);
  ASSERT_EQ(masked.tensors.size(), 2U) << "no biases";
  EXPECT_EQ(masked.logits, 12 + 8);
  EXPECT_EQ(masked.logit_of[12], -1) << "a bias";
  EXPECT_EQ(masked.logit_of[16], 12) << "the first weight of the second layer";

  spec.exclude = {};
  EXPECT_EQ(methods::masked_parameters(layout, spec).logits, 12 + 4 + 8 + 2);
  spec.include = {"layer1.*"};
  EXPECT_EQ(methods::masked_parameters(layout, spec).logits, 8 + 2);
  spec.include = {"layer1.wieght"};
  EXPECT_THROW(methods::masked_parameters(layout, spec), ConfigError);
  spec.include = {};
  spec.exclude = {"*"};
  EXPECT_THROW(methods::masked_parameters(layout, spec), ConfigError);

  spec.exclude = {"no-bias"};
  spec.grain = methods::MaskGrain::kUnit;
  masked = methods::masked_parameters(layout, spec);
  EXPECT_EQ(masked.logits, 4 + 2);
  EXPECT_EQ(masked.logit_of[0], masked.logit_of[2]) << "weights into one unit";
  EXPECT_NE(masked.logit_of[2], masked.logit_of[3]);
}

TEST(MaskedParameters, KeepWhatIsAboveZeroAndThere) {
  const engine::Layout layout = models::mlp_layout({{2, 1}});
  const methods::MaskedParameters masked = methods::masked_parameters(layout, {});
  const std::vector<float> logits = {0.5F, 0.0F};
  EXPECT_EQ(methods::kept_weights(masked, logits, std::vector<float>{3, 4, 5}, "").tensors[0].kept,
            (std::vector<std::uint8_t>{1, 0}));
  const WeightMask mask = methods::kept_weights(masked, logits, std::vector<float>{0, 4, 5}, "");
  EXPECT_EQ(mask.tensors[0].kept, (std::vector<std::uint8_t>{0, 0})) << "a weight of zero is nothing";
  const WeightMask first{"", {{"layer0.weight", {1, 2}, {1, 0}}}};
  EXPECT_EQ(methods::masked_weights(masked, first, std::vector<float>{3, 4, 5}), (std::vector<float>{3, 0, 5}));
  EXPECT_EQ(methods::masked_weights(masked, first, std::vector<float>{3, 4, 5}, true), (std::vector<float>{0, 4, 5}));
  EXPECT_EQ(mask.tensors[0].present(), 1U);
  EXPECT_EQ(methods::idle_logits(masked, std::vector<float>{0, 4, 5}), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_TRUE(methods::idle_logits(masked, std::vector<float>{3, 4, 0}).empty()) << "a bias is not masked";
  const std::vector<float> some = {-10, 0, 2.9F, 3.0F};
  EXPECT_DOUBLE_EQ(methods::ambiguous_share(some, {}), 0.5);
  EXPECT_DOUBLE_EQ(methods::ambiguous_share(some, std::vector<std::uint8_t>{1, 0, 0, 0}), 2.0 / 3);
}

TEST(MaskTargets, AreOutputsGroupsTasksOrRowsOfAFile) {
  const auto suite = tasks::cached_task("sculpt/4-2-4");
  EXPECT_EQ(methods::mask_targets("outputs", *suite).size(), 4U);
  const auto groups = methods::mask_targets("y1+y4/y2", *suite);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].outputs, 0b1001U);
  EXPECT_EQ(groups[0].rows.size(), 16U);
  EXPECT_EQ(methods::mask_targets("b1/y0", *tasks::cached_task("depth2")).front().outputs, 2U) << "by its gate";
  EXPECT_THROW(methods::mask_targets("y1+y9", *suite), ConfigError);
  EXPECT_THROW(methods::mask_targets("tasks", *suite), ConfigError);
  const auto tasks = methods::mask_targets("tasks", *tasks::cached_task("A+B"));
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[1].rows.front(), 64U);

  const test::TemporaryFolder folder;
  const auto file = [&](const std::string& text) {
    folder.write("targets.csv", text);
    return methods::mask_targets(folder.file("targets.csv"), *suite);
  };
  const auto named = file("target,row,output\na,3,y1\na,5,y2\nb,*,*\na,3,y1\n");
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].rows, (std::vector<std::uint32_t>{3, 5}));
  EXPECT_EQ(named[0].outputs, 0b11U);
  EXPECT_EQ(named[1].rows.size(), 16U);
  EXPECT_THROW(file("target,row,output\n"), FormatError) << "no row";
  EXPECT_THROW(file("target,row,output\na,16,y1\n"), FormatError);
  EXPECT_THROW(file("target,row,output\na,1,z\n"), ConfigError);
  EXPECT_THROW(file("target,output\na,y1\n"), FormatError);
  EXPECT_THROW(file("target,row,output,task\na,1,y1,other\n"), FormatError);

  const std::vector<std::uint32_t> right = {0b01, 0b10, 0b11};
  EXPECT_DOUBLE_EQ(methods::target_accuracy({"", {0, 2}, 0b01}, {0b11, 0b00, 0b00}, right), 50);
}

WeightMask chain(std::vector<std::uint8_t> first, std::vector<std::uint8_t> second) {
  return {"m", {{"a", {2, 2}, std::move(first)}, {"b", {2, 2}, std::move(second)}}};
}

TEST(DerivedMasks, TheInverseOfAnInverseIsTheMask) {
  const WeightMask mask = chain({1, 0, 1, 0}, {0, 0, 1, 1});
  const WeightMask full = chain({1, 1, 1, 0}, {0, 1, 1, 1});
  const WeightMask inverse = methods::inverse_mask(mask, full, methods::InverseEnds::kNone);
  EXPECT_EQ(inverse.tensors[0].kept, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  const WeightMask twice = methods::inverse_mask(inverse, full, methods::InverseEnds::kNone);
  EXPECT_EQ(twice.tensors[0].kept, mask.tensors[0].kept);
  EXPECT_EQ(measures::overlap_of(mask.tensors[0], inverse.tensors[0]).iou(), 0);
  WeightMask three = mask;
  three.tensors.insert(three.tensors.begin() + 1, MaskTensor{"middle", {2, 2}, {1, 1, 0, 0}});
  WeightMask three_full = full;
  three_full.tensors.insert(three_full.tensors.begin() + 1, MaskTensor{"middle", {2, 2}, {1, 1, 1, 1}});
  const WeightMask ends = methods::inverse_mask(three, three_full, methods::InverseEnds::kFullMask);
  EXPECT_EQ(ends.tensors[0].kept, full.tensors[0].kept);
  EXPECT_EQ(ends.tensors[1].kept, (std::vector<std::uint8_t>{0, 0, 1, 1}));
  const WeightMask ones = methods::inverse_mask(three, three_full, methods::InverseEnds::kOnes);
  EXPECT_EQ(ones.tensors[2].kept, (std::vector<std::uint8_t>{1, 1, 1, 1}));
  const WeightMask early = methods::half_mask(three, true, true);
  EXPECT_EQ(early.tensors[1].kept, three.tensors[1].kept) << "two of three are the early half";
  EXPECT_EQ(early.tensors[2].kept, (std::vector<std::uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(methods::half_mask(three, true, false).tensors[1].kept, (std::vector<std::uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(methods::half_mask(three, false, true).tensors[0].kept, (std::vector<std::uint8_t>{1, 1, 1, 1}));
}

TEST(LiveWeights, LieOnAPathToAWantedOutput) {
  // Unit 0 reads both inputs and is read by output 0; unit 1 reads nothing and is read by output 1.
  const WeightMask mask = chain({1, 1, 0, 0}, {1, 0, 0, 1});
  EXPECT_EQ(methods::live_weights(mask, {}), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(methods::live_weights(mask, {1, 0}), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(methods::live_weights(mask, {0, 1}), (std::vector<std::size_t>{0, 0}));
  WeightMask other = mask;
  other.tensors[1].shape = {1, 4};
  EXPECT_FALSE(methods::live_weights(other, {}).has_value()) << "no chain";
}

TEST(MaskSettings, SamplesDivideABatch) {
  MaskSpec spec;
  EXPECT_NO_THROW(methods::check(spec));
  spec.samples = 3;
  EXPECT_THROW(methods::check(spec), ConfigError);
  for (const auto& [name, text] : std::vector<std::pair<const char*, const char*>>{{"beta", "0"},
                                                                                   {"beta", "-1"},
                                                                                   {"samples", "0"},
                                                                                   {"mask_steps", "0"},
                                                                                   {"sampler", "coin"},
                                                                                   {"grain", "layer"}}) {
    EXPECT_THROW(methods::mask_settings().set(spec, name, text), ConfigError) << name;
  }
  methods::mask_settings().set(spec, "beta", "auto");
  EXPECT_FALSE(spec.beta.has_value());
  EXPECT_EQ(methods::mask_settings().get(spec, "beta"), "auto");
}

}  // namespace
}  // namespace modlab
