#include "methods/sculpt/step_control.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace modlab::methods {
namespace {

TEST(StepControl, AcceptedStepsGoOnReachingFurther) {
  StepControl control(PruneSchedule::kLinear, 10, 0, 1);
  for (const double percent : {10.0, 20.0, 30.0}) {
    EXPECT_DOUBLE_EQ(*control.next(), percent);
    control.accept();
  }
}

TEST(StepControl, ARejectionHalvesTheStepAndTheLeastIsTriedOnce) {
  StepControl control(PruneSchedule::kLinear, 10, 0, 2);
  control.next();
  control.accept();
  for (const double percent : {20.0, 15.0, 12.5, 12.0}) {  // 2.5 / 2 is less than the least step
    ASSERT_TRUE(control.next());
    EXPECT_DOUBLE_EQ(*control.next(), percent);
    control.reject();
  }
  EXPECT_FALSE(control.next());
}

TEST(StepControl, TheLeastStepStaysAfterItWasAccepted) {
  StepControl control(PruneSchedule::kLinear, 2, 50, 2);
  control.next();
  control.accept();
  EXPECT_DOUBLE_EQ(*control.next(), 54);
  control.reject();
  EXPECT_FALSE(control.next());
}

TEST(StepControl, AHundredPercentAreNeverTried) {
  StepControl control(PruneSchedule::kLinear, 70, 0, 5);
  EXPECT_DOUBLE_EQ(*control.next(), 70);
  control.accept();
  EXPECT_DOUBLE_EQ(*control.next(), 87.5);  // 140 and 105 are out of the question
  control.accept();
  EXPECT_DOUBLE_EQ(*control.next(), 96.25);
}

TEST(StepControl, NoStepIsSmallerThanTheLeast) {
  StepControl control(PruneSchedule::kLinear, 0.5, 0, 4);
  EXPECT_DOUBLE_EQ(*control.next(), 4);
}

// The schedules' formulas (section 3.11 of the published behaviour), where every step is accepted.
TEST(StepControl, SchedulesAreThePublishedCurves) {
  const double g = 20;
  const auto expected = [&](PruneSchedule schedule, int i) {
    switch (schedule) {
      case PruneSchedule::kLinear:
        return g * i;
      case PruneSchedule::kLottery:
        return 100 - 100 * std::pow(1 - g / 100, i);
      case PruneSchedule::kExponential: {
        double sum = 0;
        for (int j = 0; j < i; ++j) {
          sum += g / std::pow(2, j);
        }
        return sum;
      }
      case PruneSchedule::kCosine:
        return 100 - 50 * (1 + std::cos(std::numbers::pi * i * g / 100));
      case PruneSchedule::kCubic:
        return 100 - 100 * std::pow(1 - i * g / 100, 3);
    }
    return 0.0;
  };
  for (const PruneSchedule schedule : {PruneSchedule::kLinear, PruneSchedule::kLottery, PruneSchedule::kExponential,
                                       PruneSchedule::kCosine, PruneSchedule::kCubic}) {
    StepControl control(schedule, g, 0, 0.01);
    for (int i = 1; i <= 4; ++i) {
      EXPECT_NEAR(*control.next(), expected(schedule, i), 1e-9) << static_cast<int>(schedule) << " " << i;
      control.accept();
    }
  }
}

}  // namespace
}  // namespace modlab::methods
