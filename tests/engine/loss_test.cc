#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

using engine::kParts;
using engine::kQuantities;
using engine::LossKind;

// -log of the probability given to the truth, at most 100 as in the published code.
double cross_entropy(double z, bool target) {
  const double x = target ? -z : z;
  return std::min(100.0, std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
}
double squared_error(double z, bool target) {
  const double p = 1 / (1 + std::exp(-z));
  return (p - (target ? 1 : 0)) * (p - (target ? 1 : 0));
}
double plain_loss(LossKind kind, double z, bool target) {
  return kind == LossKind::kBce ? cross_entropy(z, target) : squared_error(z, target);
}

class LossKernels : public test::KernelTest {};

TEST_P(LossKernels, GradientIsTheDerivativeOfTheMean) {
  for (const LossKind kind : {LossKind::kBce, LossKind::kMse}) {
    for (const int outputs : {1, 2, 3}) {
      for (const int rows : kAwkwardRows) {
        Buffer z = buffer(outputs, rows, -8, 8);
        Buffer targets = untouched(outputs, rows);
        for (int output = 0; output < outputs; ++output) {
          std::ranges::copy(choices(rows, 2), targets.unit(output));
        }
        const double scale = 1.0 / (rows * outputs);
        const Row before = row(1);
        Row loss = before;
        Buffer d = untouched(outputs, rows);
        kernels_.loss_gradient({.z = z.view(),
                                .targets = targets.view(),
                                .d = d.view(),
                                .scale = static_cast<float>(scale),
                                .loss = loss.data(),
                                .kind = kind,
                                .rows = rows,
                                .outputs = outputs});
        for (int lane = 0; lane < lanes_; ++lane) {
          double sum = 0;
          for (int output = 0; output < outputs; ++output) {
            for (int sample = 0; sample < rows; ++sample) {
              const double logit = value(z, output, sample, lane);
              const double target = value(targets, output, sample, lane);
              const double p = 1 / (1 + std::exp(-logit));
              const double slope = kind == LossKind::kBce ? 1 : 2 * p * (1 - p);
              sum += plain_loss(kind, logit, target == 1);
              ASSERT_NEAR(value(d, output, sample, lane), (p - target) * slope * scale, 1e-6);
            }
          }
          ASSERT_NEAR(loss[lane], before[lane] + sum * scale, 1e-5);
        }
        expect_spare_rows_untouched(d, outputs, rows);
      }
    }
  }
}

TEST_P(LossKernels, GradientOfExtremeLogitsIsTheSaturatedError) {
  Buffer z = untouched(2, 1);
  Buffer targets = untouched(2, 1);
  std::fill_n(z.unit(0), lanes_, 200.0F);
  std::fill_n(z.unit(1), lanes_, -200.0F);
  for (const float target : {0.0F, 1.0F}) {
    std::fill_n(targets.unit(0), lanes_, target);
    std::fill_n(targets.unit(1), lanes_, target);
    Row loss = same(1, 0);
    Buffer d = untouched(2, 1);
    kernels_.loss_gradient({.z = z.view(),
                            .targets = targets.view(),
                            .d = d.view(),
                            .scale = 0.5F,
                            .loss = loss.data(),
                            .kind = LossKind::kBce,
                            .rows = 1,
                            .outputs = 2});
    for (int lane = 0; lane < lanes_; ++lane) {
      EXPECT_NEAR(value(d, 0, 0, lane), 0.5 * (1 - target), 1e-6);
      EXPECT_NEAR(value(d, 1, 0, lane), 0.5 * (0 - target), 1e-6);
      EXPECT_NEAR(loss[lane], 50.0, 1e-4);  // one of the two is wrong without measure, which counts 100
    }
  }
}

TEST_P(LossKernels, ScoreCountsExactlyAndSortsByPart) {
  for (const LossKind kind : {LossKind::kBce, LossKind::kMse}) {
    for (const int outputs : {1, 2, 3, 16}) {
      for (const int rows : {1, 2, 3, 5, 7, 33, 64}) {
        Buffer z = buffer(outputs, rows, -5, 5);
        // Often exactly 0, which says "0".
        for (int output = 0; output < outputs; ++output) {
          for (int element = 0; element < rows * lanes_; ++element) {
            z.unit(output)[element] = below(4) == 0 ? 0.0F : z.unit(output)[element];
          }
        }
        std::vector<std::uint32_t> targets(rows);
        for (std::uint32_t& target : targets) {
          // Bits above the outputs belong to others and must not count.
          target = static_cast<std::uint32_t>(random_());
        }
        const Row part = choices(rows, kParts);
        Row sums = same(kParts * kQuantities, 1000);
        kernels_.score({.z = z.view(),
                        .targets = targets.data(),
                        .part = part.data(),
                        .sums = sums.data(),
                        .kind = kind,
                        .rows = rows,
                        .outputs = outputs});
        for (int lane = 0; lane < lanes_; ++lane) {
          double expected[kParts][kQuantities] = {};
          for (int sample = 0; sample < rows; ++sample) {
            auto& mine = expected[static_cast<int>(part[at(sample, lane)])];
            int right = 0;
            for (int output = 0; output < outputs; ++output) {
              const bool target = ((targets[sample] >> output) & 1U) != 0;
              const double logit = value(z, output, sample, lane);
              right += (logit > 0) == target ? 1 : 0;
              mine[0] += plain_loss(kind, logit, target);
            }
            mine[1] += right;
            mine[2] += right == outputs ? 1 : 0;
          }
          for (int which = 0; which < kParts; ++which) {
            const auto counted = [&](int quantity) { return sums[at(which * kQuantities + quantity, lane)] - 1000; };
            ASSERT_NEAR(counted(0), expected[which][0], 1e-2) << rows << " rows, lane " << lane;
            ASSERT_EQ(counted(1), expected[which][1]) << rows << " rows, lane " << lane;
            ASSERT_EQ(counted(2), expected[which][2]) << rows << " rows, lane " << lane;
          }
        }
      }
    }
  }
}

TEST_P(LossKernels, ScoreOfOneRowIsAccurate) {
  for (float logit = -20; logit <= 20; logit += 0.37F) {
    for (const std::uint32_t target : {0U, 1U}) {
      Buffer z = untouched(1, 1);
      std::fill_n(z.unit(0), lanes_, logit);
      const Row part = same(1, 0);
      for (const LossKind kind : {LossKind::kBce, LossKind::kMse}) {
        Row sums = same(kParts * kQuantities, 0);
        kernels_.score({.z = z.view(),
                        .targets = &target,
                        .part = part.data(),
                        .sums = sums.data(),
                        .kind = kind,
                        .rows = 1,
                        .outputs = 1});
        const double expected = plain_loss(kind, logit, target == 1);
        for (int lane = 0; lane < lanes_; ++lane) {
          ASSERT_NEAR(sums[lane], expected, 3e-7 + 3e-7 * expected) << "logit " << logit << ", target " << target;
        }
      }
    }
  }
}

TEST_P(LossKernels, LossOfExtremeLogitsEndsAt100) {
  for (const float logit : {200.0F, -200.0F, 1e30F, -1e30F}) {
    for (const std::uint32_t target : {0U, 1U}) {
      Buffer z = untouched(1, 1);
      std::fill_n(z.unit(0), lanes_, logit);
      const Row part = same(1, 2);
      Row sums = same(kParts * kQuantities, 0);
      kernels_.score({.z = z.view(),
                      .targets = &target,
                      .part = part.data(),
                      .sums = sums.data(),
                      .kind = LossKind::kBce,
                      .rows = 1,
                      .outputs = 1});
      const bool right = (logit > 0) == (target == 1);
      for (int lane = 0; lane < lanes_; ++lane) {
        EXPECT_NEAR(sums[at(2 * kQuantities, lane)], right ? 0 : 100, 1e-4);
        EXPECT_EQ(sums[at(2 * kQuantities + 1, lane)], right ? 1 : 0);
      }
    }
  }
}

TEST_P(LossKernels, WhatIsNotANumberStaysInItsLaneAndShowsInItsLoss) {
  Buffer z = untouched(1, 1);
  std::fill_n(z.unit(0), lanes_, 1.0F);
  z.unit(0)[0] = std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t target = 1;
  const Row part = same(1, 0);
  Row sums = same(kParts * kQuantities, 0);
  kernels_.score({.z = z.view(),
                  .targets = &target,
                  .part = part.data(),
                  .sums = sums.data(),
                  .kind = LossKind::kBce,
                  .rows = 1,
                  .outputs = 1});
  EXPECT_TRUE(std::isnan(sums[0]));
  for (int lane = 1; lane < lanes_; ++lane) {
    EXPECT_NEAR(sums[lane], cross_entropy(1, true), 1e-6);
    EXPECT_EQ(sums[at(1, lane)], 1);
  }
}

MODLAB_ON_EVERY_TARGET(LossKernels);

}  // namespace
}  // namespace modlab
