#include "methods/torch/sequence_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/errors.h"
#include "methods/mask/masked_parameters.h"
#include "temporary_folder.h"

namespace modlab::methods {
namespace {

using models::SequenceNetworkKind;
using models::SequenceShape;

TEST(SequenceParts, ScanHasThePublishedSizes) {
  const SequenceParts parts = scan_parts({});
  EXPECT_EQ(parts.samples->inputs.size(), 20910U);
  const std::vector<std::pair<std::size_t, std::size_t>> sizes = {
      {16728, 4182}, {14670, 7706}, {16990, 3920}, {21890, 1208}};
  for (std::size_t split = 0; split < sizes.size(); ++split) {
    EXPECT_EQ(parts.parts[split].name, kScanSplits[split]);
    EXPECT_EQ(parts.parts[split].train.size(), sizes[split].first) << kScanSplits[split];
    EXPECT_EQ(parts.parts[split].test.size(), sizes[split].second) << kScanSplits[split];
  }
}

TEST(SequenceParts, PartsHaveAsManyQuestionsAsThereAre) {
  constexpr int kMore = 220'000;  // than there are easy sums
  constexpr int kTests = 10;
  const SequenceParts parts = math_parts(tasks::MathModule::kAddOrSub, {}, kMore, kTests);
  EXPECT_LT(parts.part("easy").train.size(), kMore - kTests);
  EXPECT_GT(parts.part("easy").train.size(), kMore / 2U);
  EXPECT_EQ(parts.part("easy").test.size(), kTests);
  EXPECT_GT(parts.part("hard").train.size(), kMore - kMore / 10U);
}

TEST(SequenceParts, TheSimpleSplitIsThatOfTheFiles) {
  const test::TemporaryFolder folder;
  folder.write("train.txt", "IN: jump OUT: I_JUMP\nIN: run twice OUT: I_RUN I_RUN\n");
  folder.write("test.txt", "IN: walk OUT: I_WALK\n");
  const SequenceParts parts = scan_parts({folder.file("train.txt"), folder.file("test.txt")});
  EXPECT_EQ(parts.part("simple").train.size(), 2U);
  EXPECT_EQ(parts.part("simple").test.size(), 1U);
  EXPECT_EQ(parts.part("jump").test.size(), 7706U);
}

TEST(SequenceParts, QuestionsOfMathematicsAreDivided) {
  const SequenceParts parts = math_parts(tasks::MathModule::kSort, {}, 200, 30);
  ASSERT_EQ(parts.parts.size(), 3U);
  std::set<std::uint32_t> all;
  std::set<std::vector<std::uint8_t>> texts;
  for (const SequencePart& part : parts.parts) {
    EXPECT_EQ(part.test.size(), 30U) << part.name;
    all.insert(part.test.begin(), part.test.end());
    all.insert(part.train.begin(), part.train.end());
  }
  for (const std::vector<std::uint8_t>& question : parts.samples->inputs) {
    texts.insert(question);
    EXPECT_TRUE(std::ranges::all_of(question, [&](std::uint8_t letter) { return letter < parts.input_tokens; }));
  }
  EXPECT_EQ(all.size(), parts.samples->inputs.size());
  EXPECT_EQ(texts.size(), parts.samples->inputs.size());
  EXPECT_EQ(parts.all_train().size(), all.size() - 90);
  EXPECT_THROW(math_parts(tasks::MathModule::kSort, {}, 200, 200), ConfigError);
}

TEST(SequenceParts, AHarderPartHasNoQuestionOfAnEasierOne) {
  const test::TemporaryFolder folder;
  folder.write("easy.txt", "What is 1 + 1?\n2\nWhat is 1 + 2?\n3\n");
  folder.write("medium.txt", "What is 1 + 2?\n3\nWhat is 10 + 2?\n12\nWhat is 10 + 3?\n13\n");
  folder.write("hard.txt", "What is 1 + 1?\n2\nWhat is 99 + 2?\n101\nWhat is 99 + 3?\n102\n");
  const SequenceParts parts =
      math_parts(tasks::MathModule::kAddOrSub,
                 {folder.file("easy.txt"), folder.file("medium.txt"), folder.file("hard.txt")}, 0, 1);
  EXPECT_EQ(parts.samples->inputs.size(), 6U);
  for (const SequencePart& part : parts.parts) {
    EXPECT_EQ(part.train.size() + part.test.size(), 2U) << part.name;
  }
}

// Numbers of weights that have a mask, as published.
TEST(SequenceShapes, HaveThePublishedNumberOfMaskedWeights) {
  const auto masked = [](const SequenceShape& shape) {
    return masked_parameters(models::sequence_layout(shape), {.exclude = {"no-bias", "no-embedding"}}).logits;
  };
  SequenceShape scan{.input_tokens = 13, .output_tokens = 6};
  EXPECT_EQ(masked(scan), 987'000);
  scan.kind = SequenceNetworkKind::kTransformer;
  scan.layers = 3;
  scan.width = 100;
  EXPECT_EQ(masked(scan), 603'700);
  SequenceShape mathematics{.kind = SequenceNetworkKind::kTransformer,
                            .input_tokens = 95,
                            .output_tokens = 95,
                            .layers = 3,
                            .width = 256,
                            .inner = 512,
                            .shares_embedding = true};
  EXPECT_EQ(masked(mathematics), 3'939'840);
  mathematics.layers = 6;
  mathematics.width = 512;
  mathematics.inner = 2048;
  mathematics.heads = 8;
  EXPECT_EQ(masked(mathematics), 44'070'912);
}

TEST(SequenceShapes, ParametersBeginAsPublished) {
  const SequenceShape shape{
      .kind = SequenceNetworkKind::kTransformer, .input_tokens = 13, .output_tokens = 6, .layers = 1, .width = 100};
  const std::vector<float> parameters = models::initial_sequence_parameters(shape, 5);
  EXPECT_EQ(parameters, models::initial_sequence_parameters(shape, 5));
  EXPECT_NE(parameters, models::initial_sequence_parameters(shape, 6));
  const auto largest = [&](const std::string& name) {
    const engine::Layout layout = models::sequence_layout(shape);
    const engine::Tensor& tensor = *std::ranges::find(layout.tensors, name, &engine::Tensor::name);
    float most = 0;
    for (std::size_t place = tensor.offset; place < tensor.offset + tensor.count; ++place) {
      most = std::max(most, std::abs(parameters[place]));
    }
    return most;
  };
  EXPECT_NEAR(largest("encoder.layers.0.self_attention.query.weight"), std::sqrt(6.0 / 200), 1e-3);
  EXPECT_NEAR(largest("encoder.layers.0.self_attention.key_value.weight"), std::sqrt(6.0 / 200), 1e-3);
  EXPECT_NEAR(largest("encoder.layers.0.linear1.weight"), std::sqrt(2 * 6.0 / 300), 1e-3);
  EXPECT_NEAR(largest("encoder.layers.0.linear1.bias"), 0.1, 5e-3);
  EXPECT_EQ(largest("encoder.layers.0.norm1.beta"), 0);
  EXPECT_EQ(largest("encoder.layers.0.norm1.gamma"), 1);
  EXPECT_GT(largest("input_embedding.weight"), 2.5);
}

}  // namespace
}  // namespace modlab::methods
