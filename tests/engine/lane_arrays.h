#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/kernels/kernels.h"
#include "engine/network.h"

namespace modlab::test {

// Arrays of lanes for tests of the kernels. Numbers differ in every lane, and the units of a buffer have more rows than
// are asked for: what a kernel reads from or writes to a wrong place shows.
class KernelTest : public testing::TestWithParam<std::string> {
 protected:
  using Row = AlignedVector<float>;
  using Buffer = engine::UnitBuffer<float>;

  static constexpr int kSpareRows = 2;
  static constexpr float kUntouched = -12345.0F;
  static constexpr int kAwkwardRows[] = {1, 2, 3, 5, 7, 33};

  KernelTest() : kernels_(engine::kernels_for(GetParam())), lanes_(kernels_.lanes) {}

  float number(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  Row row(int count, float low = -1, float high = 1) {
    Row values(static_cast<std::size_t>(count) * lanes_);
    for (float& value : values) {
      value = number(low, high);
    }
    return values;
  }
  Row same(int count, float value) const { return Row(static_cast<std::size_t>(count) * lanes_, value); }
  // Whole numbers below `bound`, as picks and tasks are.
  Row choices(int count, int bound) {
    Row values(static_cast<std::size_t>(count) * lanes_);
    for (float& value : values) {
      value = static_cast<float>(below(bound));
    }
    return values;
  }

  Buffer buffer(int units, int rows, float low = -1, float high = 1) {
    Buffer values = untouched(units, rows);
    for (int unit = 0; unit < units; ++unit) {
      for (int element = 0; element < rows * lanes_; ++element) {
        values.unit(unit)[element] = number(low, high);
      }
    }
    return values;
  }
  Buffer untouched(int units, int rows) const {
    Buffer values(units, rows + kSpareRows, lanes_);
    std::fill_n(values.unit(0), units * values.stride(), kUntouched);
    return values;
  }
  // Rows behind the last one are as they were.
  void expect_spare_rows_untouched(Buffer& values, int units, int rows) const {
    for (int unit = 0; unit < units; ++unit) {
      for (int element = rows * lanes_; element < (rows + kSpareRows) * lanes_; ++element) {
        ASSERT_EQ(values.unit(unit)[element], kUntouched) << "unit " << unit << ", element " << element;
      }
    }
  }

  std::size_t at(int index, int lane) const { return static_cast<std::size_t>(index) * lanes_ + lane; }
  double value(Buffer& values, int unit, int row, int lane) const { return values.unit(unit)[at(row, lane)]; }

  const engine::Kernels<float>& kernels_;
  int lanes_;
  std::mt19937 random_{20250101};
};

inline std::string target_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace modlab::test

// Runs a suite of kernel tests on every target that this machine has.
#define MODLAB_ON_EVERY_TARGET(suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(Targets, suite, testing::ValuesIn(modlab::engine::supported_targets()), \
                           modlab::test::target_name)
