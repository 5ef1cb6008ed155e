#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/solo/kernels.h"

// Solo kernels against numbers that are written out in double precision, and the same bits from every target.
namespace modlab::engine::solo {

// Sums of up to a few thousand terms below 1; what comes from a wrong place is off by tenths.
inline constexpr double kFloatTolerance = 2e-4;
inline constexpr double kDoubleTolerance = 1e-10;
// Rows behind the last one, to see whether a kernel writes there.
inline constexpr int kSpareRows = 2;
inline constexpr double kUntouched = -12345;

template <typename T>
AlignedVector<T> aligned(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Numbers that float and double hold alike.
class Numbers {
 public:
  double next() { return std::uniform_real_distribution<float>(-1, 1)(random_); }
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(1 + below(255)); }

  std::vector<double> list(std::size_t count) {
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return next(); });
    return values;
  }
  // [row][padded unit], padding zero.
  std::vector<double> rows(int count, int units) {
    std::vector<double> values(static_cast<std::size_t>(count) * padded(units));
    for (int row = 0; row < count; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        values[static_cast<std::size_t>(row) * padded(units) + unit] = next();
      }
    }
    return values;
  }

 private:
  std::mt19937 random_{20250101};
};

// `run` takes kernels of any precision and gives what they made of one case.
template <typename Run>
void expect_everywhere(const std::vector<double>& expected, const Run& run) {
  const auto expect_near = [&](const auto& found, double tolerance, const char* target) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
      ASSERT_NEAR(found[at], expected[at], tolerance * std::max(1.0, std::abs(expected[at])))
          << target << ", element " << at;
    }
  };
  expect_near(run(oracle_kernels()), kDoubleTolerance, oracle_kernels().target);
  AlignedVector<float> first;
  for (const std::string& target : supported_targets()) {
    const Kernels<float>& kernels = kernels_for(target);
    EXPECT_EQ(kernels.target, target);
    const AlignedVector<float> found = run(kernels);
    expect_near(found, kFloatTolerance, kernels.target);
    if (first.empty()) {
      first = found;
    }
    EXPECT_EQ(std::memcmp(found.data(), first.data(), first.size() * sizeof(float)), 0)
        << target << " has other bits than " << supported_targets().front();
  }
}

}  // namespace modlab::engine::solo
