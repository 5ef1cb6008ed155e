#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "cli/program.h"
#include "core/errors.h"
#include "experiments/experiment.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "models/torch/torch_network.h"

// Networks on sequences, against what tests/torch/make_sequence_fixtures.py has written down of PyTorch's own, and
// from their training to their masks.
namespace modlab {
namespace {

#define NEEDS_LIBTORCH()                                                          \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

// What TorchBatch::step_noise makes of a step: the right answer is shown, or what the network says itself.
constexpr std::uint64_t kShown = 0;
constexpr std::uint64_t kFree = ~std::uint64_t{0};

class SequenceFixture {
 public:
  explicit SequenceFixture(const std::string& name)
      : file_(io::read_safetensors(std::string(MODLAB_TEST_DIR "/torch/files/sequences-") + name + ".safetensors")),
        given_(nlohmann::json::parse(file_.metadata.at("settings"))) {
    shape_.kind =
        given_.at("kind") == "lstm" ? models::SequenceNetworkKind::kLstm : models::SequenceNetworkKind::kTransformer;
    shape_.input_tokens = given_.at("input_tokens").get<int>();
    shape_.output_tokens = given_.at("output_tokens").get<int>();
    shape_.layers = given_.at("layers").get<int>();
    shape_.embedding = given_.value("embedding", 0);
    shape_.width = given_.at("width").get<int>();
    shape_.inner = given_.value("inner", 0);
    shape_.heads = given_.value("heads", 0);
    shape_.shares_embedding = given_.value("shares_embedding", false);
    samples_->inputs = sequences("inputs");
    samples_->outputs = sequences("outputs");
    rows_.resize(samples_->inputs.size());
    std::iota(rows_.begin(), rows_.end(), 0U);
  }

  const std::vector<float>& values(const std::string& name) const { return file_.find(name)->values; }
  std::vector<std::string> names() const { return given_.at("names").get<std::vector<std::string>>(); }
  const models::SequenceShape& shape() const { return shape_; }
  models::SequenceShape& shape() { return shape_; }
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  models::TokenSequences& samples() { return *samples_; }
  std::unique_ptr<models::TorchNetwork> open() const {
    return models::torch_library().open_sequences(shape_, samples_, 0, {});
  }

 private:
  std::vector<std::vector<std::uint8_t>> sequences(const std::string& name) const {
    const io::NamedTensor& padded = *file_.find(name);
    std::vector<std::vector<std::uint8_t>> list(padded.shape[0]);
    for (std::size_t place = 0; place < padded.values.size(); ++place) {
      if (padded.values[place] >= 0) {
        list[place / padded.shape[1]].push_back(static_cast<std::uint8_t>(padded.values[place]));
      }
    }
    return list;
  }

  io::TensorFile file_;
  nlohmann::json given_;
  models::SequenceShape shape_;
  std::shared_ptr<models::TokenSequences> samples_ = std::make_shared<models::TokenSequences>();
  std::vector<std::uint32_t> rows_;
};

class SequenceParity : public testing::TestWithParam<const char*> {
 protected:
  static void expect_near(const std::vector<float>& found, const std::vector<float>& right) {
    ASSERT_EQ(found.size(), right.size());
    for (std::size_t place = 0; place < right.size(); ++place) {
      ASSERT_NEAR(found[place], right[place], 2e-5 * std::max(1.0F, std::abs(right[place]))) << place;
    }
  }
};

TEST_P(SequenceParity, TensorsHaveTheNamesOfPyTorch) {
  const SequenceFixture known(GetParam());
  std::vector<std::string> names;
  for (const engine::Tensor& tensor : models::sequence_layout(known.shape()).tensors) {
    names.push_back(tensor.name);
  }
  EXPECT_EQ(names, known.names());
}

TEST_P(SequenceParity, LossAndGradientsAreThoseOfPyTorch) {
  NEEDS_LIBTORCH();
  const SequenceFixture known(GetParam());
  const auto network = known.open();
  const bool is_lstm = known.shape().kind == models::SequenceNetworkKind::kLstm;
  for (const auto& [way, noise] : {std::pair("shown", kShown), std::pair("free", kFree)}) {
    if (way == std::string("free") && !is_lstm) {
      continue;
    }
    std::vector<float> gradients(network->layout().count, 77);
    const double loss =
        network->gradient(known.values("parameters"), {.rows = known.rows(), .step_noise = noise}, {}, gradients);
    EXPECT_NEAR(loss, known.values(std::string(way) + "_loss")[0], 1e-4) << way;
    expect_near(gradients, known.values(std::string(way) + "_gradient"));
  }
}

TEST_P(SequenceParity, AnswersAreThoseThatPyTorchWritesTokenByToken) {
  NEEDS_LIBTORCH();
  const SequenceFixture known(GetParam());
  EXPECT_EQ(known.open()->say(known.values("parameters"), known.rows()), known.values("right"));
}

// Rows are put in another order inside; what is said of each stays its own, and the loss is a mean.
TEST_P(SequenceParity, TheOrderOfRowsMakesNoDifference) {
  NEEDS_LIBTORCH();
  const SequenceFixture known(GetParam());
  const auto network = known.open();
  std::vector<std::uint32_t> rows = {7, 2, 2, 11, 0, 5};
  std::vector<float> right;
  for (const std::uint32_t row : rows) {
    right.push_back(known.values("right")[row]);
  }
  EXPECT_EQ(network->say(known.values("parameters"), rows), right);
  std::vector<float> gradients(network->layout().count);
  const double loss = network->gradient(known.values("parameters"), {.rows = rows}, {}, gradients);
  double sum = 0;
  for (const std::uint32_t row : rows) {
    sum += network->gradient(known.values("parameters"), {.rows = {&row, 1}}, {}, gradients);
  }
  EXPECT_NEAR(loss, sum / 6, 1e-4);
}

TEST_P(SequenceParity, DropoutIsDrawnByTheNoiseAndOnlyForWeights) {
  NEEDS_LIBTORCH();
  const SequenceFixture known(GetParam());
  const auto network = known.open();
  std::vector<float> gradients(network->layout().count);
  const auto loss = [&](bool trains, std::uint64_t noise) {
    return network->gradient(known.values("parameters"),
                             {.rows = known.rows(), .trains_weights = trains, .noise = noise}, {}, gradients);
  };
  EXPECT_EQ(loss(true, 3), loss(true, 3));
  EXPECT_NE(loss(true, 3), loss(true, 4));
  EXPECT_EQ(loss(false, 3), loss(false, 4));
}

INSTANTIATE_TEST_SUITE_P(Networks, SequenceParity, testing::Values("lstm", "transformer", "transformer-shared"));

TEST(Sequences, WhatDoesNotFitIsSaid) {
  NEEDS_LIBTORCH();
  SequenceFixture known("transformer");
  known.shape().positions = 10;  // the longest answer has nine tokens and its end
  EXPECT_NO_THROW(known.open());
  known.shape().positions = 9;
  EXPECT_THROW(known.open(), ConfigError);
  known.shape().positions = 10;
  known.samples().inputs[3].push_back(6);
  EXPECT_THROW(known.open(), ConfigError);
}

// The kind of experiment, from its settings to its numbers.
class MaskedSequences : public test::ProgramTest {
 protected:
  static settings::Given tiny() {
    return {{"task", "math/sort"}, {"model", "masked"}, {"width", "8"},      {"inner", "8"},       {"heads", "2"},
            {"layers", "1"},       {"steps", "60"},     {"batch_size", "8"}, {"mask_steps", "40"}, {"mask_batch", "8"},
            {"questions", "60"},   {"tests", "10"},     {"samples", "4"}};
  }
};

TEST_F(MaskedSequences, StopsAndGoesOnToTheSameResult) {
  NEEDS_LIBTORCH();
  const std::vector<experiments::Run> runs = {experiments::make_run(tiny())};
  const auto carry_out = [&](experiments::Work& work) {
    std::optional<experiments::Result> found;
    work.execute([&](std::vector<experiments::FinishedRun>&& finished) { found = std::move(finished[0].result); });
    return found;
  };
  const auto prepare = [&](const std::string& unfinished) {
    experiments::Resources resources;
    resources.unfinished = unfinished;
    return runs[0].kind->prepare(runs, resources, {});
  };
  const auto whole = carry_out(*prepare(""));
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->snapshots.at("best").contains("gap_hard"));

  const std::string unfinished = folder_.file("unfinished");
  // Before the first step, while weights are trained, and while masks are.
  for (const double share : {0.0, 0.2, 0.6}) {
    const auto work = prepare(unfinished);
    std::thread stopper([&] {
      while (work->status(1).share < share) {
        std::this_thread::yield();
      }
      work->stop();
    });
    carry_out(*work);
    stopper.join();
  }
  const auto resumed = carry_out(*prepare(unfinished));
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->snapshots, whole->snapshots);
  EXPECT_EQ(resumed->blobs, whole->blobs);
}

TEST_F(MaskedSequences, ScanIsMaskedForItsSplitsAndTrainedOnOneAlone) {
  NEEDS_LIBTORCH();
  const std::string sizes =
      " --state 4 --embedding 2 --layers 1 --steps 2 --batch-size 8 --mask-steps 2 --mask-batch 8";
  const nlohmann::json masked = json_output("mask --task scan --network lstm --json" + sizes)["runs"][0];
  std::vector<std::string> stages;
  for (const nlohmann::json& stage : masked["stages"]) {
    stages.push_back(stage["name"]);
    EXPECT_EQ(stage["accuracy"].size(), 3U);
    EXPECT_TRUE(stage["other_tests"].contains("simple"));
  }
  EXPECT_EQ(stages, (std::vector<std::string>{"simple", "jump", "length", "turn_left"}));
  for (const char* measure : {"mask_simple_on_jump", "mask_length_on_simple", "learned_turn_left", "gap_jump",
                              "removed_jump", "removed_end", "jump_removed_most"}) {
    EXPECT_TRUE(masked["best"].contains(measure)) << measure;
  }
  const nlohmann::json alone =
      json_output("mask --task scan --network lstm --trained-on jump --json" + sizes)["runs"][0];
  EXPECT_TRUE(alone["stages"].empty());
  EXPECT_EQ(alone["best"]["learned_jump"], alone["best"]["unmasked_on_jump"]);
  EXPECT_FALSE(alone["best"].contains("learned_length"));
  const test::Outcome text = run("mask --task scan --network lstm --trained-on jump" + sizes);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("Trained and not masked"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("the simple split of SCAN is drawn here"), std::string::npos) << text.err;
}

TEST_F(MaskedSequences, AStudyHasNetworksWithoutMasksToo) {
  NEEDS_LIBTORCH();
  const test::Outcome outcome =
      run("study run masks-scan --preset quick --out results seed=0 steps=2 mask_steps=2 batch_size=8 mask_batch=8 "
          "state=8");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("LSTM on jump alone"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("claims: "), std::string::npos) << outcome.out;
  // The page shows the masks, of the network that has some.
  const std::string page = io::read_file(folder_.file("results/report.html"), std::size_t{1} << 30U);
  EXPECT_NE(page.find("\"rank\":\"median\""), std::string::npos);
}

TEST_F(MaskedSequences, BadSettingsAreSaid) {
  folder_.write("train.txt", "IN: jump OUT: I_JUMP\n");
  folder_.write("test.txt", "IN: walk OUT: I_JUMP\n");
  folder_.write("odd.txt", "What is 1 + 1?\n");
  expect_refused("mask --task math/sort --network lstm", {"network transformer"});
  expect_refused("mask --task scan --network transformer --width 90", {"width", "4 heads"});
  expect_refused("mask --task scan --files train.txt", {"two, to train on and to test on"});
  expect_refused("mask --task scan --files train.txt,nowhere.txt", {"nowhere.txt"});
  expect_refused("mask --task scan --trained-on walk", {"trained_on", "turn_left"});
  expect_refused("mask --task scan --mask-batch 10", {"mask_batch"});
  NEEDS_LIBTORCH();
  expect_refused("mask --task scan --files train.txt,test.txt", {"test.txt:1"});
  expect_refused("mask --task math/sort --files odd.txt,odd.txt,odd.txt", {"in turn"});
  expect_refused("mask --task scan --include nothing.*", {"nothing.*", "output_projection.weight"});
}

TEST_F(MaskedSequences, QuestionsThatAreTooFewAreSaid) {
  NEEDS_LIBTORCH();
  const test::Outcome outcome = run("mask --task math/sort --questions 30 --tests 30");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("30 are to be tested on"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace modlab
