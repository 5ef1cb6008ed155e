#include "measures/image_specialisation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "measures/specialisation.h"

namespace modlab::measures {
namespace {

using Numbers = std::vector<double>;

const std::vector<int> kDigits = {0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 1, 0, 3, 3};

Numbers bit_of(const std::vector<int>& digits, int bits, int bit) {
  Numbers values;
  for (const int digit : digits) {
    values.push_back((digit >> (bits - 1 - bit)) & 1);
  }
  return values;
}
Numbers scaled(Numbers values, double factor, double constant) {
  for (double& value : values) {
    value = factor * value + constant;
  }
  return values;
}

// From its definition: every permutation.
double by_permutations(std::vector<Numbers> outputs, const std::vector<int>& digits, int bits) {
  const std::size_t count = std::max(outputs.size(), static_cast<std::size_t>(bits));
  outputs.resize(count, Numbers(digits.size(), 0.0));
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  double best = 0;
  do {
    double sum = 0;
    for (int bit = 0; bit < bits; ++bit) {
      sum += std::abs(pearson(outputs[order[bit]], bit_of(digits, bits, bit)));
    }
    best = std::max(best, sum / bits);
  } while (std::ranges::next_permutation(order).found);
  return best;
}

TEST(ImageSpecialisation, BitsInAnyOrderAndWithAnySign) {
  const std::vector<Numbers> bits = {bit_of(kDigits, 3, 0), bit_of(kDigits, 3, 1), bit_of(kDigits, 3, 2)};
  EXPECT_NEAR(image_specialisation(bits, kDigits, 3), 1, 1e-12);
  EXPECT_NEAR(image_specialisation({bits[2], bits[0], bits[1]}, kDigits, 3), 1, 1e-12);
  EXPECT_NEAR(image_specialisation({scaled(bits[1], -7, 2), scaled(bits[0], 0.1, -5), bits[2]}, kDigits, 3), 1, 1e-12);
}

TEST(ImageSpecialisation, OtherNumbersOfOutputs) {
  // All digits equally often, so that bits do not correlate with each other.
  const std::vector<int> digits = {0, 1, 2, 3, 4, 5, 6, 7};
  const Numbers high = bit_of(digits, 3, 0);
  const Numbers low = bit_of(digits, 3, 2);
  EXPECT_NEAR(image_specialisation({low}, digits, 3), 1.0 / 3, 1e-12);
  EXPECT_NEAR(image_specialisation({low, high}, digits, 3), 2.0 / 3, 1e-12);
  // Two outputs that say the same are one too few.
  EXPECT_NEAR(image_specialisation({low, high, low}, digits, 3), 2.0 / 3, 1e-12);
  EXPECT_NEAR(image_specialisation({low, high, low, Numbers(8, 3.0), bit_of(digits, 3, 1)}, digits, 3), 1, 1e-12);
  EXPECT_EQ(image_specialisation({}, digits, 3), 0);
}

TEST(ImageSpecialisation, NothingToCompareIsZero) {
  EXPECT_EQ(image_specialisation(std::vector<Numbers>(3, Numbers(kDigits.size(), 0.7)), kDigits, 3), 0);
  EXPECT_EQ(image_specialisation(std::vector<Numbers>(3, Numbers(kDigits.size(), std::nan(""))), kDigits, 3), 0);
  EXPECT_EQ(image_specialisation({{}, {}, {}}, {}, 3), 0);
  // One digit only: its bits are constant.
  EXPECT_EQ(image_specialisation({{1, 2}, {3, 5}, {2, 1}}, {5, 5}, 3), 0);
}

TEST(ImageSpecialisation, RandomOutputsAgainstAllPermutations) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int bits = 1 + static_cast<int>(generator() % 4);
    const std::size_t images = 20 + generator() % 30;
    std::vector<int> digits(images);
    std::ranges::generate(digits, [&] { return static_cast<int>(generator() % (1U << bits)); });
    std::vector<Numbers> outputs(1 + generator() % 5, Numbers(images));
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      const Numbers bit = bit_of(digits, bits, static_cast<int>(generator() % bits));
      for (std::size_t image = 0; image < images; ++image) {
        outputs[output][image] = normal(generator) + bit[image];
      }
    }
    EXPECT_NEAR(image_specialisation(outputs, digits, bits), by_permutations(outputs, digits, bits), 1e-11);
  }
}

}  // namespace
}  // namespace modlab::measures
