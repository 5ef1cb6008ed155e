#include <gtest/gtest.h>

#include <set>

#include "cli/program.h"
#include "io/safetensors.h"
#include "small_images.h"

namespace modlab {
namespace {

// Short trainings: what is tested is what is said, not how good it is.
constexpr auto kShort = "mask --task depth1 --network dense --hidden 8 --epochs 20 --mask-steps 30 --beta 0.01 ";
constexpr auto kDigits = "mask --task add-mul --digits 1 --hidden 16 --steps 30 --mask-steps 20 ";

constexpr auto kPermuted =
    "mask --task permuted-mnist --hidden 16,12 --tasks 3 --mask-steps 25 --mask-batch 16 "
    "--images small-train-images,small-test-images --labels small-train-labels,small-test-labels ";

class MaskVerb : public test::ProgramTest {
 protected:
  nlohmann::json masked(const std::string& line) { return json_output(line + " --json")["runs"]; }
  // One line on standard error, exit code 2, nothing written.
  void expect_refused(const std::string& line, const std::string& part) {
    const auto before = folder_.names();
    const test::Outcome outcome = run(test::words_of(line));
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_EQ(test::lines_of(outcome.err).size(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_EQ(folder_.names(), before) << line;
  }
};

TEST_F(MaskVerb, TrainsMasksAndSaysWhatTheyShare) {
  const nlohmann::json runs = masked(std::string(kShort) + "--seed 0,1");
  ASSERT_EQ(runs.size(), 2U);
  const nlohmann::json& run = runs[0];
  const std::vector<std::string> targets = {"y0", "y1"};
  ASSERT_EQ(run["stages"].size(), 3U) << "a control and one for each output";
  EXPECT_EQ(run["stages"][0]["name"], "all");
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const nlohmann::json& here = run["stages"][stage];
    for (const std::string& target : targets) {
      EXPECT_GE(here["accuracy"][target].get<double>(), 0);
      EXPECT_LE(here["inverse"][target].get<double>(), 100);
    }
    EXPECT_LE(here["kept"]["layer0.weight"], here["weights"]["layer0.weight"]);
    EXPECT_LE(here["live"]["layer0.weight"], here["kept"]["layer0.weight"]);
    EXPECT_TRUE(here.contains("ambiguous"));
    EXPECT_FALSE(here["kept"].contains("layer0.bias"));
    EXPECT_EQ(here.contains("again"), stage > 0);
    EXPECT_EQ(here.contains("untrained"), stage > 0);
  }
  for (const char* share : {"iou", "iomin", "iou_chance", "iomin_chance"}) {
    EXPECT_TRUE(run["sharing"]["layer1.weight"].contains(share));
    EXPECT_TRUE(run["sharing"]["all"].contains(share));
  }
  EXPECT_EQ(run["unmasked"].size(), 2U);
  EXPECT_NE(runs[0]["id"], runs[1]["id"]);
  EXPECT_EQ(masked(std::string(kShort) + "--seed 1 --threads 1")[0]["stages"], runs[1]["stages"])
      << "the same alone and on one thread";
}

TEST_F(MaskVerb, ShowsATableForPeople) {
  const std::string text = output(test::words_of(std::string(kShort) + "--seed 0..2 --beta auto"));
  for (const char* part : {"3 networks", "accuracy %", "not y0", "kept weights", "live", "shared by two masks",
                           "by chance", "trained again", "untrained network", "undecided", "is taken"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(MaskVerb, SaysWhatMasksDoNotMean) {
  const std::string text =
      output(test::words_of("mask --task depth1 --network dense --hidden 8 --epochs 20 --mask-steps 300 --beta 100 "
                            "--controls false --seed 0..2"));
  for (const char* part :
       {"Careful (3 of 3 networks): the mask of y0 keeps nothing: no path is left",
        "Careful (3 of 3 networks): the mask of y1 keeps nothing: no path is left", "less than 95 %"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(MaskVerb, MasksNetworksThatWereSaved) {
  output(test::words_of("train --task depth1 --model dense,modular-shared,sparse --hidden 8 --epochs 20 --save nets"));
  int masked_files = 0;
  for (const std::string& name : folder_.names()) {
    if (name.ends_with(".safetensors")) {
      const nlohmann::json runs =
          masked("mask --from " + name + " --targets y0+y1/y1 --mask-steps 20 --beta 0.01 --controls false");
      ASSERT_EQ(runs.size(), 1U);
      EXPECT_EQ(runs[0]["task"], "depth1");
      EXPECT_EQ(runs[0]["stages"][1]["name"], "y0+y1");
      EXPECT_FALSE(runs[0]["stages"][1].contains("again"));
      ++masked_files;
    }
  }
  EXPECT_EQ(masked_files, 3);
  output(
      test::words_of("sculpt --task sculpt/4-2-4 --hidden 8,8 --unit-steps 40 --edge-steps 2.5 --epochs 20 "
                     "--prune-unlearned true --save carved"));
  const nlohmann::json carved =
      masked("mask --from carved/dense.jsonl --task sculpt/4-2-4 --mask-steps 10 --beta 0.01");
  EXPECT_EQ(carved[0]["stages"].size(), 5U);
  EXPECT_FALSE(carved[0]["stages"][1].contains("untrained")) << "nobody knows what it was before";
}

TEST_F(MaskVerb, WritesWhatOtherProgramsRead) {
  const nlohmann::json run = masked(std::string(kShort) + "--seed 3 --save out")[0];
  const std::string id = run["id"];
  const auto file = [&](const std::string& name) {
    return io::read_safetensors(folder_.file("out/" + id + "." + name + ".safetensors"));
  };
  const io::TensorFile network = file("network");
  const io::TensorFile mask = file("mask-y0");
  const io::TensorFile logits = file("logits-y0");
  const io::TensorFile left = file("masked-y0");
  std::size_t kept = 0;
  for (const io::NamedTensor& tensor : mask.tensors) {
    for (std::size_t place = 0; place < tensor.values.size(); ++place) {
      const bool is_kept = tensor.values[place] == 1;
      kept += is_kept ? 1 : 0;
      EXPECT_EQ(is_kept, logits.find(tensor.name)->values[place] > 0);
      EXPECT_EQ(left.find(tensor.name)->values[place], is_kept ? network.find(tensor.name)->values[place] : 0);
    }
  }
  std::size_t said = 0;
  for (const auto& [tensor, count] : run["stages"][1]["kept"].items()) {
    said += count.get<std::size_t>();
  }
  EXPECT_EQ(kept, said);
  EXPECT_EQ(left.find("layer0.bias")->values, network.find("layer0.bias")->values) << "biases stay";
  const std::string both = "out/" + id + ".mask-y0.safetensors out/" + id + ".mask-y1.safetensors";
  const nlohmann::json overlap = json_output("overlap " + both + " --json");
  EXPECT_NEAR(overlap["pairs"][0]["iou"].get<double>(), run["sharing"]["all"]["iou"].get<double>(), 1e-12);
}

// A sparse network's masks can only keep the weights that it has: that is what chance is reckoned by, here and of the
// files.
TEST_F(MaskVerb, ChanceKnowsWhichWeightsAreThere) {
  const nlohmann::json run = masked(
      "mask --task depth1 --network sparse --density 0.3 --hidden 12 --epochs 50 --mask-steps 60 --beta 0.01 "
      "--controls false --save out")[0];
  std::size_t present = 0;
  std::size_t first = 0;
  std::size_t second = 0;
  const nlohmann::json& tensors = run["pairs"][0]["tensors"];
  for (const auto& [name, tensor] : tensors.items()) {
    const std::size_t weights = run["stages"][1]["weights"][name];
    present += weights;
    first += run["stages"][1]["kept"][name].get<std::size_t>();
    second += run["stages"][2]["kept"][name].get<std::size_t>();
  }
  const io::TensorFile network =
      io::read_safetensors(folder_.file("out/" + run["id"].get<std::string>() + ".network.safetensors"));
  std::size_t there = 0;
  for (const io::NamedTensor& tensor : network.tensors) {
    there += tensor.shape.size() == 2 ? tensor.values.size() - std::ranges::count(tensor.values, 0.0F) : 0;
  }
  EXPECT_EQ(present, there);
  ASSERT_GT(first, 0U);
  ASSERT_GT(second, 0U);
  const std::string both = "out/" + run["id"].get<std::string>() + ".mask-y0.safetensors out/" +
                           run["id"].get<std::string>() + ".mask-y1.safetensors";
  const nlohmann::json pair = json_output("overlap " + both + " --json")["pairs"][0];
  EXPECT_NEAR(pair["iou_chance"].get<double>(), run["sharing"]["all"]["iou_chance"].get<double>(), 1e-12);
}

TEST_F(MaskVerb, MasksArithmetic) {
  for (const char* network : {"--network fnn --hidden 16", "--network lstm --state 8 --layers 2"}) {
    const nlohmann::json run =
        masked(std::string("mask --task add-mul --digits 1 --steps 20 --mask-steps 10 ") + network)[0];
    EXPECT_EQ(run["stages"][1]["name"], "add");
    EXPECT_EQ(run["stages"][2]["name"], "mul");
    ASSERT_EQ(run["stages"][1]["confusion"].size(), 2U);
    for (const nlohmann::json& row : run["stages"][1]["confusion"]) {
      ASSERT_EQ(row.size(), 3U);
      EXPECT_NEAR(row[0].get<double>() + row[1].get<double>() + row[2].get<double>(), 100, 1e-9);
    }
  }
  const nlohmann::json both =
      masked("mask --task double-addition --digits 1 --hidden 12 --steps 20 --mask-steps 10")[0];
  EXPECT_EQ(both["stages"][1]["name"], "pair1");
  EXPECT_FALSE(both["stages"][1].contains("confusion"));
  EXPECT_EQ(both["beta"], 4e-4) << "the published one for two passes";
  for (const char* mode : {"together", "only-one-io", "same-io"}) {
    const nlohmann::json run = masked(std::string("mask --task double-addition --digits 1 --network lstm --state 6 "
                                                  "--steps 5 --mask-steps 5 --controls false --pair-mode ") +
                                      mode)[0];
    EXPECT_EQ(run["stages"].size(), 3U) << mode;
  }
}

TEST_F(MaskVerb, WhatIsSavedIsNotTrainedAgain) {
  const std::string command =
      "mask --task add-mul --digits 1 --hidden 12 --steps 20 --mask-steps 10 --controls false --save out --seed ";
  const nlohmann::json first = masked(command + "0");
  const test::Outcome both = run(command + "0,1 --json");
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_NE(both.err.find("1 of 2 networks are in out already"), std::string::npos) << both.err;
  const nlohmann::json runs = nlohmann::json::parse(both.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0], first[0]);
  EXPECT_EQ(runs[1]["seed"], 1);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out/unfinished"));
}

TEST_F(MaskVerb, MasksOneTaskAfterTheOther) {
  test::SmallImages().write(folder_);
  const nlohmann::json runs = masked(std::string(kPermuted) + "--seed 0,1 --save out");
  ASSERT_EQ(runs.size(), 2U);
  const nlohmann::json& run = runs[0];
  EXPECT_EQ(run["unmasked"].size(), 3U);
  ASSERT_EQ(run["stages"].size(), 3U) << "a task each, and no control";
  for (std::size_t task = 0; task < 3; ++task) {
    const nlohmann::json& stage = run["stages"][task];
    EXPECT_EQ(stage["name"], "T" + std::to_string(task + 1));
    EXPECT_EQ(stage["accuracy"].size(), task + 1) << "of the tasks so far";
    EXPECT_EQ(stage["inverse"].size(), task + 1);
    EXPECT_TRUE(stage.contains("ambiguous"));
    EXPECT_LE(stage["kept"]["layers.1.weight"], stage["weights"]["layers.1.weight"]);
    EXPECT_EQ(stage["weights"]["layers.0.bias"], 16) << "biases are masked";
    EXPECT_EQ(stage.contains("shared"), task > 0);
    if (task > 0) {
      EXPECT_EQ(stage["shared"].size(), stage["shared_chance"].size());
      EXPECT_FALSE(stage["shared"].contains("layers.0.weight")) << "which is every task's own";
      EXPECT_LE(stage["shared"]["layers.1.weight"], 1);
    }
  }
  EXPECT_EQ(run["pairs"].size(), 3U);
  for (const char* share : {"iou", "iomin", "iou_chance", "iomin_chance"}) {
    EXPECT_TRUE(run["sharing"]["layers.1.weight"].contains(share));
    EXPECT_TRUE(run["sharing"]["all"].contains(share));
  }
  EXPECT_FALSE(run["sharing"].contains("layers.0.weight"));
  EXPECT_EQ(masked(std::string(kPermuted) + "--seed 1 --threads 1")[0]["stages"], runs[1]["stages"])
      << "the same alone and on one thread";
  // Each task's masked network is that of its own time.
  const std::string id = run["id"];
  const auto values = [&](const std::string& name, const std::string& tensor) {
    return io::read_safetensors(folder_.file("out/" + id + "." + name + ".safetensors")).find(tensor)->values;
  };
  const std::vector<float> left = values("masked-T1", "layers.0.weight");
  const std::vector<float> network = values("network", "layers.0.weight");
  const std::vector<float> kept = values("mask-T1", "layers.0.weight");
  for (std::size_t place = 0; place < kept.size(); ++place) {
    ASSERT_EQ(left[place] != 0, kept[place] == 1);
    ASSERT_TRUE(left[place] == 0 || left[place] != network[place]) << "its first layer is gone";
  }
}

TEST_F(MaskVerb, ShowsTasksInTheirOrder) {
  test::SmallImages().write(folder_);
  const std::string text = output(test::words_of(std::string(kPermuted) + "--seed 0..1 --prefer-old -1"));
  for (const char* part : {"prefer_old -1", "2 networks", "all but its mask", "T3", "kept weights", "layers.0.bias",
                           "kept by earlier masks too", "by chance", "shared by two masks", "of the first mask"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(MaskVerb, BadInputOfPermutedImagesIsOneClearLine) {
  test::SmallImages().write(folder_);
  const std::string line = kPermuted;
  expect_refused(line + "--prefer-old yes", "prefer_old");
  expect_refused(line + "--tasks 0", "tasks");
  expect_refused(line + "--beta auto", "beta: auto is for networks that are trained before");
  expect_refused(line + "--clip-of published", "clip_of");
  expect_refused(line + "--inverse-io fullmask", "no control mask");
  expect_refused(line + "--sampler hard-concrete", "hard-concrete");
  expect_refused(line + "--grain unit", "grain unit");
  expect_refused(line + "--samples 64 --mask-batch 64", "32 masks at most");
  expect_refused(line + "--include layers.9.*", "no tensor is named like 'layers.9.*'");
  expect_refused(line + "--network lstm", "network");
  expect_refused("mask --task permuted-mnist --images small-train-images --labels small-train-labels", "two files");
  expect_refused("train --task permuted-mnist --model dense", "permuted-mnist is a task for the models masked");
  test::SmallImages{.digits = 12, .bits = 4, .name = "many"}.write(folder_);
  expect_refused(
      "mask --task permuted-mnist --images many-train-images,many-test-images "
      "--labels many-train-labels,many-test-labels",
      "a training image has the label 10");
}

TEST_F(MaskVerb, BadInputIsOneClearLine) {
  expect_refused(std::string(kShort) + "--samples 3", "not divided by 3 samples");
  expect_refused(std::string(kShort) + "--include layer9.*", "no tensor is named like 'layer9.*'");
  expect_refused(std::string(kShort) + "--exclude *", "no tensor is left");
  expect_refused("mask --task depth1 --beta 0", "beta");
  expect_refused("mask --task depth1 --beta -1", "beta");
  expect_refused(std::string(kShort) + "--targets y7", "no output 'y7'");
  expect_refused(std::string(kShort) + "--targets none.csv", "none.csv");
  folder_.write("empty.csv", "target,row,output\n");
  expect_refused(std::string(kShort) + "--targets empty.csv", "no target selects any row");
  expect_refused(std::string(kShort) + "--clip-of published", "clip_of");
  expect_refused(std::string(kDigits) + "--sampler hard-concrete --active-set 12", "one bit for each weight");
  expect_refused(std::string(kDigits) + "--grain unit --clip-of published", "one bit for each weight");
  expect_refused(std::string(kDigits) + "--samples 64 --mask-batch 64", "32 masks at most");
  expect_refused(std::string(kDigits) + "--active-set -1", "active_set");
  expect_refused(std::string(kShort) + "--active-set 12", "large networks");
  expect_refused(std::string(kDigits) + "--delay 5", "delay");
  expect_refused(std::string(kDigits) + "--state 8", "state");
  expect_refused(std::string(kDigits) + "--digits 9", "digits");
  expect_refused("mask --from missing.safetensors", "missing.safetensors");
  folder_.write("broken.safetensors", "what is this");
  expect_refused("mask --from broken.safetensors", "broken.safetensors");
  folder_.write("net.jsonl", R"({"id": "a", "W": [[[1, 2, 3, 4]], [[1], [2]]]})"
                             "\n");
  expect_refused("mask --from net.jsonl", "--task");
  expect_refused("mask --from net.jsonl --task depth2", "6 inputs");
  folder_.write("lies.jsonl", R"({"id": "a", "W": [[[1, 2, 3, 4, 5, 6]], [[1], [2]]], "accuracy": 0.995})"
                              "\n");
  expect_refused("mask --from lies.jsonl --task depth1", "says that its accuracy is 99.50 %");
  expect_refused("mask --from net.jsonl --task depth1 --epochs 5", "how networks are trained");
}

}  // namespace
}  // namespace modlab
