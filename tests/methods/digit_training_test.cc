#include "methods/mask/digit_training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.h"
#include "models/digit_batches.h"

namespace modlab::methods {
namespace {

using models::DigitBatch;
using models::DigitNetwork;
using test::DigitCase;

struct Trained {
  std::vector<float> weights, logits;
  std::vector<double> losses;

  bool operator==(const Trained&) const = default;
};

std::vector<std::uint8_t> matrices(const DigitNetwork& network) {
  std::vector<std::uint8_t> found;
  for (const engine::Tensor& tensor : network.layout().tensors) {
    found.push_back(tensor.shape.size() > 1 ? 1 : 0);
  }
  return found;
}

std::unique_ptr<DigitNetwork> make_network(const models::DigitShape& shape, const std::string& target, Team& team) {
  auto network = models::make_digit_network<float>(shape, engine::solo::masked_kernels_for(target), team);
  network->load(models::initial_digit_parameters(shape, 3));
  return network;
}

// Every seventh parameter.
std::vector<std::uint8_t> some_frozen(const DigitNetwork& network) {
  std::vector<std::uint8_t> frozen(network.layout().count);
  for (std::size_t place = 0; place < frozen.size(); place += 7) {
    frozen[place] = 1;
  }
  return frozen;
}

Trained train(const DigitCase& of, const DigitMaskTraining& settings, const std::string& target, int threads) {
  Team team(threads);
  const auto network = make_network(of.shape, target, team);
  const std::vector<DigitBatch> passes = {of.batch, of.batch};
  Trained trained;
  DigitWeightTrainer weights(*network, {.lr = 1e-2, .clip = 0.5}, team, engine::kernels_for(target));
  for (int step = 0; step < 3; ++step) {
    trained.losses.push_back(weights.step(passes));
  }
  trained.weights = network->save();
  const std::vector<float> initial(network->layout().count, 1.0F);
  DigitMaskTrainer masks(*network, matrices(*network), initial, settings, team, engine::kernels_for(target));
  for (int step = 0; step < 3; ++step) {
    trained.losses.push_back(masks.step(passes));
  }
  if (!settings.weight_lr) {
    EXPECT_EQ(network->save(), trained.weights) << "weights stay as they are";
  }
  trained.weights = network->save();
  trained.logits = masks.logits();
  return trained;
}

TEST(DigitTrainingTest, TheSameBitsOnEveryTargetAndAnyNumberOfThreads) {
  for (const DigitCase& of : test::digit_cases()) {
    for (const int samples : {1, 4}) {
      DigitMaskTraining settings = {.samples = samples, .lr = 0.1, .alpha = 1e-3, .clip = 0.1, .seed = 5};
      settings.tau = samples == 1 ? 0.7 : 1;
      settings.clip_what = samples == 1 ? MaskClip::kLogits : MaskClip::kPublished;
      const std::string fastest = engine::supported_targets().front();
      const Trained first = train(of, settings, fastest, 1);
      for (const std::string& target : engine::supported_targets()) {
        EXPECT_EQ(train(of, settings, target, 2), first) << of.name << " " << target;
      }
      EXPECT_EQ(train(of, settings, fastest, 3), first) << of.name;
    }
  }
}

TEST(DigitTrainingTest, WeightsWithMasksHaveTheSameBitsToo) {
  for (const DigitCase& of : test::digit_cases()) {
    const DigitMaskTraining settings = {
        .samples = 4, .lr = 0.1, .alpha = 1e-3, .clip = 0.1, .seed = 5, .weight_lr = 0.02};
    const Trained first = train(of, settings, engine::supported_targets().front(), 1);
    for (const std::string& target : engine::supported_targets()) {
      EXPECT_EQ(train(of, settings, target, 2), first) << of.name << " " << target;
    }
  }
}

// What is frozen stays to the last bit, and does not count for the length of the gradient; everything else moves.
TEST(DigitTrainingTest, FrozenWeightsStayAsTheyAre) {
  for (const DigitCase& of : test::digit_cases()) {
    Team team(1);
    const engine::Kernels<float>& kernels = engine::kernels_for(engine::supported_targets().front());
    const auto network = make_network(of.shape, kernels.target, team);
    const std::vector<float> before = network->save();
    const std::vector<std::uint8_t> frozen = some_frozen(*network);
    const auto moved_and_frozen = [&] {
      const std::vector<float> after = network->save();
      std::size_t moved = 0;
      for (std::size_t place = 0; place < after.size(); ++place) {
        if (frozen[place] != 0) {
          EXPECT_EQ(after[place], before[place]) << of.name << " " << place;
        } else {
          moved += after[place] != before[place] ? 1 : 0;
        }
      }
      return moved;
    };
    DigitWeightTrainer weights(*network, {.lr = 1e-2}, team, kernels, frozen);
    weights.step({&of.batch, 1});
    EXPECT_GT(moved_and_frozen(), before.size() / 4) << of.name;
    DigitMaskTrainer masks(*network, matrices(*network), std::vector<float>(before.size(), 2.0F),
                           {.samples = 2, .alpha = 1e-3, .weight_lr = 1e-2}, team, kernels, frozen);
    for (int step = 0; step < 3; ++step) {
      masks.step({&of.batch, 1});
    }
    EXPECT_GT(moved_and_frozen(), before.size() / 4) << of.name;
  }
}

// After a step that was cut, all that the published code leaves is together as long as is allowed, and what was left
// before has shrunk with it.
TEST(DigitTrainingTest, PublishedClippingCountsWhatIsLeft) {
  for (const DigitCase& of : test::digit_cases()) {
    Team team(1);
    const engine::Kernels<float>& kernels = engine::kernels_for(engine::supported_targets().front());
    const auto network = make_network(of.shape, kernels.target, team);
    const DigitMaskTraining settings = {.samples = 2, .clip = 0.01, .clip_what = MaskClip::kPublished};
    const std::vector<float> initial(network->layout().count, 1.0F);
    const auto squares = [](const LeftGradients& left) {
      double sum = left.squares_of_masks;
      for (const float gradient : left.of_weights) {
        sum += static_cast<double>(gradient) * gradient;
      }
      return sum;
    };
    DigitMaskTrainer first(*network, matrices(*network), initial, settings, team, kernels);
    first.step({&of.batch, 1});
    const LeftGradients left = first.left();
    EXPECT_NEAR(squares(left), 1e-4, 1e-7) << of.name;
    EXPECT_GT(left.squares_of_masks, 0) << of.name;
    DigitMaskTrainer second(*network, matrices(*network), initial, settings, team, kernels, {}, {left.of_weights, 100});
    second.step({&of.batch, 1});
    EXPECT_NEAR(squares(second.left()), 1e-4, 1e-7) << of.name;
    EXPECT_GT(second.left().squares_of_masks, 0.99e-4) << of.name << ": nearly all of it is what earlier masks left";
    DigitMaskTrainer alone(*network, matrices(*network), initial, {.samples = 2}, team, kernels);
    alone.step({&of.batch, 1});
    EXPECT_TRUE(alone.left().of_weights.empty()) << of.name;
  }
}

// A cut gradient is as long as is allowed, weights and logits together: what Adam makes of it depends on all of them.
TEST(DigitTrainingTest, WeightsAndLogitsAreClippedTogether) {
  engine::Layout layout;
  layout.add("weight", {1, 1}, engine::Rate::kFunctional, 1, 1);
  const models::PanelLayout panels(layout);
  Team team(1);
  DigitOptimizer logits(panels, {1}, 0.5, 1, team, engine::kernels_for("scalar"));
  DigitOptimizer weights(panels, {1}, 0.5, 1, team, engine::kernels_for("scalar"));
  const AlignedVector<float> three = panels.arranged<float>(std::vector<float>{3});
  const AlignedVector<float> four = panels.arranged<float>(std::vector<float>{4});
  EXPECT_NEAR(logits.factor_for(logits.squares(three) + weights.squares(four)), 0.19999996, 1e-9);
}

TEST(DigitTrainingTest, TrainingLearns) {
  for (const DigitCase& of : test::digit_cases()) {
    Team team(1);
    const auto network = make_network(of.shape, engine::supported_targets().front(), team);
    DigitWeightTrainer weights(*network, {.lr = 1e-2}, team, engine::kernels_for(engine::supported_targets().front()));
    const double first = weights.step({&of.batch, 1});
    double last = 0;
    for (int step = 0; step < 60; ++step) {
      last = weights.step({&of.batch, 1});
    }
    EXPECT_LT(last, 0.7 * first) << of.name;
  }
}

// Without weights nothing but the penalty moves a logit: by lr at the first step, and lr a / (a + epsilon) at all.
TEST(DigitTrainingTest, ThePenaltyAloneMovesLogitsDown) {
  Team team(1);
  const DigitCase of = test::digit_cases().front();
  const auto network = make_network(of.shape, "scalar", team);
  network->load(std::vector<float>(network->layout().count));
  constexpr double kAlpha = 7.8125e-7;
  DigitMaskTrainer masks(*network, matrices(*network), std::vector<float>(network->layout().count, 2.0F),
                         {.lr = 1e-2, .alpha = kAlpha}, team, engine::kernels_for("scalar"));
  for (int step = 1; step <= 5; ++step) {
    masks.step({&of.batch, 1});
    const std::vector<float> logits = masks.logits();
    for (const engine::Tensor& tensor : network->layout().tensors) {
      const double expected = tensor.shape.size() > 1 ? 2 - step * 1e-2 * kAlpha / (kAlpha + 1e-8) : 2;
      EXPECT_NEAR(logits[tensor.offset], expected, 2e-6) << tensor.name;
      EXPECT_NEAR(logits[tensor.offset + tensor.count - 1], expected, 2e-6) << tensor.name;
    }
  }
}

// Of the expected number of kept weights the penalty pulls most where it is undecided what is kept, and not at all far
// away; padding of the last units has none.
TEST(DigitTrainingTest, ThePenaltyOnTheCountHasTheSlopeOfTheChance) {
  Team team(1);
  for (const std::string& target : engine::supported_targets()) {
    for (const DigitCase& of : test::digit_cases()) {
      const auto network = make_network(of.shape, target, team);
      network->load(std::vector<float>(network->layout().count));
      for (const double logit : {-1.0, 2.0, 40.0}) {
        constexpr double kAlpha = 1e-6;
        const double chance = 1 / (1 + std::exp(-logit));
        const double slope = logit > 30 ? 0 : kAlpha * chance * (1 - chance);
        DigitMaskTrainer masks(*network, matrices(*network),
                               std::vector<float>(network->layout().count, static_cast<float>(logit)),
                               {.lr = 1e-2, .alpha = kAlpha, .of_count = true}, team, engine::kernels_for(target));
        masks.step({&of.batch, 1});
        const std::vector<float> logits = masks.logits();
        for (const engine::Tensor& tensor : network->layout().tensors) {
          const double expected = tensor.shape.size() > 1 ? logit - 1e-2 * slope / (slope + 1e-8) : logit;
          EXPECT_NEAR(logits[tensor.offset], expected, 4e-6) << target << " " << of.name << " " << tensor.name;
          EXPECT_NEAR(logits[tensor.offset + tensor.count - 1], expected, 4e-6) << target << " " << tensor.name;
        }
      }
    }
  }
}

// Logits far down draw nothing and have no slope: nothing that is not a number, and only the penalty moves them.
TEST(DigitTrainingTest, LogitsFarAway) {
  Team team(1);
  for (const DigitCase& of : test::digit_cases()) {
    for (const float logit : {-200.0F, 200.0F}) {
      const auto network = make_network(of.shape, "scalar", team);
      DigitMaskTrainer masks(*network, matrices(*network), std::vector<float>(network->layout().count, logit),
                             {.samples = 2, .lr = 1e-2, .alpha = 0}, team, engine::kernels_for("scalar"));
      EXPECT_TRUE(std::isfinite(masks.step({&of.batch, 1})));
      for (const float now : masks.logits()) {
        EXPECT_EQ(now, logit);
      }
    }
  }
}

TEST(DigitOptimizerTest, ClipsByTheLength) {
  engine::Layout layout;
  layout.add("weight", {1, 1}, engine::Rate::kFunctional, 1, 1);
  layout.add("other", {1, 2}, engine::Rate::kFunctional, 2, 1);
  const models::PanelLayout panels(layout);
  Team team(1);
  DigitOptimizer optimizer(panels, {1, 0}, 0.5, 1, team, engine::kernels_for("scalar"));
  AlignedVector<float> parameters = panels.arranged<float>(std::vector<float>{1, 1, 1});
  AlignedVector<float> other = panels.arranged<float>(std::vector<float>{0, 3, 4});
  EXPECT_EQ(optimizer.squares(other), 0) << "of what is optimised";
  optimizer.scale(static_cast<float>(optimizer.factor_for(optimizer.squares_of_all(other))), other);
  EXPECT_NEAR(panels.in_order<double>(other)[1], 3 * 0.19999996, 1e-7);
  EXPECT_NEAR(panels.in_order<double>(other)[2], 4 * 0.19999996, 1e-7);
  // Adam's first step: -lr g / (|g| + epsilon).
  AlignedVector<float> gradients = panels.arranged<float>(std::vector<float>{1e-7F, 0, 0});
  DigitOptimizer fresh(panels, {1, 0}, 0.5, 1, team, engine::kernels_for("scalar"));
  fresh.update(parameters, gradients);
  EXPECT_NEAR(panels.in_order<double>(parameters)[0], 1 - 0.5 * 1e-7 / (1e-7 + 1e-8), 1e-6);
  EXPECT_EQ(panels.in_order<double>(parameters)[1], 1);
}

TEST(DigitTrainingTest, RefusesWhatCannotBe) {
  Team team(1);
  const DigitCase of = test::digit_cases().front();
  const auto network = make_network(of.shape, "scalar", team);
  const std::vector<float> logits(network->layout().count, 2.0F);
  const engine::Kernels<float>& kernels = engine::kernels_for("scalar");
  EXPECT_THROW(DigitMaskTrainer(*network, matrices(*network), logits, {.samples = 0}, team, kernels), ConfigError);
  EXPECT_THROW(DigitMaskTrainer(*network, {1, 1, 1, 1, 1, 1}, logits, {}, team, kernels), ConfigError);
  DigitMaskTrainer masks(*network, matrices(*network), logits, {.samples = 5}, team, kernels);
  EXPECT_THROW(masks.step({&of.batch, 1}), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
