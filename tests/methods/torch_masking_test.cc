#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "methods/flat_optimizer.h"
#include "methods/torch/sample_targets.h"
#include "methods/torch/torch_masking.h"
#include "methods/torch/torch_training.h"
#include "temporary_folder.h"

namespace modlab::methods {
namespace {

constexpr std::uint32_t kSamples = 64;
constexpr int kFeatures = 6;
constexpr int kOutputs = 2;

// A network without libtorch: two sums of six inputs that are 1 or -1, squared error. The first output is the first
// input, the second one the last two.
class Sums : public models::TorchNetwork {
 public:
  Sums() {
    layout_.add("sums.weight", {kOutputs, kFeatures}, engine::Rate::kFunctional, kFeatures, kOutputs);
    layout_.add("sums.bias", {kOutputs}, engine::Rate::kFunctional, kFeatures, kOutputs);
  }
  const engine::Layout& layout() const override { return layout_; }
  std::vector<float> initial() const override { return std::vector<float>(layout_.count, 0.1F); }
  std::vector<float> buffers() const override { return buffers_; }
  void set_buffers(std::span<const float> buffers) override { buffers_.assign(buffers.begin(), buffers.end()); }

  double gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                  std::span<const std::uint8_t> wanted, std::span<float> gradients) override {
    ++calls_;
    if (batch.trains_weights) {
      buffers_[0] += 1;
    }
    std::vector<float> found(layout_.count);
    double loss = 0;
    const auto rows = static_cast<float>(batch.rows.size());
    for (const std::uint32_t row : batch.rows) {
      for (int output = 0; output < kOutputs; ++output) {
        if (!batch.outputs.empty() && batch.outputs[static_cast<std::size_t>(output)] == 0) {
          continue;
        }
        const float error = sum(parameters, row, output) - right(row, output);
        loss += error * error / rows;
        for (int feature = 0; feature < kFeatures; ++feature) {
          found[static_cast<std::size_t>(output * kFeatures + feature)] += 2 * error * input(row, feature) / rows;
        }
        found[static_cast<std::size_t>(kOutputs * kFeatures + output)] += 2 * error / rows;
      }
    }
    for (std::size_t tensor = 0; tensor < layout_.tensors.size(); ++tensor) {
      const engine::Tensor& here = layout_.tensors[tensor];
      if (wanted.empty() || wanted[tensor] != 0) {
        std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(here.offset), here.count,
                    gradients.begin() + static_cast<std::ptrdiff_t>(here.offset));
      }
    }
    return loss;
  }

  int answers() const override { return kOutputs; }
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override {
    std::vector<float> said;
    for (const std::uint32_t row : rows) {
      for (int output = 0; output < kOutputs; ++output) {
        said.push_back(sum(parameters, row, output));
      }
    }
    return said;
  }

  static float input(std::uint32_t row, int feature) {
    return (row >> static_cast<unsigned>(feature) & 1U) != 0 ? 1 : -1;
  }
  static float right(std::uint32_t row, int output) {
    return output == 0 ? 2 * input(row, 0) : input(row, 4) - input(row, 5);
  }
  int calls() const { return calls_; }

 private:
  static float sum(std::span<const float> parameters, std::uint32_t row, int output) {
    float value = parameters[static_cast<std::size_t>(kOutputs * kFeatures + output)];
    for (int feature = 0; feature < kFeatures; ++feature) {
      value += parameters[static_cast<std::size_t>(output * kFeatures + feature)] * input(row, feature);
    }
    return value;
  }

  engine::Layout layout_;
  std::vector<float> buffers_ = {0};
  int calls_ = 0;
};

models::GivenSamples samples() {
  models::GivenSamples made;
  made.shape = {kFeatures};
  made.kind = models::LabelKind::kNumbers;
  made.columns = kOutputs;
  made.learned = kSamples;
  for (std::uint32_t row = 0; row < kSamples; ++row) {
    for (int feature = 0; feature < kFeatures; ++feature) {
      made.inputs.push_back(Sums::input(row, feature));
    }
    for (int output = 0; output < kOutputs; ++output) {
      made.labels.push_back(Sums::right(row, output));
    }
  }
  return made;
}

TorchMasking masking_of(const models::GivenSamples& given, const SampleTargets& targets) {
  return {.spec = {.steps = 600, .batch_size = 32, .lr = 0.05, .beta = 0.3},
          .controls = true,
          .whole = targets.whole,
          .targets = targets.targets,
          .tests = given.test_rows(),
          .judge = [&](const std::vector<float>& said) { return judge_samples(said, kOutputs, given, targets); }};
}

std::vector<float> trained(Sums& network) {
  DigitProgress progress;
  const std::vector<std::uint32_t> rows = samples().training_rows();
  return *train_on_torch(network, network.initial(), rows, {.optimizer = {.lr = 0.05}, .steps = 400}, progress);
}

TEST(TorchMasking, MasksKeepWhatATargetNeeds) {
  Sums network;
  const std::vector<float> weights = trained(network);
  EXPECT_NEAR(weights[0], 2, 0.01);
  EXPECT_NEAR(weights[kFeatures + 4], 1, 0.01);
  const models::GivenSamples given = samples();
  const SampleTargets targets = sample_targets("outputs", given);
  DigitProgress progress;
  const auto outcome = mask_on_torch(network, weights, masking_of(given, targets), engine::kernels(), progress);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->targets, (std::vector<std::string>{"y1", "y2"}));
  EXPECT_GT(outcome->unmasked[0], 99.9);
  ASSERT_EQ(outcome->stages.size(), 3U);
  EXPECT_EQ(kept_count(outcome->stages[0].mask), 3U) << "one weight for the first sum, two for the second";
  EXPECT_EQ(kept_count(outcome->stages[1].mask), 1U);
  EXPECT_EQ(outcome->stages[1].mask.tensors[0].kept[0], 1);
  EXPECT_EQ(kept_count(outcome->stages[2].mask), 2U);
  EXPECT_GT(outcome->stages[1].accuracy[0], 99.9);
  EXPECT_LT(outcome->stages[1].accuracy[1], 1) << "nothing of the other sum is left";
  EXPECT_LT(outcome->stages[1].inverse[0], 1);
  EXPECT_EQ(outcome->stages[1].again->iou(), 1) << "another seed of noise, the same weight";
  EXPECT_EQ(sharing_of(*outcome).front().all.both, 0U);
}

TEST(TorchMasking, GoesOnWithinAMaskWhereItWasStopped) {
  Sums network;
  const std::vector<float> weights = trained(network);
  const models::GivenSamples given = samples();
  const SampleTargets targets = sample_targets("outputs", given);
  const TorchMasking masking = masking_of(given, targets);
  DigitProgress undisturbed;
  const auto expected = mask_on_torch(network, weights, masking, engine::kernels(), undisturbed);

  const test::TemporaryFolder folder;
  const io::Unfinished unfinished((folder.path() / "unfinished").string(), "run");
  std::optional<MaskOutcome> outcome;
  int stops = 0;
  while (!outcome) {
    // Asked to stop in the middle of whatever it is at: at the first step of the call, but every time it gets one
    // further.
    DigitProgress progress;
    progress.stop = stops < 25;
    outcome = mask_on_torch(network, weights, masking, engine::kernels(), progress, unfinished);
    stops += outcome ? 0 : 1;
    ASSERT_LE(stops, 25);
  }
  EXPECT_EQ(stops, 25);
  for (std::size_t stage = 0; stage < expected->stages.size(); ++stage) {
    EXPECT_EQ(outcome->stages[stage].logits, expected->stages[stage].logits) << stage;
  }
}

TEST(TorchMasking, TensorsFromTheControlStayAsItHasThem) {
  Sums network;
  const std::vector<float> weights = trained(network);
  const models::GivenSamples given = samples();
  const SampleTargets targets = sample_targets("outputs", given);
  TorchMasking masking = masking_of(given, targets);
  masking.controls = false;
  masking.from_control = {"sums.weight"};
  DigitProgress progress;
  const auto outcome = mask_on_torch(network, weights, masking, engine::kernels(), progress);
  for (const MaskStage& stage : outcome->stages) {
    EXPECT_EQ(stage.logits, outcome->stages.front().logits);
  }
}

TEST(TorchTraining, GoesOnWhereItWasStoppedBuffersIncluded) {
  const std::vector<std::uint32_t> rows = samples().training_rows();
  const TorchTraining training{
      .optimizer = {.lr = 0.05, .clip = 1}, .steps = 50, .rate_factor = [](int step) { return step < 25 ? 1.0 : 0.1; }};
  Sums whole;
  DigitProgress undisturbed;
  const auto expected = train_on_torch(whole, whole.initial(), rows, training, undisturbed);
  const test::TemporaryFolder folder;
  const io::Unfinished unfinished((folder.path() / "unfinished").string(), "run");
  std::optional<std::vector<float>> found;
  std::vector<float> buffers;
  for (int stops = 0; !found; ++stops) {
    ASSERT_LE(stops, 10);
    Sums part;
    DigitProgress progress;
    progress.stop = stops < 10;
    found = train_on_torch(part, part.initial(), rows, training, progress, unfinished);
    buffers = part.buffers();
  }
  EXPECT_EQ(*found, *expected);
  EXPECT_EQ(buffers, whole.buffers());
}

// What torch.optim's Adam and SGD do, written out in double precision.
TEST(FlatOptimizer, StepsAsPyTorchDoes) {
  const std::vector<std::vector<double>> gradients = {{0.5, -2}, {0.1, 3}, {-0.4, 0.2}};
  for (const FlatOptimizerKind kind : {FlatOptimizerKind::kAdam, FlatOptimizerKind::kMomentum}) {
    const FlatOptimizerSpec spec{.kind = kind, .lr = 0.1, .beta2 = 0.995, .decay = 0.01, .clip = 1};
    FlatOptimizer optimizer(2, spec);
    std::vector<float> found = {1, -1};
    std::vector<double> expected = {1, -1};
    std::vector<double> first(2);
    std::vector<double> second(2);
    for (std::size_t step = 0; step < gradients.size(); ++step) {
      const std::vector<float> given(gradients[step].begin(), gradients[step].end());
      optimizer.step(found, given, 0.5);
      const double length = std::hypot(gradients[step][0], gradients[step][1]);
      const double scale = std::min(1.0, 1 / (length + 1e-6));
      for (std::size_t at = 0; at < 2; ++at) {
        const double gradient = scale * gradients[step][at] + 0.01 * expected[at];
        if (kind == FlatOptimizerKind::kMomentum) {
          first[at] = step == 0 ? gradient : 0.9 * first[at] + gradient;
          expected[at] -= 0.05 * first[at];
          continue;
        }
        first[at] = 0.9 * first[at] + 0.1 * gradient;
        second[at] = 0.995 * second[at] + 0.005 * gradient * gradient;
        const double count = static_cast<double>(step) + 1;
        expected[at] -= 0.05 * first[at] / (1 - std::pow(0.9, count)) /
                        (std::sqrt(second[at] / (1 - std::pow(0.995, count))) + 1e-8);
      }
    }
    EXPECT_NEAR(found[0], expected[0], 1e-5);
    EXPECT_NEAR(found[1], expected[1], 1e-5);
  }
}

models::GivenSamples classes() {
  models::GivenSamples made;
  made.shape = {1};
  made.inputs = {0, 1, 2, 3, 4, 5};
  made.labels = {0, 1, 2, 0, 1, 2};
  made.learned = 3;  // the others are tested on
  return made;
}

TEST(SampleTargets, AreOutputsClassesOrWhatAFileSays) {
  const SampleTargets removed = sample_targets("classes", classes());
  ASSERT_EQ(removed.targets.size(), 3U);
  EXPECT_EQ(removed.targets[1].name, "without 1");
  EXPECT_EQ(removed.targets[1].rows, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(removed.tests[1], (std::vector<std::uint8_t>{1, 0, 1}));
  const SampleTargets named = parse_sample_targets("a,b\n1,0\n0,1\n1,1\n1,0\n0,0\n0,1\n", "t.csv", classes());
  EXPECT_EQ(named.targets[0].rows, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(named.tests[1], (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_THROW(sample_targets("outputs", classes()), ConfigError);
  EXPECT_THROW(sample_targets("classes", samples()), ConfigError);
  EXPECT_THROW(sample_targets("something", samples()), ConfigError);
  EXPECT_THROW(parse_sample_targets("a\n1\n", "t.csv", classes()), FormatError);
  EXPECT_THROW(parse_sample_targets("a\n1\n2\n0\n0\n0\n0\n", "t.csv", classes()), FormatError);
}

TEST(SampleTargets, JudgeClassesByTheRowsOfATarget) {
  const models::GivenSamples given = classes();
  const SampleTargets removed = sample_targets("classes", given);
  // Of the tests 0, 1, 2 the second is answered with 2.
  const TorchJudgement judged = judge_samples({9, 0, 0, 0, 1, 9, 0, 0, 9}, 3, given, removed);
  EXPECT_NEAR(judged.everything, 100 * 2.0 / 3, 1e-9);
  EXPECT_EQ(judged.accuracy, (std::vector<double>{50, 100, 50}));
  EXPECT_EQ(judged.classes[1], (std::vector<double>{0, 0, 100}));
}

}  // namespace
}  // namespace modlab::methods
