#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/solo/masked_kernels.h"

namespace modlab::engine::solo {
namespace {

constexpr std::size_t kFlatCount = 4 * kUnitPad;
constexpr std::uint32_t kFlatFirst = 1000;
const MaskNoise kFlatNoise{mask_key(7, 3), 5, 0, 0};

struct FlatCase {
  int samples = 4;
  MaskDrawing kind = MaskDrawing::kGumbel;
  double tau = 1;
  bool of_count = false;
};

std::vector<double> flat_numbers(double factor, unsigned phase) {
  std::vector<double> values;
  for (std::size_t at = 0; at < kFlatCount; ++at) {
    values.push_back(static_cast<float>(factor * std::sin(static_cast<double>(at * 7 + phase))));
  }
  return values;
}

double soft(double logit, double uniform, double tau) {
  return 1 / (1 + std::exp(-(logit + std::log(uniform) - std::log1p(-uniform)) / tau));
}
// What a soft sample makes of a weight, and how that changes with it; hard concrete: Louizos et al., eq. (11).
double factor(const FlatCase& c, double soft) {
  return c.kind == MaskDrawing::kHardConcrete ? std::clamp(1.2 * soft - 0.1, 0.0, 1.0) : soft > 0.5 ? 1 : 0;
}
double factor_slope(const FlatCase& c, double soft) {
  const double stretched = 1.2 * soft - 0.1;
  return c.kind != MaskDrawing::kHardConcrete ? 1 : stretched > 0 && stretched < 1 ? 1.2 : 0;
}
double flat_uniform(const FlatCase& c, int sample, std::size_t at) {
  return c.kind == MaskDrawing::kDeterministic
             ? 0.5
             : mask_uniform(kFlatNoise, sample, kFlatFirst + static_cast<std::uint32_t>(at));
}

// Near what is expected, and the same bits from every target.
template <typename Run>
void expect_from_every_target(const std::vector<double>& expected, const Run& run) {
  const auto expect_near = [&](const auto& found, double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t at = 0; at < found.size(); ++at) {
      ASSERT_NEAR(found[at], expected[at], tolerance) << "number " << at;
    }
  };
  expect_near(run(masked_oracle_kernels(), 0.0), 1e-9);
  AlignedVector<float> first;
  for (const std::string& target : supported_targets()) {
    const AlignedVector<float> found = run(masked_kernels_for(target), 0.0F);
    expect_near(found, 1e-5);
    first = first.empty() ? found : first;
    EXPECT_EQ(std::memcmp(found.data(), first.data(), first.size() * sizeof(float)), 0) << target;
  }
}

class FlatMask : public testing::TestWithParam<FlatCase> {};

TEST_P(FlatMask, KeepsWhatTheNoiseSays) {
  const FlatCase c = GetParam();
  const std::vector<double> logits = flat_numbers(5, 0);
  const std::vector<double> weights = flat_numbers(1, 3);
  std::vector<double> expected;
  for (int sample = 0; sample < c.samples; ++sample) {
    for (std::size_t at = 0; at < kFlatCount; ++at) {
      expected.push_back(weights[at] * factor(c, soft(logits[at], flat_uniform(c, sample, at), c.tau)));
    }
  }
  expect_from_every_target(expected, [&](const auto& kernels, auto number) {
    using T = decltype(number);
    const AlignedVector<T> l(logits.begin(), logits.end());
    const AlignedVector<T> w(weights.begin(), weights.end());
    AlignedVector<T> masked(expected.size());
    kernels.flat_draw({l.data(), w.data(), masked.data(), kFlatCount, kFlatCount, kFlatFirst, c.samples, kFlatNoise,
                       c.kind, static_cast<T>(1 / c.tau)});
    return masked;
  });
}

TEST_P(FlatMask, GradientsAreThoseOfTheSoftSample) {
  const FlatCase c = GetParam();
  constexpr double kFlatAlpha = 0.125;
  const std::vector<double> logits = flat_numbers(4, 0);
  const std::vector<double> weights = flat_numbers(1, 3);
  std::vector<double> products;
  std::vector<double> expected;
  for (const double logit : logits) {
    const double kept = soft(logit, 0.5, 1);
    expected.push_back(c.of_count ? kFlatAlpha * kept * (1 - kept) : kFlatAlpha);
  }
  for (int sample = 0; sample < c.samples; ++sample) {
    for (const double product : flat_numbers(1, static_cast<unsigned>(11 + sample))) {
      const std::size_t at = products.size() % kFlatCount;
      const double s = soft(logits[at], flat_uniform(c, sample, at), c.tau);
      expected[at] += product * weights[at] * factor_slope(c, s) * s * (1 - s) / c.tau;
      products.push_back(product);
    }
  }
  expect_from_every_target(expected, [&](const auto& kernels, auto number) {
    using T = decltype(number);
    const AlignedVector<T> l(logits.begin(), logits.end());
    const AlignedVector<T> w(weights.begin(), weights.end());
    const AlignedVector<T> p(products.begin(), products.end());
    AlignedVector<T> gradients(kFlatCount);
    const MaskSlope<T> slope{l.data(),  kFlatNoise, c.kind, static_cast<T>(1 / c.tau), static_cast<T>(kFlatAlpha),
                             c.of_count};
    kernels.flat_gradient({w.data(), p.data(), kFlatCount, kFlatCount, kFlatFirst, c.samples, slope, gradients.data()});
    return gradients;
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, FlatMask,
                         testing::Values(FlatCase{}, FlatCase{.samples = 1}, FlatCase{.samples = 7},
                                         FlatCase{.samples = 2, .kind = MaskDrawing::kDeterministic},
                                         FlatCase{.samples = 4, .tau = 0.5}, FlatCase{.of_count = true},
                                         FlatCase{.samples = 6, .kind = MaskDrawing::kHardConcrete},
                                         FlatCase{.kind = MaskDrawing::kHardConcrete, .tau = 0.667}));

}  // namespace
}  // namespace modlab::engine::solo
