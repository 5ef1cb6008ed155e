// What is said of masks that mean little.

#include <gtest/gtest.h>

#include "experiments/mask/mask_record.h"

namespace modlab::experiments {
namespace {

using Warnings = std::vector<std::string>;

// A control that keeps everything, and one target whose mask keeps this of two layers.
methods::MaskOutcome outcome_with(const std::vector<std::uint8_t>& first, const std::vector<std::uint8_t>& second,
                                  std::size_t live) {
  methods::MaskOutcome outcome;
  outcome.beta = 0.5;
  outcome.targets = {"y0"};
  outcome.unmasked = {100};
  outcome.stages.resize(2);
  outcome.stages[0] = {.name = "all", .logits = {}, .mask = {}, .accuracy = {95}, .inverse = {}};
  outcome.stages[0].mask = {"all", {{"a", {2}, {1, 1}}, {"b", {2}, {1, 1}}}};
  outcome.stages[0].live = {2, 2};
  outcome.stages[1] = {.name = "y0", .logits = {}, .mask = {}, .accuracy = {90}, .inverse = {}};
  outcome.stages[1].mask = {"y0", {{"a", {2}, first}, {"b", {2}, second}}};
  outcome.stages[1].live = {live, live};
  return outcome;
}

TEST(MaskWarnings, ThereAreNoneWhereMasksMeanSomething) {
  EXPECT_EQ(mask_warnings(outcome_with({1, 0}, {0, 1}, 1)), Warnings());
}

TEST(MaskWarnings, AControlThatLosesMuchSaysSo) {
  methods::MaskOutcome outcome = outcome_with({1, 0}, {0, 1}, 1);
  outcome.stages[0].accuracy = {94};
  const Warnings warnings = mask_warnings(outcome);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(
      warnings[0].starts_with("the control mask keeps 94.0 % of 100.0 % accuracy, less than 95 %: beta 0.5 is"));
  outcome.has_control = false;
  EXPECT_EQ(mask_warnings(outcome), Warnings());
}

TEST(MaskWarnings, TensorsThatAreRemovedAreNamed) {
  EXPECT_EQ(mask_warnings(outcome_with({0, 0}, {0, 1}, 1)),
            Warnings({"the mask of y0 keeps nothing of a: its sharing there is 0 and says nothing"}));
}

TEST(MaskWarnings, WhatIsOnNoPathIsSaid) {
  EXPECT_EQ(mask_warnings(outcome_with({1, 0}, {0, 1}, 0)),
            Warnings({"the mask of y0 leaves no path from an input to its outputs"}));
}

TEST(MaskWarnings, AMaskThatKeepsNothingIsSaidOnce) {
  EXPECT_EQ(mask_warnings(outcome_with({0, 0}, {0, 0}, 0)),
            Warnings({"the mask of y0 keeps nothing: no path is left, and its sharing is 0 and says nothing"}));
}

}  // namespace
}  // namespace modlab::experiments
