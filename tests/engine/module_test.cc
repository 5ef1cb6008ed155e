// The module kernels (one hidden layer, one output) against the textbook, one lane at a time in double precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

constexpr double kTolerance = 2e-5;
constexpr int kHiddenWidths[] = {1, 2, 3, 7, 12, 13};

// Where the parts of a module's parameters begin.
struct Places {
  int fan_in;
  int hidden;

  int w1(int unit, int position) const { return unit * fan_in + position; }
  int b1(int unit) const { return hidden * fan_in + unit; }
  int w2(int unit) const { return hidden * (fan_in + 1) + unit; }
  int b2() const { return hidden * (fan_in + 2); }
  int count() const { return b2() + 1; }
};

class ModuleKernels : public test::KernelTest {
 protected:
  double hidden_value(const Places& places, const Row& parameters, Buffer& z, int unit, int sample, int lane) const {
    double sum = parameters[at(places.b1(unit), lane)];
    for (int position = 0; position < places.fan_in; ++position) {
      sum += static_cast<double>(parameters[at(places.w1(unit, position), lane)]) * value(z, position, sample, lane);
    }
    return sum;
  }
};

TEST_P(ModuleKernels, ForwardIsTheModulesFormula) {
  for (int fan_in = 1; fan_in <= engine::kMaxModuleFanIn; ++fan_in) {
    for (const int hidden : kHiddenWidths) {
      for (const int rows : {1, 2, 3, 4, 5, 7, 8, 13, 33}) {
        const Places places{fan_in, hidden};
        Buffer z = buffer(fan_in, rows);
        const Row parameters = row(places.count());
        Buffer out = untouched(1, rows);
        kernels_.module_forward({.z = z.view(),
                                 .parameters = parameters.data(),
                                 .out = out.unit(0),
                                 .rows = rows,
                                 .fan_in = fan_in,
                                 .hidden = hidden});
        for (int lane = 0; lane < lanes_; ++lane) {
          for (int sample = 0; sample < rows; ++sample) {
            double sum = parameters[at(places.b2(), lane)];
            for (int unit = 0; unit < hidden; ++unit) {
              sum += parameters[at(places.w2(unit), lane)] *
                     std::max(0.0, hidden_value(places, parameters, z, unit, sample, lane));
            }
            ASSERT_NEAR(value(out, 0, sample, lane), sum, kTolerance)
                << fan_in << "-" << hidden << "-1, " << rows << " rows, lane " << lane;
          }
        }
        expect_spare_rows_untouched(out, 1, rows);
      }
    }
  }
}

TEST_P(ModuleKernels, BackwardIsTheDerivativeOfTheFormula) {
  for (int fan_in = 1; fan_in <= engine::kMaxModuleFanIn; ++fan_in) {
    for (const int hidden : kHiddenWidths) {
      for (const int rows : kAwkwardRows) {
        const Places places{fan_in, hidden};
        Buffer z = buffer(fan_in, rows);
        Buffer dout = buffer(1, rows);
        const Row parameters = row(places.count());
        const Row before = row(places.count());
        Row gradients = before;
        Buffer dz = untouched(fan_in, rows);
        kernels_.module_backward({.z = z.view(),
                                  .parameters = parameters.data(),
                                  .dout = dout.unit(0),
                                  .dz = dz.view(),
                                  .gradients = gradients.data(),
                                  .overwrite = false,
                                  .rows = rows,
                                  .fan_in = fan_in,
                                  .hidden = hidden});
        for (int lane = 0; lane < lanes_; ++lane) {
          std::vector<double> expected;
          for (int parameter = 0; parameter < places.count(); ++parameter) {
            expected.push_back(before[at(parameter, lane)]);
          }
          for (int sample = 0; sample < rows; ++sample) {
            const double d = value(dout, 0, sample, lane);
            std::vector<double> expected_dz(fan_in, 0.0);
            expected[places.b2()] += d;
            for (int unit = 0; unit < hidden; ++unit) {
              const double sum = hidden_value(places, parameters, z, unit, sample, lane);
              expected[places.w2(unit)] += d * std::max(0.0, sum);
              const double dhidden = sum > 0 ? d * parameters[at(places.w2(unit), lane)] : 0;
              expected[places.b1(unit)] += dhidden;
              for (int position = 0; position < fan_in; ++position) {
                expected[places.w1(unit, position)] += dhidden * value(z, position, sample, lane);
                expected_dz[position] += dhidden * parameters[at(places.w1(unit, position), lane)];
              }
            }
            for (int position = 0; position < fan_in; ++position) {
              ASSERT_NEAR(value(dz, position, sample, lane), expected_dz[position], kTolerance)
                  << fan_in << "-" << hidden << "-1, " << rows << " rows, lane " << lane;
            }
          }
          for (int parameter = 0; parameter < places.count(); ++parameter) {
            ASSERT_NEAR(gradients[at(parameter, lane)], expected[parameter], kTolerance)
                << fan_in << "-" << hidden << "-1, " << rows << " rows, lane " << lane << ", parameter " << parameter;
          }
        }
        expect_spare_rows_untouched(dz, fan_in, rows);
      }
    }
  }
}

MODLAB_ON_EVERY_TARGET(ModuleKernels);

}  // namespace
}  // namespace modlab
