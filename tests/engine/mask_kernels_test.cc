// How masks are drawn from logits, and how gradients reach the logits.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "engine/lane_arrays.h"

namespace modlab {
namespace {

using engine::MaskDrawing;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A factor and its slope by the textbook.
struct Drawn {
  double factor = 0;
  double slope = 0;
};
Drawn drawn(double logit, double uniform, double tau, MaskDrawing kind) {
  const double noisy = logit + std::log(uniform / (1 - uniform));
  const double soft = sigmoid(noisy / tau);
  const double slope = soft * (1 - soft) / tau;
  if (kind == MaskDrawing::kHardConcrete) {
    const double stretched = 1.2 * soft - 0.1;
    return {std::min(1.0, std::max(0.0, stretched)), stretched > 0 && stretched < 1 ? 1.2 * slope : 0};
  }
  return {noisy > 0 ? 1.0 : 0.0, slope};
}

class MaskKernels : public test::KernelTest {
 protected:
  struct Factors {
    Row factors, slopes;
  };
  Factors draw(const Row& logits, const Row* uniforms, const Row& inverse_tau, MaskDrawing kind) {
    Factors made{logits, logits};
    Row odds = logits;
    const int count = static_cast<int>(logits.size()) / lanes_;
    kernels_.mask_odds(logits.data(), odds.data(), count);
    kernels_.draw_mask({.logits = logits.data(),
                        .odds = odds.data(),
                        .uniforms = uniforms == nullptr ? nullptr : uniforms->data(),
                        .inverse_tau = inverse_tau.data(),
                        .has_tau = inverse_tau[0] != 1,
                        .kind = kind,
                        .factors = made.factors.data(),
                        .slopes = made.slopes.data(),
                        .count = count});
    return made;
  }
};

TEST_P(MaskKernels, AreDrawnAsTheTextbookSays) {
  const Row logits = row(50, -6, 6);
  const Row uniforms = row(50, 0.01F, 0.99F);
  for (const MaskDrawing kind : {MaskDrawing::kGumbel, MaskDrawing::kHardConcrete}) {
    for (const float inverse_tau : {1.0F, 1.5F}) {
      const Factors made = draw(logits, &uniforms, same(1, inverse_tau), kind);
      for (std::size_t place = 0; place < logits.size(); ++place) {
        const Drawn want = drawn(logits[place], uniforms[place], 1 / inverse_tau, kind);
        EXPECT_NEAR(made.factors[place], want.factor, 1e-5) << logits[place] << " " << uniforms[place];
        EXPECT_NEAR(made.slopes[place], want.slope, 1e-5) << logits[place] << " " << uniforms[place];
      }
    }
  }
  const Factors without_noise = draw(logits, nullptr, same(1, 1), MaskDrawing::kDeterministic);
  for (std::size_t place = 0; place < logits.size(); ++place) {
    EXPECT_EQ(without_noise.factors[place], logits[place] > 0 ? 1 : 0);
    EXPECT_NEAR(without_noise.slopes[place], sigmoid(logits[place]) * (1 - sigmoid(logits[place])), 1e-6);
  }
}

TEST_P(MaskKernels, AnEvenChanceIsNotKept) {
  const Factors even = draw(same(1, 0), nullptr, same(1, 1), MaskDrawing::kGumbel);
  EXPECT_EQ(even.factors[0], 0);
  EXPECT_NEAR(even.slopes[0], 0.25, 1e-6);
  const Row fifth = same(1, 0.2F);
  const Factors other = draw(same(1, 2), &fifth, same(1, 1), MaskDrawing::kGumbel);
  EXPECT_EQ(other.factors[0], 1);
  EXPECT_NEAR(other.slopes[0], 0.6488 * (1 - 0.6488), 1e-4);
}

TEST_P(MaskKernels, LogitsFarFromZeroAreDecidedAndGiveOrdinaryNumbers) {
  for (const float logit : {-1e4F, -200.0F, -90.0F, 90.0F, 200.0F, 1e4F}) {
    for (const float uniform : {0.5F * 0x1p-23F, 0.5F, 1 - 0.5F * 0x1p-23F}) {
      const Row uniforms = same(1, uniform);
      const Factors made = draw(same(1, logit), &uniforms, same(1, 1), MaskDrawing::kGumbel);
      EXPECT_EQ(made.factors[0], logit > 0 ? 1 : 0) << logit << " " << uniform;
      EXPECT_NEAR(made.slopes[0], 0, 1e-20) << logit << " " << uniform;
    }
  }
}

// E[s (1 - s)] in closed form, with a = exp(-l).
double mean_slope(double logit) {
  const double a = std::exp(-logit);
  return logit == 0 ? 1.0 / 6
                    : -a * ((2 + std::log(a)) / std::pow(1 - a, 2) + 2 * a * std::log(a) / std::pow(1 - a, 3));
}

TEST_P(MaskKernels, AreKeptAsOftenAsTheirLogitsSay) {
  constexpr int kDraws = 60'000;
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(4 * lanes_));
  for (int lane = 0; lane < lanes_; ++lane) {
    const Words4 key = stream_key(static_cast<std::uint64_t>(lane), Stream::kMaskNoise);
    for (int word = 0; word < 4; ++word) {
      keys[static_cast<std::size_t>(word * lanes_ + lane)] = key[static_cast<std::size_t>(word)];
    }
  }
  Row uniforms = same(kDraws / lanes_, 0);
  kernels_.uniforms({.draw = {keys.data(), 1, 0}, .out = uniforms.data(), .count = kDraws / lanes_});
  for (const float logit : {0.0F, 2.0F, -2.0F, -5.0F}) {
    const Factors made = draw(same(kDraws / lanes_, logit), &uniforms, same(1, 1), MaskDrawing::kGumbel);
    double kept = 0;
    double slope = 0;
    for (std::size_t place = 0; place < made.factors.size(); ++place) {
      kept += made.factors[place] / static_cast<double>(made.factors.size());
      slope += made.slopes[place] / static_cast<double>(made.factors.size());
    }
    const double chance = sigmoid(logit);
    EXPECT_NEAR(kept, chance, 4 * std::sqrt(chance * (1 - chance) / kDraws)) << logit;
    EXPECT_NEAR(slope, mean_slope(logit), 4 * 0.1 / std::sqrt(kDraws)) << logit;
  }
  EXPECT_NEAR(mean_slope(2), 0.11333, 1e-5);
  EXPECT_NEAR(mean_slope(-5), 0.02095, 1e-5);
}

TEST_P(MaskKernels, WeightsOfAUnitMayShareALogitAndOthersHaveNone) {
  constexpr int kFirst = 5;
  const std::vector<std::int32_t> logit_of = {kFirst, kFirst, -1, kFirst + 1};
  const Row weights = row(4);
  const Row factors = row(2, 0, 1);
  const Row slopes = row(2, 0, 1);
  Row masked = weights;
  Row reach = same(4, 0);
  kernels_.apply_mask({.weights = weights.data(),
                       .factors = factors.data(),
                       .slopes = slopes.data(),
                       .first_logit = kFirst,
                       .logit_of = logit_of.data(),
                       .masked = masked.data(),
                       .reach = reach.data(),
                       .count = 4});
  Row gradients = row(4);
  const Row given = gradients;
  Row dlogits = same(kFirst + 2, 1);
  kernels_.mask_gradient({gradients.data(), reach.data(), logit_of.data(), dlogits.data(), 4});
  for (int lane = 0; lane < lanes_; ++lane) {
    EXPECT_EQ(masked[at(1, lane)], weights[at(1, lane)] * factors[at(0, lane)]);
    EXPECT_EQ(masked[at(2, lane)], weights[at(2, lane)]) << "has no logit";
    EXPECT_EQ(masked[at(3, lane)], weights[at(3, lane)] * factors[at(1, lane)]);
    const double first = given[at(0, lane)] * weights[at(0, lane)] + given[at(1, lane)] * weights[at(1, lane)];
    const double second = given[at(3, lane)] * weights[at(3, lane)];
    EXPECT_NEAR(dlogits[at(kFirst, lane)], 1 + first * slopes[at(0, lane)], 1e-6);
    EXPECT_NEAR(dlogits[at(kFirst + 1, lane)], 1 + second * slopes[at(1, lane)], 1e-6);
    EXPECT_EQ(gradients[at(2, lane)], 0) << "ready for the next step";
  }
}

TEST_P(MaskKernels, ThePenaltyIsOnLogitsOrOnTheExpectedCount) {
  const Row logits = row(3, -3, 3);
  const Row alpha = row(1, 0.1F, 0.2F);
  for (const bool of_count : {false, true}) {
    Row dlogits = same(3, 0);
    kernels_.mask_penalty({logits.data(), alpha.data(), dlogits.data(), of_count, 3});
    for (int index = 0; index < 3; ++index) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const double chance = sigmoid(logits[at(index, lane)]);
        EXPECT_NEAR(dlogits[at(index, lane)], alpha[at(0, lane)] * (of_count ? chance * (1 - chance) : 1), 1e-6);
      }
    }
  }
}

TEST_P(MaskKernels, OnlyGradientsThatAreTooLongAreShortened) {
  Row gradients = same(2, 0);
  gradients[at(0, 0)] = 3;
  gradients[at(1, 0)] = 4;
  if (lanes_ > 1) {
    gradients[at(0, 1)] = 0.3F;
  }
  const Row longest = same(1, 1);
  kernels_.clip_lanes({gradients.data(), longest.data(), 2});
  EXPECT_NEAR(gradients[at(0, 0)], 3 * 0.19999996, 1e-6);
  EXPECT_NEAR(gradients[at(1, 0)], 4 * 0.19999996, 1e-6);
  if (lanes_ > 1) {
    EXPECT_EQ(gradients[at(0, 1)], 0.3F);
  }
}

TEST_P(MaskKernels, UnitsAreWeighedByLane) {
  Buffer values = buffer(2, 3);
  Buffer before = values;
  const Row weights = row(2);
  kernels_.weigh_units({values.view(), weights.data(), 2, 3});
  for (int lane = 0; lane < lanes_; ++lane) {
    EXPECT_EQ(value(values, 1, 2, lane), static_cast<float>(value(before, 1, 2, lane)) * weights[at(1, lane)]);
  }
  expect_spare_rows_untouched(values, 2, 3);
}

MODLAB_ON_EVERY_TARGET(MaskKernels);

// The soft sample is a smooth function of the logit: its slope is what small differences say.
TEST(MaskSlopes, AreThoseOfTheSoftSample) {
  const engine::Kernels<double>& kernels = engine::oracle_kernels();
  constexpr double kStep = 1e-6;
  const AlignedVector<double> inverse_tau = {1.25};
  for (const double logit : {-3.0, -0.5, 0.0, 1.0, 2.5}) {
    for (const double uniform : {0.1, 0.5, 0.8}) {
      // A hard concrete factor is its soft sample, stretched: where it is not cut off it shows the slope.
      const auto factor = [&](double at, double* slope) {
        const AlignedVector<double> logits = {at};
        const AlignedVector<double> uniforms = {uniform};
        AlignedVector<double> odds(1);
        AlignedVector<double> factors(1);
        AlignedVector<double> slopes(1);
        kernels.mask_odds(logits.data(), odds.data(), 1);
        kernels.draw_mask({logits.data(), odds.data(), uniforms.data(), inverse_tau.data(), true,
                           MaskDrawing::kHardConcrete, factors.data(), slopes.data(), 1});
        if (slope != nullptr) {
          *slope = slopes[0];
        }
        return factors[0];
      };
      double slope = 0;
      const double here = factor(logit, &slope);
      if (here > 0.01 && here < 0.99) {
        const double difference = factor(logit + kStep, nullptr) - factor(logit - kStep, nullptr);
        EXPECT_NEAR(slope, difference / (2 * kStep), 1e-5 + 1e-3 * std::abs(slope)) << logit << " " << uniform;
      }
    }
  }
}

}  // namespace
}  // namespace modlab
