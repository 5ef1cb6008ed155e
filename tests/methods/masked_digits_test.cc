#include "methods/mask/masked_digits.h"

#include <gtest/gtest.h>

#include "core/team.h"
#include "models/digits/digit_network.h"

namespace modlab {
namespace {

using methods::DigitMaskingSpec;
using methods::MaskedDigits;

DigitMaskingSpec two_sums() {
  DigitMaskingSpec spec;
  spec.task = {.kind = tasks::Arithmetic::kDoubleAddition, .digits = 1};
  spec.hidden = {24};
  spec.steps = 200;
  spec.mask.steps = 150;
  spec.mask.lr = 0.05;
  spec.mask.beta = 1e-2;
  spec.controls = false;
  return spec;
}

MaskedDigits masked(const DigitMaskingSpec& spec, int threads = 1) {
  methods::DigitProgress progress;
  std::optional<MaskedDigits> made = methods::mask_digits(spec, threads, engine::kernels(), progress);
  EXPECT_EQ(progress.steps.load(), methods::all_steps(spec));
  return std::move(*made);
}

// What the other sum's inputs and outputs are joined by gets no gradient, so that a mask does not keep it.
TEST(MaskedDigitsTest, AMaskOfOneSumKeepsNothingOfTheOthersEnds) {
  const DigitMaskingSpec spec = two_sums();
  const MaskedDigits made = masked(spec);
  ASSERT_EQ(made.outcome.stages.size(), 3U);
  for (std::size_t pair = 0; pair < 2; ++pair) {
    const models::WeightMask& mask = made.outcome.stages[pair + 1].mask;
    const models::MaskTensor& first = mask.tensors.front();  // [24][40]
    for (std::size_t place = 0; place < first.kept.size(); ++place) {
      if (place % 40 / 20 != pair) {
        ASSERT_EQ(first.kept[place], 0) << place;
      }
    }
    const models::MaskTensor& last = mask.tensors.back();  // [20][24]
    for (std::size_t place = 0; place < last.kept.size(); ++place) {
      if (place / 24 / 10 != pair) {
        ASSERT_EQ(last.kept[place], 0) << place;
      }
    }
    EXPECT_GT(methods::kept_count(mask), 0U);
  }
  const auto sharing = methods::sharing_of(made.outcome).front();
  EXPECT_EQ(sharing.tensors.front().both, 0U);
  EXPECT_EQ(sharing.tensors.back().both, 0U);
}

TEST(MaskedDigitsTest, CopiedWeightsAnswerAlikeInBothPlaces) {
  DigitMaskingSpec spec = two_sums();
  spec.copy_weights = true;
  spec.steps = 30;
  spec.mask.steps = 5;
  const MaskedDigits made = masked(spec);
  Team team(1);
  const auto network = models::make_digit_network<float>(
      methods::digit_shape(spec), engine::solo::masked_kernels_for(engine::kernels().target), team);
  network->load(made.weights);
  const std::vector<tasks::ArithmeticSample> same = {{{3, 4, 3, 4}, 0}, {{9, 0, 9, 0}, 0}};
  const auto passes = models::digit_passes(spec.task, same, models::kAllTargets, false);
  const float* said = network->evaluate(passes[0]);
  const std::vector<float> in_first(said, said + 2 * 20);
  said = network->evaluate(passes[1]);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t output = 0; output < 10; ++output) {
      EXPECT_EQ(in_first[row * 20 + output], said[row * 20 + 10 + output]);
    }
  }
}

TEST(MaskedDigitsTest, ThreadsAndTargetsChangeNothing) {
  DigitMaskingSpec spec = two_sums();
  spec.steps = 20;
  spec.mask.steps = 20;
  const MaskedDigits one = masked(spec, 1);
  const MaskedDigits two = masked(spec, 2);
  EXPECT_EQ(one.weights, two.weights);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(one.outcome.stages[stage].logits, two.outcome.stages[stage].logits);
  }
  methods::DigitProgress progress;
  const auto plain = methods::mask_digits(spec, 1, engine::kernels_for("scalar"), progress);
  EXPECT_EQ(plain->outcome.stages[1].logits, one.outcome.stages[1].logits);
}

TEST(MaskedDigitsTest, StopsWhenItIsAsked) {
  methods::DigitProgress progress;
  progress.stop = true;
  EXPECT_FALSE(methods::mask_digits(two_sums(), 1, engine::kernels(), progress).has_value());
}

}  // namespace
}  // namespace modlab
