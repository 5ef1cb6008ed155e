#include "tasks/arithmetic.h"

#include <gtest/gtest.h>

namespace modlab {
namespace {

using tasks::Arithmetic;

TEST(Arithmetic, ResultsAreTheLastDigits) {
  EXPECT_EQ(tasks::arithmetic_result(37, 64, 0, 2), 1);
  EXPECT_EQ(tasks::arithmetic_result(37, 64, 1, 2), 68);
  EXPECT_EQ(tasks::arithmetic_result(12, 34, 1, 2), 8);
  EXPECT_EQ(tasks::arithmetic_result(9999, 9999, 1, 4), 1);
  EXPECT_EQ(tasks::digit_of(37, 0), 7) << "the least significant first";
  EXPECT_EQ(tasks::digit_of(37, 1), 3);
}

// Sums and products agree where (a - 1)(b - 1) is 1 more than a multiple of the base: 40 of 10,000 pairs, 4 of 100.
TEST(Arithmetic, OperationsAgreeSeldom) {
  for (const auto& [digits, end, expected] : {std::tuple{2, 100, 40}, std::tuple{1, 10, 4}}) {
    int same = 0;
    for (int first = 0; first < end; ++first) {
      for (int second = 0; second < end; ++second) {
        same +=
            tasks::arithmetic_result(first, second, 0, digits) == tasks::arithmetic_result(first, second, 1, digits);
      }
    }
    EXPECT_EQ(same, expected);
  }
}

TEST(Arithmetic, SamplesCoverEverythingEvenly) {
  const auto samples = tasks::draw_arithmetic(Arithmetic::kAddMul, 2, tasks::kArithmeticTestSeed, 20'000);
  ASSERT_EQ(samples.size(), 20'000U);
  double sum = 0;
  int products = 0;
  for (const tasks::ArithmeticSample& sample : samples) {
    ASSERT_LT(sample.numbers[0], 100);
    sum += sample.numbers[1];
    products += sample.operation;
    EXPECT_EQ(sample.numbers[2], 0);
  }
  EXPECT_NEAR(sum / 20'000, 49.5, 1);
  EXPECT_NEAR(products, 10'000, 300);
  const auto pairs = tasks::draw_arithmetic(Arithmetic::kDoubleAddition, 1, 1, 1000);
  EXPECT_TRUE(std::ranges::any_of(pairs, [](const auto& sample) { return sample.numbers[3] == 9; }));
}

}  // namespace
}  // namespace modlab
