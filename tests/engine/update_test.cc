// The optimisers against PyTorch's formulas (1.12), one parameter at a time in double precision.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

using engine::OptimizerKind;

struct PlainOptimizer {
  OptimizerKind kind;
  double rate;
  double weight_decay;
  double parameter;
  double first = 0;
  double second = 0;

  void update(double gradient, int step) {
    if (kind == OptimizerKind::kAdamW) {
      parameter *= 1 - rate * weight_decay;
    } else {
      gradient += weight_decay * parameter;
    }
    switch (kind) {
      case OptimizerKind::kAdam:
      case OptimizerKind::kAdamW: {
        first = 0.9 * first + 0.1 * gradient;
        second = 0.999 * second + 0.001 * gradient * gradient;
        const double denominator = std::sqrt(second / (1 - std::pow(0.999, step))) + 1e-8;
        parameter -= rate * first / (1 - std::pow(0.9, step)) / denominator;
        break;
      }
      case OptimizerKind::kSgd:
        parameter -= rate * gradient;
        break;
      case OptimizerKind::kMomentum:
        first = 0.9 * first + gradient;
        parameter -= rate * (gradient + 0.9 * first);
        break;
      case OptimizerKind::kRmsprop:
        second = 0.99 * second + 0.01 * gradient * gradient;
        parameter -= rate * gradient / (std::sqrt(second) + 1e-8);
        break;
    }
  }
};

class UpdateKernels : public test::KernelTest {};

TEST_P(UpdateKernels, FiveStepsOfEveryOptimizer) {
  constexpr int kCount = 7;
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kSgd,
                                   OptimizerKind::kMomentum, OptimizerKind::kRmsprop}) {
    for (const bool masked : {false, true}) {
      const Row rate = row(1, 0.001F, 0.1F);
      const Row weight_decay = row(1, 0.0F, 0.1F);
      const Row mask = choices(kCount, 2);
      Row parameters = row(kCount);
      Row first = same(kCount, 0);
      Row second = same(kCount, 0);
      std::vector<PlainOptimizer> plain;
      for (int index = 0; index < kCount; ++index) {
        for (int lane = 0; lane < lanes_; ++lane) {
          float& parameter = parameters[at(index, lane)];
          parameter *= masked ? mask[at(index, lane)] : 1.0F;
          plain.push_back({kind, rate[lane], weight_decay[lane], parameter});
        }
      }
      for (int step = 1; step <= 5; ++step) {
        // From tiny to large: Adam's step hardly depends on the size, the others' do.
        Row gradients = row(kCount);
        for (float& gradient : gradients) {
          gradient *= std::pow(10.0F, number(-4, 1));
        }
        for (std::size_t element = 0; element < plain.size(); ++element) {
          if (!masked || mask[element] == 1.0F) {
            plain[element].update(gradients[element], step);
          }
        }
        kernels_.update({.kind = kind,
                         .parameters = parameters.data(),
                         .gradients = gradients.data(),
                         .first = first.data(),
                         .second = second.data(),
                         .mask = masked ? mask.data() : nullptr,
                         .rate = rate.data(),
                         .weight_decay = weight_decay.data(),
                         .scales = engine::AdamScales::after(step),
                         .count = kCount});
        for (std::size_t element = 0; element < plain.size(); ++element) {
          ASSERT_NEAR(parameters[element], plain[element].parameter, 2e-6 + 2e-6 * std::abs(plain[element].parameter))
              << "optimizer " << static_cast<int>(kind) << ", step " << step << ", element " << element;
          if (masked && mask[element] == 0.0F) {
            ASSERT_EQ(parameters[element], 0.0F);
          }
          // Ready for the next step.
          ASSERT_EQ(gradients[element], 0.0F);
        }
      }
    }
  }
}

// Without a gradient of the loss, coupled weight decay alone moves a parameter by about the learning rate.
TEST_P(UpdateKernels, AdamDriftsThroughZeroOnWeightDecayAlone) {
  Row parameters = same(1, 0.9F);
  Row gradients = same(1, 0);
  Row first = same(1, 0);
  Row second = same(1, 0);
  const Row rate = same(1, 0.1F);
  const Row weight_decay = same(1, 1e-3F);
  struct Point {
    int step;
    double parameter;
  };
  constexpr Point kSpec[] = {{1, 0.80}, {5, 0.41}, {10, -0.007}, {15, -0.24}, {30, 0.03}};
  int step = 0;
  for (const Point& point : kSpec) {
    while (step < point.step) {
      ++step;
      kernels_.update({.kind = OptimizerKind::kAdam,
                       .parameters = parameters.data(),
                       .gradients = gradients.data(),
                       .first = first.data(),
                       .second = second.data(),
                       .mask = nullptr,
                       .rate = rate.data(),
                       .weight_decay = weight_decay.data(),
                       .scales = engine::AdamScales::after(step),
                       .count = 1});
    }
    for (const float parameter : parameters) {
      EXPECT_NEAR(parameter, point.parameter, 0.01) << "after " << point.step << " steps";
    }
  }
}

TEST_P(UpdateKernels, KeepLanesCopiesTheChosenLanesOnly) {
  constexpr int kCount = 5;
  const Row from = row(kCount);
  const Row before = row(kCount);
  for (int pattern = 0; pattern < 8; ++pattern) {
    Row keep = choices(1, 2);
    if (pattern < 2) {
      std::fill(keep.begin(), keep.end(), static_cast<float>(pattern));
    }
    Row to = before;
    kernels_.keep_lanes(keep.data(), from.data(), to.data(), kCount);
    for (int index = 0; index < kCount; ++index) {
      for (int lane = 0; lane < lanes_; ++lane) {
        ASSERT_EQ(to[at(index, lane)], (keep[lane] != 0 ? from : before)[at(index, lane)]);
      }
    }
  }
}

TEST_P(UpdateKernels, AddToAddsElementByElement) {
  constexpr int kCount = 9;
  const Row from = row(kCount);
  const Row before = row(kCount + 1);
  Row to = before;
  kernels_.add_to(from.data(), to.data(), kCount);
  for (std::size_t element = 0; element < from.size(); ++element) {
    ASSERT_EQ(to[element], from[element] + before[element]);
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    ASSERT_EQ(to[at(kCount, lane)], before[at(kCount, lane)]);
  }
}

MODLAB_ON_EVERY_TARGET(UpdateKernels);

}  // namespace
}  // namespace modlab
