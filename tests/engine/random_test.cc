// The lanes' random numbers: the words are those of core/random.h, and the noise made of them has the right
// distribution. Bounds are five standard errors of each estimate.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "engine/lane_arrays.h"

namespace modlab {
namespace {

constexpr int kNumbers = 1'000'000;

class RandomKernels : public test::KernelTest {
 protected:
  // Neighbouring lanes have neighbouring seeds, as in most populations.
  std::vector<std::uint32_t> keys(Stream stream) const {
    std::vector<std::uint32_t> words(4 * lanes_);
    for (int lane = 0; lane < lanes_; ++lane) {
      const Words4 key = stream_key(static_cast<std::uint64_t>(lane), stream);
      for (int word = 0; word < 4; ++word) {
        words[at(word, lane)] = key[word];
      }
    }
    return words;
  }
};

TEST_P(RandomKernels, WordsAreThreefryOfEachLanesKey) {
  std::vector<std::uint32_t> many_keys(4 * lanes_);
  for (std::uint32_t& word : many_keys) {
    word = static_cast<std::uint32_t>(random_());
  }
  for (const int count : {1, 2, 3, 4, 5, 31, 64}) {
    const std::uint32_t first = 0xfffffff0U + static_cast<std::uint32_t>(count);
    std::vector<std::uint32_t> out(static_cast<std::size_t>(count + 1) * lanes_, 77);
    kernels_.random_words({.draw = {many_keys.data(), 12345, first}, .out = out.data(), .count = count});
    for (int index = 0; index < count; ++index) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const Words4 key = {many_keys[at(0, lane)], many_keys[at(1, lane)], many_keys[at(2, lane)],
                            many_keys[at(3, lane)]};
        const std::uint32_t counter = first + static_cast<std::uint32_t>(index / 4);
        ASSERT_EQ(out[at(index, lane)], threefry({counter, 12345, 0, 0}, key)[index % 4]);
      }
    }
    for (int lane = 0; lane < lanes_; ++lane) {
      ASSERT_EQ(out[at(count, lane)], 77U);
    }
  }
}

// Products of neighbours, of numbers and of their squares: in the same draw and lane (`element`), between lanes, and
// from one step to the next.
struct Neighbours {
  double products = 0;
  double squares = 0;
  double count = 0;

  void add(double a, double b) {
    products += a * b;
    squares += (a * a - 1) * (b * b - 1);
    ++count;
  }
  void expect_independent(const char* which) const {
    EXPECT_NEAR(products / count, 0, 5 / std::sqrt(count)) << which;
    EXPECT_NEAR(squares / count, 0, 10 / std::sqrt(count)) << which;
  }
};

TEST_P(RandomKernels, NormalsAreNormalAndIndependent) {
  constexpr int kUnits = 6;
  constexpr int kRows = 33;
  const std::vector<std::uint32_t> lane_keys = keys(Stream::kInputNoise);
  const Row deviation = same(1, 1);
  Buffer clean = untouched(kUnits, kRows);
  std::fill_n(clean.unit(0), kUnits * clean.stride(), 0.0F);
  double moments[5] = {};
  int beyond_three = 0;
  int count = 0;
  Neighbours elements[4];
  Neighbours between_lanes;
  Neighbours between_steps;
  std::vector<double> previous(kUnits * kRows * lanes_);
  for (std::uint32_t step = 1; count < kNumbers; ++step) {
    Buffer x = untouched(kUnits, kRows);
    kernels_.add_normal({.draw = {lane_keys.data(), step, 0},
                         .deviation = deviation.data(),
                         .clean = clean.view(),
                         .x = x.view(),
                         .units = kUnits,
                         .rows = kRows});
    std::vector<double> drawn;
    for (int unit = 0; unit < kUnits; ++unit) {
      drawn.insert(drawn.end(), x.unit(unit), x.unit(unit) + kRows * lanes_);
    }
    expect_spare_rows_untouched(x, kUnits, kRows);
    for (std::size_t element = 0; element < drawn.size(); ++element) {
      const double value = drawn[element];
      ASSERT_TRUE(std::isfinite(value));
      double power = 1;
      for (int exponent = 1; exponent <= 4; ++exponent) {
        power *= value;
        moments[exponent] += power;
      }
      beyond_three += std::abs(value) > 3 ? 1 : 0;
      // The four numbers of a group come from the same words by twos; all distances within it count.
      for (int distance = 1; distance <= 4; ++distance) {
        if (element >= static_cast<std::size_t>(distance * lanes_)) {
          elements[distance - 1].add(value, drawn[element - distance * lanes_]);
        }
      }
      if (element % lanes_ != 0) {
        between_lanes.add(value, drawn[element - 1]);
      }
      if (step > 1) {
        between_steps.add(value, previous[element]);
      }
    }
    count += static_cast<int>(drawn.size());
    previous = drawn;
  }
  const double error = 5 / std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(moments[1] / count, 0, error);
  EXPECT_NEAR(moments[2] / count, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(moments[3] / count, 0, error * std::sqrt(15.0));
  EXPECT_NEAR(moments[4] / count, 3, error * std::sqrt(96.0));
  const double tail = std::erfc(3 / std::numbers::sqrt2);
  EXPECT_NEAR(static_cast<double>(beyond_three) / count, tail, error * std::sqrt(tail));
  for (const Neighbours& neighbours : elements) {
    neighbours.expect_independent("elements");
  }
  between_steps.expect_independent("steps");
  if (lanes_ > 1) {
    between_lanes.expect_independent("lanes");
  }
}

TEST_P(RandomKernels, NormalsAreScaledByEachLanesDeviationAndAddedToCleanInputs) {
  constexpr int kUnits = 2;
  constexpr int kRows = 5;
  const std::vector<std::uint32_t> lane_keys = keys(Stream::kInputNoise);
  const auto draw = [&](const Row& deviation, Buffer& clean) {
    Buffer x = untouched(kUnits, kRows);
    kernels_.add_normal({.draw = {lane_keys.data(), 9, 100},
                         .deviation = deviation.data(),
                         .clean = clean.view(),
                         .x = x.view(),
                         .units = kUnits,
                         .rows = kRows});
    return x;
  };
  Buffer zero = untouched(kUnits, kRows);
  std::fill_n(zero.unit(0), kUnits * zero.stride(), 0.0F);
  Buffer normals = draw(same(1, 1), zero);
  Buffer clean = buffer(kUnits, kRows);
  Row deviation = row(1, 0, 2);
  deviation[0] = 0;
  Buffer noisy = draw(deviation, clean);
  for (int unit = 0; unit < kUnits; ++unit) {
    for (int sample = 0; sample < kRows; ++sample) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const double expected = value(clean, unit, sample, lane) +
                                static_cast<double>(deviation[lane]) * value(normals, unit, sample, lane);
        ASSERT_NEAR(value(noisy, unit, sample, lane), expected, 1e-6);
      }
      // No noise changes nothing, not a bit.
      ASSERT_EQ(value(noisy, unit, sample, 0), value(clean, unit, sample, 0));
    }
  }
}

TEST_P(RandomKernels, GumbelNoiseHasItsMeanVarianceAndDistribution) {
  constexpr int kCount = 111;
  const std::vector<std::uint32_t> lane_keys = keys(Stream::kGumbel);
  double sum = 0;
  double squares = 0;
  int below_zero = 0;
  int count = 0;
  for (std::uint32_t step = 1; count < kNumbers; ++step) {
    Row out = same(kCount + 1, kUntouched);
    kernels_.gumbel_noise({.draw = {lane_keys.data(), step, 0}, .out = out.data(), .count = kCount});
    for (int element = 0; element < kCount * lanes_; ++element) {
      ASSERT_TRUE(std::isfinite(out[element]));
      const double difference = out[element] - std::numbers::egamma;
      sum += difference;
      squares += difference * difference;
      below_zero += out[element] < 0 ? 1 : 0;
    }
    ASSERT_EQ(out[at(kCount, 0)], kUntouched);
    count += kCount * lanes_;
  }
  const double variance = std::numbers::pi * std::numbers::pi / 6;
  const double error = 5 / std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(sum / count, 0, error * std::sqrt(variance));
  // The fourth moment of a Gumbel variable is 5.4 squared variances.
  EXPECT_NEAR(squares / count, variance, error * variance * std::sqrt(4.4));
  const double share = std::exp(-1.0);  // below zero
  EXPECT_NEAR(static_cast<double>(below_zero) / count, share, error * std::sqrt(share * (1 - share)));
}

MODLAB_ON_EVERY_TARGET(RandomKernels);

}  // namespace
}  // namespace modlab
