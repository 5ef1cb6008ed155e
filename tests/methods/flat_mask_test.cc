#include "methods/mask/flat_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/mask/digit_mask_by_sample.h"
#include "methods/mask/digit_training.h"
#include "models/digit_batches.h"

// Masks of any kind, against the textbook's algorithm in double precision; and passes sample by sample against the fast
// ones.
namespace modlab::methods {
namespace {

using engine::MaskDrawing;

constexpr std::uint64_t kFlatSeed = 11;
constexpr std::uint32_t kFlatStage = 2;
constexpr double kFlatBeta = 0.4;

engine::Layout two_layers() {
  engine::Layout layout;
  layout.add("layers.0.weight", {5, 7}, engine::Rate::kFunctional, 7, 5);
  layout.add("layers.0.bias", {5}, engine::Rate::kFunctional, 7, 5);
  layout.add("layers.1.weight", {3, 5}, engine::Rate::kFunctional, 5, 3);
  return layout;
}

double wanted_value(std::size_t parameter, int sample) {
  return std::cos(static_cast<double>(parameter) * 1.7 + sample);
}

// A network whose loss under a sample is half the squared distance of its parameters from some values.
double distance_loss(int sample, std::span<const float> parameters, std::span<float> gradients) {
  double loss = 0;
  for (std::size_t parameter = 0; parameter < parameters.size(); ++parameter) {
    const double distance = parameters[parameter] - wanted_value(parameter, sample);
    gradients[parameter] = static_cast<float>(distance);
    loss += distance * distance / 2;
  }
  return loss;
}

// The same steps as the textbook has them.
class FlatReference {
 public:
  FlatReference(const MaskedParameters& masked, std::vector<float> weights, const MaskSpec& spec)
      : masked_(masked),
        weights_(std::move(weights)),
        spec_(spec),
        logits_(static_cast<std::size_t>(masked.logits), spec.init),
        first_(logits_.size()),
        second_(logits_.size()) {}

  double step(std::uint32_t calls) {
    std::vector<double> gradients(logits_.size(), kFlatBeta / spec_.batch_size);
    double loss = 0;
    for (std::uint32_t call = 0; call < calls; ++call) {
      for (int sample = 0; sample < spec_.samples; ++sample) {
        loss += pass(call, sample, gradients) / spec_.samples;
      }
    }
    double squares = 0;
    for (const double gradient : gradients) {
      squares += gradient * gradient;
    }
    const double factor = std::min(1.0, spec_.clip / (std::sqrt(squares) + 1e-6));
    ++steps_;
    for (std::size_t logit = 0; logit < logits_.size(); ++logit) {
      const double gradient = factor * gradients[logit];
      first_[logit] += 0.1 * (gradient - first_[logit]);
      second_[logit] += 0.001 * (gradient * gradient - second_[logit]);
      logits_[logit] -= spec_.lr / (1 - std::pow(0.9, steps_)) * first_[logit] /
                        (std::sqrt(second_[logit] / (1 - std::pow(0.999, steps_))) + 1e-8);
    }
    return loss;
  }
  const std::vector<double>& logits() const { return logits_; }

 private:
  double pass(std::uint32_t call, int sample, std::vector<double>& gradients) const {
    const engine::solo::MaskNoise noise{engine::solo::mask_key(kFlatSeed, kFlatStage), steps_, call, 0};
    double loss = 0;
    for (std::size_t parameter = 0; parameter < weights_.size(); ++parameter) {
      const std::int32_t logit = masked_.logit_of[parameter];
      double factor = 1;
      double slope = 0;
      if (logit >= 0) {
        // A logit of its own is drawn for by the weight's place, a shared one by its number.
        const auto place =
            spec_.grain == MaskGrain::kUnit ? static_cast<std::uint32_t>(logit) : static_cast<std::uint32_t>(parameter);
        const double uniform = engine::solo::mask_uniform(noise, sample, place);
        const double soft =
            1 / (1 + std::exp(-(logits_[static_cast<std::size_t>(logit)] + std::log(uniform) - std::log1p(-uniform)) /
                              spec_.tau));
        const double stretched = 1.2 * soft - 0.1;
        const bool is_hard = spec_.sampler == MaskDrawing::kHardConcrete;
        factor = is_hard ? std::clamp(stretched, 0.0, 1.0) : soft > 0.5 ? 1 : 0;
        slope = soft * (1 - soft) / spec_.tau * (!is_hard ? 1 : stretched > 0 && stretched < 1 ? 1.2 : 0);
      }
      const double distance = weights_[parameter] * factor - wanted_value(parameter, sample);
      loss += distance * distance / 2;
      if (logit >= 0) {
        gradients[static_cast<std::size_t>(logit)] += distance * weights_[parameter] * slope / spec_.samples;
      }
    }
    return loss;
  }

  const MaskedParameters& masked_;
  std::vector<float> weights_;
  MaskSpec spec_;
  std::vector<double> logits_, first_, second_;
  std::uint32_t steps_ = 0;
};

class FlatMaskSteps : public testing::TestWithParam<MaskSpec> {};

TEST_P(FlatMaskSteps, AreThoseOfTheTextbook) {
  const MaskSpec spec = GetParam();
  const engine::Layout layout = two_layers();
  const MaskedParameters masked = masked_parameters(layout, spec);
  std::vector<float> weights;
  for (std::size_t parameter = 0; parameter < layout.count; ++parameter) {
    weights.push_back(static_cast<float>(1.5 * std::sin(static_cast<double>(parameter) + 1)));
  }
  const std::vector<float> start(static_cast<std::size_t>(masked.logits), static_cast<float>(spec.init));
  FlatMask mask(layout, masked, weights, start,
                {.spec = spec, .beta = kFlatBeta, .seed = kFlatSeed, .stage = kFlatStage, .divisor = spec.samples},
                engine::solo::masked_kernels_for(engine::kernels().target));
  FlatReference reference(masked, weights, spec);
  for (int step = 0; step < 30; ++step) {
    const std::uint32_t calls = step % 2 == 0 ? 1 : 2;
    double loss = 0;
    for (std::uint32_t call = 0; call < calls; ++call) {
      loss += mask.add_passes(distance_loss);
    }
    mask.step();
    ASSERT_NEAR(loss, reference.step(calls), 1e-3) << step;
  }
  const std::vector<float> logits = mask.logits();
  ASSERT_EQ(logits.size(), reference.logits().size());
  double moved = 0;
  for (std::size_t logit = 0; logit < logits.size(); ++logit) {
    EXPECT_NEAR(logits[logit], reference.logits()[logit], 1e-3) << logit;
    moved = std::max(moved, std::abs(logits[logit] - spec.init));
  }
  EXPECT_GT(moved, 0.5);
}

TEST_P(FlatMaskSteps, GoOnFromWhatWasKept) {
  const MaskSpec spec = GetParam();
  const engine::Layout layout = two_layers();
  const MaskedParameters masked = masked_parameters(layout, spec);
  const std::vector<float> weights(layout.count, 0.5F);
  const std::vector<float> start(static_cast<std::size_t>(masked.logits), 1.0F);
  const auto make = [&] {
    return FlatMask(layout, masked, weights, start, {.spec = spec, .beta = kFlatBeta, .seed = kFlatSeed},
                    engine::solo::masked_kernels_for(engine::kernels().target));
  };
  const auto take_steps = [](FlatMask& mask, int steps) {
    for (int step = 0; step < steps; ++step) {
      mask.add_passes(distance_loss);
      mask.step();
    }
  };
  FlatMask whole = make();
  take_steps(whole, 6);
  FlatMask first = make();
  take_steps(first, 3);
  const std::vector<float> kept = first.state();
  ASSERT_EQ(kept.size(), FlatMask::state_size(layout, masked));
  FlatMask second = make();
  second.restore(kept);
  take_steps(second, 3);
  EXPECT_EQ(second.logits(), whole.logits());
}

INSTANTIATE_TEST_SUITE_P(Kinds, FlatMaskSteps,
                         testing::Values(MaskSpec{.lr = 0.05, .init = 1},
                                         MaskSpec{.samples = 3, .lr = 0.05, .init = 1, .clip = 0.1},
                                         MaskSpec{.lr = 0.05, .init = 1, .grain = MaskGrain::kUnit},
                                         MaskSpec{.lr = 0.05, .init = 1, .sampler = MaskDrawing::kHardConcrete},
                                         MaskSpec{.samples = 5,
                                                  .lr = 0.05,
                                                  .init = 0.5,
                                                  .tau = 0.667,
                                                  .sampler = MaskDrawing::kHardConcrete,
                                                  .grain = MaskGrain::kUnit,
                                                  .exclude = {}}));

// Without noise both trainers know the same, so that passes sample by sample, each with weights that were formed
// before, must say what the passes say that form them as they go.
TEST(DigitMaskBySampleTest, LearnsWhatTheFastPassesLearn) {
  const engine::Kernels<float>& kernels = engine::kernels();
  for (const test::DigitCase& of : test::digit_cases()) {
    MaskSpec spec;
    spec.samples = 2;
    spec.batch_size = of.batch.rows;
    spec.init = 0.25;  // no multiple of what a step takes away: at zero rounding would decide
    spec.lr = 0.1;
    spec.clip = 1e9;
    spec.sampler = MaskDrawing::kDeterministic;
    if (of.shape.masks_biases) {
      spec.exclude = {};
    }
    Team team(2);
    const auto network =
        models::make_digit_network<float>(of.shape, engine::solo::masked_kernels_for(kernels.target), team);
    const std::vector<float> weights = models::initial_digit_parameters(of.shape, 3);
    network->load(weights);
    const MaskedParameters masked = masked_parameters(network->layout(), spec);
    DigitMaskTrainer fast(*network, masked_tensors(network->layout(), masked),
                          std::vector<float>(weights.size(), 0.25F),
                          {.samples = spec.samples,
                           .lr = spec.lr,
                           .alpha = kFlatBeta / spec.batch_size,
                           .clip = spec.clip,
                           .sampler = spec.sampler},
                          team, kernels);
    const std::vector<models::DigitBatch> passes = {of.batch, of.batch};
    std::vector<double> losses;
    for (int step = 0; step < 6; ++step) {
      losses.push_back(fast.step(passes));
    }
    DigitMaskBySample by_sample(*network, masked, weights, {.spec = spec, .beta = kFlatBeta}, kernels);
    for (int step = 0; step < 6; ++step) {
      EXPECT_NEAR(by_sample.step(passes), losses[static_cast<std::size_t>(step)], 2e-3) << of.name << " " << step;
    }
    const std::vector<float> expected = logits_of(masked, fast.logits());
    const std::vector<float> found = by_sample.logits();
    std::size_t apart = 0;
    for (std::size_t logit = 0; logit < found.size(); ++logit) {
      apart += std::abs(found[logit] - expected[logit]) > 0.02 ? 1 : 0;
    }
    // Where a gradient is next to nothing its sign decides where Adam goes, and that is rounding.
    EXPECT_LT(apart, found.size() / 50 + 1) << of.name;
    EXPECT_NE(losses.front(), losses.back()) << of.name;
  }
}

}  // namespace
}  // namespace modlab::methods
