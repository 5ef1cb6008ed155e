#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/kernels/kernels.h"
#include "engine/solo/kernels.h"

namespace modlab::engine::solo {
namespace {

AlignedVector<float> drawn(const std::string& target, int count, std::uint32_t step = 0, std::uint32_t use = 0,
                           std::uint64_t seed = 7) {
  AlignedVector<float> out(static_cast<std::size_t>(count));
  kernels_for(target).normals({stream_key(seed, Stream::kSamples), step, use, out.data(), count});
  return out;
}

TEST(Normals, TheSameOnEveryTargetAndHoweverManyAreAskedFor) {
  const AlignedVector<float> scalar = drawn("scalar", 256);
  for (const std::string& target : supported_targets()) {
    EXPECT_EQ(drawn(target, 256), scalar) << target;
  }
  const AlignedVector<float> fewer = drawn("scalar", 64);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), scalar.begin()));
}

TEST(Normals, StepsUsesAndSeedsHaveTheirOwn) {
  const AlignedVector<float> first = drawn("scalar", 64);
  for (const AlignedVector<float>& other :
       {drawn("scalar", 64, 1), drawn("scalar", 64, 0, 1), drawn("scalar", 64, 0, 0, 8)}) {
    for (std::size_t place = 0; place < first.size(); ++place) {
      EXPECT_NE(first[place], other[place]);
    }
  }
}

TEST(Normals, AreNormal) {
  constexpr int kCount = 1 << 18;
  const AlignedVector<float> values = drawn(supported_targets().front(), kCount, 3);
  double moments[5] = {};
  double neighbours = 0;
  for (int place = 0; place < kCount; ++place) {
    const double value = values[static_cast<std::size_t>(place)];
    for (int power = 1; power <= 4; ++power) {
      moments[power] += std::pow(value, power) / kCount;
    }
    neighbours += place > 0 ? value * values[static_cast<std::size_t>(place) - 1] / kCount : 0;
  }
  const double error = 1 / std::sqrt(kCount);
  EXPECT_NEAR(moments[1], 0, 4 * error);
  EXPECT_NEAR(moments[2], 1, 4 * std::sqrt(2.0) * error);
  EXPECT_NEAR(moments[3], 0, 4 * std::sqrt(15.0) * error);
  EXPECT_NEAR(moments[4], 3, 4 * std::sqrt(96.0) * error);
  EXPECT_NEAR(neighbours, 0, 4 * error);
}

}  // namespace
}  // namespace modlab::engine::solo
