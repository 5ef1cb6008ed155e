#include "core/numpy_random.h"

#include <gtest/gtest.h>

#include <vector>

namespace modlab {
namespace {

// numpy.random.RandomState(0).randn(8).
TEST(NumpyRandom, NormalsOfSeedZero) {
  NumpyRandom random(0);
  for (const double expected :
       {1.76405235, 0.40015721, 0.97873798, 2.24089320, 1.86755799, -0.97727788, 0.95008842, -0.15135721}) {
    EXPECT_NEAR(random.normal(), expected, 5e-9);
  }
}

TEST(NumpyRandom, OtherSeeds) {
  NumpyRandom random(1);
  for (const double expected : {1.624345, -0.611756, -0.528172, -1.072969, 0.865408, -2.301539, 1.744812, -0.761207}) {
    EXPECT_NEAR(random.normal(), expected, 5e-7);
  }
}

TEST(NumpyRandom, UniformsLieBelowOneAndAreTheOnesThatNormalsAreMadeOf) {
  // numpy.random.RandomState(0).rand(3).
  NumpyRandom random(0);
  for (const double expected : {0.5488135039, 0.7151893664, 0.6027633761}) {
    EXPECT_NEAR(random.uniform(), expected, 1e-10);
  }
  for (int draw = 0; draw < 1000; ++draw) {
    const double value = random.uniform();
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
}

// numpy.random.RandomState(seed).permutation(count).
TEST(NumpyRandom, Permutations) {
  using Order = std::vector<std::uint32_t>;
  EXPECT_EQ(NumpyRandom(1).permutation(10), (Order{2, 9, 6, 4, 0, 3, 1, 7, 8, 5}));
  EXPECT_EQ(NumpyRandom(10).permutation(10), (Order{8, 2, 5, 6, 3, 1, 0, 7, 4, 9}));
  EXPECT_EQ(NumpyRandom(3).permutation(1), (Order{0}));
  EXPECT_EQ(NumpyRandom(3).permutation(0), Order{});
}

}  // namespace
}  // namespace modlab
