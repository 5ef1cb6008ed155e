// The dense kernels against sums written out, one lane at a time in double precision.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

// Float sums of up to 37 terms below 1.
constexpr double kTolerance = 1e-5;
constexpr int kAwkwardWidths[] = {1, 2, 3, 5, 6, 9, 36, 37};

class DenseKernels : public test::KernelTest {};

TEST_P(DenseKernels, ForwardIsTheSumOfProducts) {
  for (const int rows : kAwkwardRows) {
    for (const int in : kAwkwardWidths) {
      for (const int out : kAwkwardWidths) {
        const bool relu = (rows + in + out) % 2 == 0;
        Buffer x = buffer(in, rows);
        const Row weights = row(out * in);
        const Row bias = row(out);
        Buffer y = untouched(out, rows);
        kernels_.dense_forward({.x = x.view(),
                                .weights = weights.data(),
                                .bias = bias.data(),
                                .y = y.view(),
                                .rows = rows,
                                .in = in,
                                .out = out,
                                .relu = relu});
        for (int lane = 0; lane < lanes_; ++lane) {
          for (int sample = 0; sample < rows; ++sample) {
            for (int unit_out = 0; unit_out < out; ++unit_out) {
              double sum = bias[at(unit_out, lane)];
              for (int unit_in = 0; unit_in < in; ++unit_in) {
                sum +=
                    static_cast<double>(weights[at(unit_out * in + unit_in, lane)]) * value(x, unit_in, sample, lane);
              }
              ASSERT_NEAR(value(y, unit_out, sample, lane), relu ? std::max(0.0, sum) : sum, kTolerance)
                  << rows << " rows, " << in << " to " << out << ", lane " << lane;
            }
          }
        }
        expect_spare_rows_untouched(y, out, rows);
      }
    }
  }
}

TEST_P(DenseKernels, InputGradientIsZeroWhereTheUnitWasSilent) {
  for (const int rows : kAwkwardRows) {
    for (const int in : kAwkwardWidths) {
      for (const int out : kAwkwardWidths) {
        const bool relu = (rows + in + out) % 2 == 0;
        Buffer x = buffer(in, rows);
        // Exactly zero is what a ReLU leaves.
        for (int unit_in = 0; unit_in < in; ++unit_in) {
          for (int element = 0; element < rows * lanes_; ++element) {
            x.unit(unit_in)[element] = std::max(0.0F, x.unit(unit_in)[element]);
          }
        }
        Buffer dy = buffer(out, rows);
        const Row weights = row(out * in);
        Buffer dx = untouched(in, rows);
        kernels_.dense_input_gradient({.dy = dy.view(),
                                       .weights = weights.data(),
                                       .x = x.view(),
                                       .dx = dx.view(),
                                       .rows = rows,
                                       .in = in,
                                       .out = out,
                                       .relu = relu});
        for (int lane = 0; lane < lanes_; ++lane) {
          for (int sample = 0; sample < rows; ++sample) {
            for (int unit_in = 0; unit_in < in; ++unit_in) {
              double sum = 0;
              for (int unit_out = 0; unit_out < out; ++unit_out) {
                sum +=
                    static_cast<double>(weights[at(unit_out * in + unit_in, lane)]) * value(dy, unit_out, sample, lane);
              }
              const bool silent = relu && value(x, unit_in, sample, lane) == 0;
              ASSERT_NEAR(value(dx, unit_in, sample, lane), silent ? 0 : sum, silent ? 0 : kTolerance)
                  << rows << " rows, " << in << " to " << out << ", lane " << lane;
            }
          }
        }
        expect_spare_rows_untouched(dx, in, rows);
      }
    }
  }
}

TEST_P(DenseKernels, WeightGradientIsAddedToWhatIsThere) {
  for (const int rows : kAwkwardRows) {
    for (const int in : kAwkwardWidths) {
      for (const int out : kAwkwardWidths) {
        Buffer x = buffer(in, rows);
        Buffer dy = buffer(out, rows);
        const Row weights_before = row(out * in);
        const Row bias_before = row(out);
        Row weights = weights_before;
        Row bias = bias_before;
        kernels_.dense_weight_gradient({.x = x.view(),
                                        .dy = dy.view(),
                                        .weights = weights.data(),
                                        .bias = bias.data(),
                                        .rows = rows,
                                        .in = in,
                                        .out = out});
        for (int lane = 0; lane < lanes_; ++lane) {
          for (int unit_out = 0; unit_out < out; ++unit_out) {
            double bias_sum = bias_before[at(unit_out, lane)];
            for (int sample = 0; sample < rows; ++sample) {
              bias_sum += value(dy, unit_out, sample, lane);
            }
            ASSERT_NEAR(bias[at(unit_out, lane)], bias_sum, kTolerance);
            for (int unit_in = 0; unit_in < in; ++unit_in) {
              double sum = weights_before[at(unit_out * in + unit_in, lane)];
              for (int sample = 0; sample < rows; ++sample) {
                sum += value(dy, unit_out, sample, lane) * value(x, unit_in, sample, lane);
              }
              ASSERT_NEAR(weights[at(unit_out * in + unit_in, lane)], sum, kTolerance)
                  << rows << " rows, " << in << " to " << out << ", lane " << lane;
            }
          }
        }
      }
    }
  }
}

MODLAB_ON_EVERY_TARGET(DenseKernels);

}  // namespace
}  // namespace modlab
