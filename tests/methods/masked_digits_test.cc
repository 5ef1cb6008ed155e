#include "methods/mask/masked_digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/team.h"
#include "io/file.h"
#include "methods/mask/mask_comparison.h"
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

// Logits that are given up where they can hardly return change no mask; where they still could, they do.
TEST(MaskedDigitsTest, TheActiveSetChangesNoMask) {
  DigitMaskingSpec spec = two_sums();
  spec.steps = 400;
  spec.mask.steps = 700;
  const MaskedDigits all = masked(spec);
  spec.mask.active = 12;
  const MaskedDigits active = masked(spec, 2);
  spec.mask.active = 0.5;
  const MaskedDigits hasty = masked(spec);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const methods::MaskStage& reference = all.outcome.stages[stage];
    const auto given_up = std::ranges::count_if(active.outcome.stages[stage].logits, [](float l) { return l < -900; });
    EXPECT_GT(given_up, std::ssize(reference.logits) / 5);
    EXPECT_EQ(std::ranges::count_if(reference.logits, [](float l) { return l < -900; }), 0);
    EXPECT_GT(measures::overlap_of(reference.mask, active.outcome.stages[stage].mask).iou(), 0.97);
    EXPECT_LT(measures::overlap_of(reference.mask, hasty.outcome.stages[stage].mask).iou(), 0.97);
  }
}

// Where both sums use the same outputs, a mask for either has to keep them.
TEST(MaskedDigitsTest, SharedInputsAndOutputs) {
  using models::PairMode;
  DigitMaskingSpec spec = two_sums();
  spec.task.network = models::DigitNetworkKind::kLstm;
  spec.state = 12;
  spec.layers = 1;
  spec.steps = 60;
  spec.mask.steps = 60;
  const auto shares = [&](PairMode mode) {
    spec.task.mode = mode;
    const auto sharing = methods::sharing_of(masked(spec).outcome).front();
    // The weights that read the inputs, and those of the outputs.
    return std::pair(sharing.tensors.front().both > 0, sharing.tensors.back().both > 0);
  };
  const std::pair neither(false, false);
  EXPECT_EQ(shares(PairMode::kOnlyOneIo), neither);
  EXPECT_EQ(shares(PairMode::kSameInput), std::pair(true, false));
  EXPECT_EQ(shares(PairMode::kSameOutput), std::pair(false, true));
  EXPECT_EQ(shares(PairMode::kSameIo), std::pair(true, true));
}

// While the first sum is learned alone, the other one's outputs stay as they began.
TEST(MaskedDigitsTest, TheSecondSumCanBeDelayed) {
  DigitMaskingSpec spec = two_sums();
  spec.steps = 20;
  spec.mask.steps = 1;
  const auto last_weights = [&](int delay) {
    spec.delay = delay;
    const std::vector<float> weights = masked(spec).weights;
    // The last layer is [20][24] and 20 biases: those of the second sum.
    return std::vector<float>(weights.end() - 20 - 10 * 24, weights.end() - 20);
  };
  const std::vector<float> initial = models::initial_digit_parameters(methods::digit_shape(spec), spec.seed);
  const std::vector<float> untouched(initial.end() - 20 - 10 * 24, initial.end() - 20);
  EXPECT_EQ(last_weights(20), untouched);
  EXPECT_NE(last_weights(19), untouched);
}

// What was done is not trained again, and the rest comes out as if nothing had happened.
TEST(MaskedDigitsTest, GoesOnWhereItWas) {
  DigitMaskingSpec spec = two_sums();
  spec.steps = 20;
  spec.mask.steps = 10;
  spec.controls = true;
  const io::TemporaryFolder folder(testing::TempDir(), "masked-digits");
  const io::Unfinished unfinished(folder.path(), "run");
  std::int64_t taken = 0;
  const auto made = [&] {
    methods::DigitProgress progress;
    const auto result = methods::mask_digits(spec, 1, engine::kernels(), progress, unfinished);
    EXPECT_EQ(progress.steps.load() + progress.found.load(), methods::all_steps(spec));
    taken = progress.steps.load();
    return std::pair(result->weights, result->outcome.stages[2].logits);
  };
  const auto whole = made();
  const auto parts = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(parts, 1 + 3 + 4) << "weights, masks, and masks of the controls";
  std::filesystem::remove(folder.path() + "/run.mask-2");
  EXPECT_EQ(made(), whole) << "the last mask is trained once more";
  EXPECT_EQ(taken, spec.mask.steps) << "and nothing else";
  std::vector<float> other = whole.second;
  other.front() = 5;
  unfinished.keep("mask-2", other);
  EXPECT_EQ(made().second, other) << "a part that is there is taken";
  // A run that is stopped at once has kept nothing new and loses nothing.
  methods::DigitProgress stopped;
  stopped.stop = true;
  std::filesystem::remove(folder.path() + "/run.mask-2");
  EXPECT_FALSE(methods::mask_digits(spec, 1, engine::kernels(), stopped, unfinished).has_value());
  EXPECT_EQ(made(), whole);
}

// What the published clipping takes from one mask to the next is kept as well.
TEST(MaskedDigitsTest, GoesOnWithWhatEarlierMasksLeft) {
  DigitMaskingSpec spec = two_sums();
  spec.steps = 20;
  spec.mask.steps = 10;
  spec.mask.clip = 1e-3;
  const auto last_mask = [&](const io::Unfinished& unfinished) {
    methods::DigitProgress progress;
    return methods::mask_digits(spec, 1, engine::kernels(), progress, unfinished)->outcome.stages[2].logits;
  };
  const std::vector<float> of_logits = last_mask({});
  spec.mask.clip_of = methods::MaskClip::kPublished;
  const std::vector<float> whole = last_mask({});
  EXPECT_NE(whole, of_logits);
  const io::TemporaryFolder folder(testing::TempDir(), "masked-digits-left");
  const io::Unfinished unfinished(folder.path(), "run");
  EXPECT_EQ(last_mask(unfinished), whole);
  std::filesystem::remove(folder.path() + "/run.mask-2");
  EXPECT_EQ(last_mask(unfinished), whole);
  std::filesystem::remove(folder.path() + "/run.mask-2");
  std::filesystem::remove(folder.path() + "/run.left-1");
  EXPECT_EQ(last_mask(unfinished), whole) << "a mask that has lost what it left is trained again";
}

TEST(MaskedDigitsTest, StopsWhenItIsAsked) {
  methods::DigitProgress progress;
  progress.stop = true;
  EXPECT_FALSE(methods::mask_digits(two_sums(), 1, engine::kernels(), progress).has_value());
}

}  // namespace
}  // namespace modlab
