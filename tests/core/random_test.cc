#include "core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace modlab {
namespace {

// The known answers that Random123, the authors' library, publishes for threefry4x32 with 13 rounds.
TEST(Threefry, GivesTheAuthorsKnownAnswers) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(threefry({0, 0, 0, 0}, {0, 0, 0, 0}), (Words4{0x531c7e4f, 0x39491ee5, 0x2c855a92, 0x3d6abf9a}));
  EXPECT_EQ(threefry({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes}),
            (Words4{0xc4189358, 0x1c9cc83a, 0xd5881c67, 0x6a0a89e0}));
  EXPECT_EQ(
      threefry({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89}),
      (Words4{0x4aa71d8f, 0x734738c2, 0x431fc6a8, 0xae6debf1}));
}

TEST(StreamKey, DiffersForEverySeedAndPurpose) {
  std::set<Words4> keys;
  const std::uint64_t seeds[] = {0, 1, 2, 0xffffffff, 0x100000000, 0x100000001, ~std::uint64_t{0}};
  const Stream streams[] = {Stream::kInitialWeights, Stream::kMask, Stream::kBatchOrder, Stream::kInputNoise,
                            Stream::kGumbel};
  for (const std::uint64_t seed : seeds) {
    for (const Stream stream : streams) {
      keys.insert(stream_key(seed, stream));
    }
  }
  EXPECT_EQ(keys.size(), std::size(seeds) * std::size(streams));
}

TEST(RandomSequence, IsThreefryOfCountedBlocks) {
  RandomSequence random(77, Stream::kMask);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : threefry({block, 0, 0, 0}, stream_key(77, Stream::kMask))) {
      EXPECT_EQ(random.next_word(), word);
    }
  }
}

// Bounds are five standard errors of each estimate.
TEST(RandomSequence, UniformsAreUniform) {
  constexpr int kCount = 400'000;
  RandomSequence random(3, Stream::kInitialWeights);
  double sum = 0;
  double squares = 0;
  double products = 0;
  double previous = 0.5;
  for (int index = 0; index < kCount; ++index) {
    const double value = random.next_uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += (value - 0.5) * (value - 0.5);
    products += (value - 0.5) * (previous - 0.5);
    previous = value;
  }
  const double error = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(sum / kCount, 0.5, error * std::sqrt(1.0 / 12));
  EXPECT_NEAR(squares / kCount, 1.0 / 12, error * std::sqrt(1.0 / 180));
  EXPECT_NEAR(products / kCount, 0, error / 12);
}

TEST(RandomSequence, NormalsAreNormal) {
  constexpr int kCount = 400'000;
  RandomSequence random(4, Stream::kInitialWeights);
  double moments[5] = {};
  int beyond_two = 0;
  for (int index = 0; index < kCount; ++index) {
    const double value = random.next_normal();
    ASSERT_TRUE(std::isfinite(value));
    for (int power = 1; power <= 4; ++power) {
      moments[power] += std::pow(value, power) / kCount;
    }
    beyond_two += std::abs(value) > 2 ? 1 : 0;
  }
  const double error = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(moments[1], 0, error);
  EXPECT_NEAR(moments[2], 1, error * std::sqrt(2.0));
  EXPECT_NEAR(moments[3], 0, error * std::sqrt(15.0));
  EXPECT_NEAR(moments[4], 3, error * std::sqrt(96.0));
  const double tail = std::erfc(2 / std::sqrt(2.0));
  EXPECT_NEAR(static_cast<double>(beyond_two) / kCount, tail, error * std::sqrt(tail * (1 - tail)));
}

}  // namespace
}  // namespace modlab
