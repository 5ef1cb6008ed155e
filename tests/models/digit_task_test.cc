#include "models/digits/digit_task.h"

#include <gtest/gtest.h>

namespace modlab {
namespace {

using models::DigitBatch;
using models::DigitNetworkKind;
using models::DigitTask;
using models::kAllTargets;
using models::kNoInput;
using models::PairMode;
using tasks::Arithmetic;
using tasks::ArithmeticSample;

constexpr ArithmeticSample kProduct{{37, 64, 0, 0}, 1};
constexpr ArithmeticSample kTwoSums{{12, 34, 56, 78}, 0};

std::vector<DigitBatch> passes(const DigitTask& task, const ArithmeticSample& sample, int target, bool hides = true) {
  return models::digit_passes(task, std::vector<ArithmeticSample>{sample}, target, hides);
}

TEST(DigitTask, NumbersAreOneHotDigitsLeastSignificantFirst) {
  const DigitTask task;
  EXPECT_EQ(task.inputs(), 42);
  EXPECT_EQ(task.outputs(), 20);
  const auto made = passes(task, kProduct, kAllTargets);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].inputs, (std::vector<std::uint16_t>{7, 10 + 3, 20 + 4, 30 + 6, 41}));
  EXPECT_EQ(made[0].digits, (std::vector<std::uint8_t>{8, 6})) << "2368";
}

TEST(DigitTask, AFeedForwardNetworkSeesOneSumAtATime) {
  const DigitTask task{.kind = Arithmetic::kDoubleAddition};
  EXPECT_EQ(task.inputs(), 80);
  EXPECT_EQ(task.outputs(), 40);
  const auto both = passes(task, kTwoSums, kAllTargets);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].inputs[0], 40 + 6) << "the second pair has inputs of its own";
  EXPECT_EQ(both[1].inputs[4], kNoInput);
  EXPECT_EQ(both[0].counts, (std::vector<std::uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(both[1].counts, (std::vector<std::uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ(both[1].digits, (std::vector<std::uint8_t>{6, 4, 4, 3})) << "46 and 134";
  const auto second = passes(task, kTwoSums, 1);
  ASSERT_EQ(second.size(), 1U) << "only the pass that is needed";
  EXPECT_EQ(second[0].inputs, both[1].inputs);
}

TEST(DigitTask, AnLstmIsShownSumsTogetherOrOneAfterTheOther) {
  DigitTask task{.kind = Arithmetic::kDoubleAddition, .network = DigitNetworkKind::kLstm};
  const auto step = [](const DigitBatch& batch, int at) {
    return std::vector<std::uint16_t>(batch.inputs.begin() + at * batch.active,
                                      batch.inputs.begin() + (at + 1) * batch.active);
  };
  const std::vector<std::uint16_t> first = {2, 11, 24, 33, kNoInput, kNoInput, kNoInput, kNoInput};
  const std::vector<std::uint16_t> nothing(8, kNoInput);
  DigitBatch batch = passes(task, kTwoSums, kAllTargets).front();
  EXPECT_EQ(batch.steps, 6);
  EXPECT_EQ(step(batch, 0), step(batch, 5));
  EXPECT_EQ(step(batch, 0)[7], 77) << "all four numbers";
  EXPECT_EQ(batch.read_at, (std::vector<int>{5, 5, 5, 5}));
  EXPECT_EQ(step(passes(task, kTwoSums, 0).front(), 3), first) << "the other sum is hidden";
  EXPECT_EQ(step(passes(task, kTwoSums, 0, false).front(), 3), step(batch, 3)) << "unless it is not to be";

  task.mode = PairMode::kOnlyOneIo;
  batch = passes(task, kTwoSums, kAllTargets).front();
  EXPECT_EQ(step(batch, 2), first);
  EXPECT_NE(step(batch, 3), first);
  EXPECT_EQ(batch.read_at, (std::vector<int>{2, 2, 5, 5}));
  EXPECT_EQ(step(passes(task, kTwoSums, 1).front(), 0), nothing);
  task.mode = PairMode::kOnlyOne;
  EXPECT_EQ(passes(task, kTwoSums, kAllTargets).front().read_at, (std::vector<int>{5, 5, 5, 5}));

  const DigitTask products{.network = DigitNetworkKind::kLstm};
  EXPECT_EQ(passes(products, kProduct, 1).front().steps, 3);
}

}  // namespace
}  // namespace modlab
