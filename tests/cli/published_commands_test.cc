// The commands of the published README, unchanged but for `python3 main.py`.

#include <gtest/gtest.h>

#include "cli/program.h"
#include "small_images.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::Words;
using test::words_of;

constexpr auto kMlp =
    "python3 main.py --experiment generalization --num_tasks 1 --dataset_path ./datasets/generalization/ --result_path "
    "./results/ --modularity 6 3 2 2  --dataset_noise True --dataset_split 0.5 --dataset_split_seed 40 --model mlp "
    "--arch "
    "6 36 36 36 2 --pruning_ratio 0.0 --lr 0.1 --batch_size 64 --weight_decay 0.001 --epochs 1000 --seed 0 ";
constexpr auto kModular =
    "python3 main.py --experiment generalization --num_tasks 1 --dataset_path ./datasets/generalization/ --result_path "
    "./results/ --modularity 6 3 2 2  --dataset_noise True --dataset_split 0.5 --dataset_split_seed 40 --model "
    "hierarchically_modular --num_modules 3 2 --module_arch 2 12 1 --topk 2 --tau 2.0 --lr 0.01 --lr_module_input 0.1 "
    "--batch_size 64 --weight_decay 0.001 --epochs 1000 --seed 0";
constexpr auto kShared =
    "python3 main.py --experiment generalization --num_tasks 1 --dataset_path ./datasets/generalization/ --result_path "
    "./results/ --modularity 6 3 2 2  --dataset_noise True --dataset_split 0.5 --dataset_split_seed 40 --model "
    "hierarchically_modular_shared_modules --num_shared_modules 2 --num_slots 3 2 --module_arch 2 12 1 --topk 2 --tau "
    "2.0 "
    "--lr 0.01 --lr_module_input 0.1 --lr_module_location 0.1 --batch_size 64 --weight_decay 0.001 --epochs 1000 "
    "--seed "
    "0 ";
constexpr auto kKnown = " --known_module_input";
constexpr auto kKnownShared = " --known_module_input --known_module_locations";
constexpr auto kGumbel = " --use_gumbel --tau 1.0 --per_sample_routing";

class PublishedCommands : public test::ProgramTest {
 protected:
  // The only run of a published command. Of a repeated flag the last value counts, so that a few epochs are enough
  // here.
  json run_of(const std::string& published) const {
    Words words = words_of(published);
    EXPECT_EQ(words[0] + " " + words[1], "python3 main.py");
    words.erase(words.begin());
    words.front() = "train";
    const json printed = json_output(test::joined(words, words_of("--epochs 3 --json")));
    EXPECT_EQ(printed["runs"].size(), 1U);
    EXPECT_EQ(folder_.names(), Words{}) << "published paths must not be written to";
    return printed["runs"][0];
  }

  static void expect_settings(const json& run, const json& expected) {
    for (const auto& [name, value] : expected.items()) {
      EXPECT_EQ(run.value(name, json()), value) << name;
    }
  }
  // What all the published commands say.
  static void expect_common(const json& run) {
    expect_settings(run, {{"task", "depth2"},
                          {"ratio", 0.5},
                          {"split_seed", 40},
                          {"seed", 0},
                          {"epochs", 3},
                          {"batch_size", 64},
                          {"weight_decay", 0.001},
                          {"noise", 0.1},
                          {"optimizer", "adam"},
                          {"loss", "bce"},
                          {"init", "torch"}});
  }
  static void expect_modular(const json& run, const std::string& model) {
    expect_common(run);
    expect_settings(run, {{"model", model},
                          {"lr", 0.01},
                          {"lr_input", 0.1},
                          {"module_widths", {2, 12, 1}},
                          {"fan_in", 2},
                          {model.find("shared") == std::string::npos ? "modules" : "slots", {3, 2}}});
  }
  static void expect_shared(const json& run, const std::string& model) {
    expect_modular(run, model);
    expect_settings(run, {{"pool", 2}, {"lr_module", 0.1}});
  }
};

TEST_F(PublishedCommands, Mlp) {
  const json run = run_of(kMlp);
  expect_common(run);
  expect_settings(run, {{"model", "dense"}, {"lr", 0.1}, {"hidden", {36, 36, 36}}});
  EXPECT_FALSE(run.contains("density"));
}

TEST_F(PublishedCommands, MlpWithAPruningRatioInPercentIsSparse) {
  const json run = run_of(std::string(kMlp) + " --pruning_ratio 75");
  expect_common(run);
  expect_settings(run, {{"model", "sparse"}, {"density", 0.25}, {"hidden", {36, 36, 36}}});
  // As the published code reads it: less than one percent.
  EXPECT_NEAR(run_of(std::string(kMlp) + " --pruning_ratio 0.75")["density"].get<double>(), 0.9925, 1e-12);
}

TEST_F(PublishedCommands, Modular) {
  const json run = run_of(kModular);
  expect_modular(run, "modular");
  expect_settings(run, {{"tau", 2.0}, {"gumbel", "off"}, {"known_inputs", false}});
}

TEST_F(PublishedCommands, ModularWithKnownRouting) {
  const json run = run_of(std::string(kModular) + kKnown);
  expect_modular(run, "modular-fc");
  expect_settings(run, {{"known_inputs", true}, {"known_outputs", true}});
}

TEST_F(PublishedCommands, ModularWithGumbelNoise) {
  const json run = run_of(std::string(kModular) + kGumbel);
  expect_modular(run, "modular");
  expect_settings(run, {{"tau", 1.0}, {"gumbel", "sample"}});
}

TEST_F(PublishedCommands, Shared) {
  const json run = run_of(kShared);
  expect_shared(run, "modular-shared");
  expect_settings(run, {{"tau", 2.0}, {"gumbel", "off"}, {"known_inputs", false}, {"known_modules", false}});
}

TEST_F(PublishedCommands, SharedWithKnownRouting) {
  const json run = run_of(std::string(kShared) + kKnownShared);
  expect_shared(run, "modular-shared-fcms");
  expect_settings(run, {{"known_inputs", true}, {"known_modules", true}, {"known_outputs", true}});
}

TEST_F(PublishedCommands, SharedWithGumbelNoise) {
  const json run = run_of(std::string(kShared) + kGumbel);
  expect_shared(run, "modular-shared");
  expect_settings(run, {{"tau", 1.0}, {"gumbel", "sample"}});
}

TEST_F(PublishedCommands, GumbelNoisePerBatchUnlessPerSample) {
  const std::string gumbel = std::string(kShared) + " --tau 1.0 --use_gumbel";
  EXPECT_EQ(run_of(gumbel)["gumbel"], "batch");
  EXPECT_EQ(run_of(gumbel + " True --per_sample_routing False")["gumbel"], "batch");
  EXPECT_EQ(run_of(gumbel + " True --per_sample_routing True")["gumbel"], "sample");
  EXPECT_EQ(run_of(gumbel + " False --per_sample_routing True")["gumbel"], "off");
}

// In the published code any word, even False, switched a flag on.
TEST_F(PublishedCommands, TruthValuesDoWhatTheySay) {
  EXPECT_EQ(run_of(std::string(kModular) + " --dataset_noise False")["noise"], 0.0);
  EXPECT_EQ(run_of(std::string(kModular) + " --dataset_noise")["noise"], 0.1);
  for (const char* flag : {" --known_module_input", " --known_module_inputs", " --known-module-inputs"}) {
    EXPECT_EQ(run_of(std::string(kModular) + flag)["model"], "modular-fc") << flag;
    EXPECT_EQ(run_of(std::string(kModular) + flag + " True")["model"], "modular-fc") << flag;
    EXPECT_EQ(run_of(std::string(kModular) + flag + " False")["model"], "modular") << flag;
  }
  EXPECT_EQ(run_of(std::string(kShared) + " --known_module_inputs True --known_module_locations False")["model"],
            "modular-shared");
  EXPECT_EQ(run_of(std::string(kModular) + " --known_func_outputs")["known_outputs"], true);
}

TEST_F(PublishedCommands, OtherPublishedTasksByTheirModularity) {
  EXPECT_EQ(run_of(std::string(kMlp) + " --modularity 6 2 2 --arch 6 36 2")["task"], "depth1");
  EXPECT_EQ(run_of(std::string(kMlp) + " --modularity 6 3 3 2 2")["task"], "depth3");
  EXPECT_EQ(run_of(std::string(kMlp) + " --modularity 6 2")["task"], "random62");
}

TEST_F(PublishedCommands, TheSameRunInOurWords) {
  const json ours = json_output(
      "train --task depth2 --model modular-shared --ratio 0.5 --split-seed 40 --seed 0 --lr 0.01 --lr-structural 0.1 "
      "--tau 2 --weight-decay 0.001 --epochs 3 --json");
  EXPECT_EQ(run_of(kShared), ours["runs"][0]);
}

TEST_F(PublishedCommands, WhatIsNotPublishedIsRefused) {
  expect_refused("train --modularity 2 2 3 2 3 --model mlp", {"--modularity", "--task"});
  expect_refused("train --num_tasks 3 --model mlp", {"num_tasks", "A+B"});
  expect_refused("train --model mlp --pruning_ratio 100", {"pruning_ratio"});
  expect_refused("train --model hierarchically_modular_rnn", {"unknown model"});
}

// The part on MNIST. Its commands are unchanged as well; small files of 28 x 28 pixels stand in for MNIST, and of
// flags that are repeated behind them the last value counts, so that a second is enough.
constexpr auto kImageMlp =
    "python3 main.py --modularity 2 2 3 2 2 --num_digits 8 --dataset_split_seed 40 --dataset_split 0.8 "
    "--num_samples_per_combination_train 1000 --num_samples_per_combination_test 100 --model mlp --arch 1568 256 128 "
    "36 "
    "36 36 36 2 --pruning_ratio 0.0 --lr 0.001 --batch_size 128 --weight_decay 0.001 --epochs 200 --seed 0";
constexpr auto kImageModular =
    "python3 main.py --modularity 2 2 3 2 2 --num_digits 8 --dataset_split_seed 40 --dataset_split 0.8 "
    "--num_samples_per_combination_train 100 --num_samples_per_combination_test 100 --model hierarchically_modular_mlp "
    "--num_img_modules 2 --num_modules 3 2 --img_module_arch 784 128 64 3 --module_arch 2 12 1 --topk 2 --tau 0.5 --lr "
    "0.01 --lr_module_input 0.01 --batch_size 128 --weight_decay 0.0001 --epochs 200 --seed 0";
constexpr auto kImageShared =
    "python3 main.py --modularity 2 2 3 2 2 --num_digits 8 --dataset_split_seed 40 --dataset_split 0.8 "
    "--num_samples_per_combination_train 1000 --num_samples_per_combination_test 100 --model "
    "hierarchically_modular_shared_modules_mlp --num_img_slots 2 --num_slots 3 2 --num_img_shared_modules 1 "
    "--num_shared_modules 2 --img_module_arch 784 128 64 3 --module_arch 2 12 1 --topk 2 --tau 0.5 --lr 0.01 "
    "--lr_module_input 0.01 --lr_module_location 0.01 --batch_size 128 --weight_decay 0.0001 --epochs 200 --seed 0";

class PublishedImageCommands : public PublishedCommands {
 protected:
  PublishedImageCommands() {
    const test::SmallImages files{.rows = 28, .columns = 28, .per_digit = 3};
    files.write(folder_);
    images_ = files.images();
    labels_ = files.labels();
  }

  json run_of(const std::string& published) const {
    Words words = words_of(published);
    words.erase(words.begin());
    words.front() = "train";
    const Words before = folder_.names();
    words = test::joined(words, words_of("--epochs 1 --num_samples_per_combination_train 2 "
                                         "--num_samples_per_combination_test 1 --json --images"));
    words = test::joined(test::joined(words, images_), {"--labels"});
    const json printed = json_output(test::joined(words, labels_));
    EXPECT_EQ(printed["runs"].size(), 1U);
    EXPECT_EQ(folder_.names(), before);
    return printed["runs"][0];
  }
  static void expect_common(const json& run, const std::string& model) {
    expect_settings(run, {{"task", "mnist-xor-and"},
                          {"model", model},
                          {"ratio", 0.8},
                          {"split_seed", 40},
                          {"seed", 0},
                          {"epochs", 1},
                          {"samples", 2},
                          {"test_samples", 1},
                          {"batch_size", 128},
                          {"optimizer", "adam"},
                          {"loss", "bce"},
                          {"init", "torch"},
                          {"normalize", false},
                          {"disjoint_validation", false}});
    EXPECT_FALSE(run.contains("noise")) << "pixels are as they are";
    for (const char* snapshot : {"best", "last"}) {
      for (const char* part : {"validation_accuracy", "seen_accuracy", "unseen_accuracy"}) {
        EXPECT_TRUE(run[snapshot][part].is_number()) << part;
      }
    }
  }
  static void expect_modular(const json& run, const std::string& model) {
    expect_common(run, model);
    expect_settings(run, {{"lr", 0.01},
                          {"lr_input", 0.01},
                          {"weight_decay", 0.0001},
                          {"tau", 0.5},
                          {"gumbel", "off"},
                          {"fan_in", 2},
                          {"module_widths", {2, 12, 1}},
                          {"image_module", "mlp"},
                          {"image_widths", {784, 128, 64, 3}},
                          {"image_slots", 2},
                          {model.find("shared") == std::string::npos ? "modules" : "slots", {3, 2}}});
  }

  Words images_;
  Words labels_;
};

TEST_F(PublishedImageCommands, Mlp) {
  const json run = run_of(kImageMlp);
  expect_common(run, "dense");
  expect_settings(run, {{"lr", 0.001}, {"weight_decay", 0.001}, {"hidden", {256, 128, 36, 36, 36, 36}}});
  EXPECT_FALSE(run.contains("density"));
  EXPECT_FALSE(run.contains("image_widths"));
  const json sparse = run_of(std::string(kImageMlp) + " --pruning_ratio 75");
  expect_settings(sparse, {{"model", "sparse"}, {"density", 0.25}});
}

TEST_F(PublishedImageCommands, Modular) {
  const json run = run_of(kImageModular);
  expect_modular(run, "modular");
  expect_settings(run, {{"known_inputs", false}});
}

TEST_F(PublishedImageCommands, ModularWithKnownRouting) {
  const json run = run_of(std::string(kImageModular) + kKnown);
  expect_modular(run, "modular-fc");
  expect_settings(run, {{"known_inputs", true}, {"known_outputs", true}});
}

TEST_F(PublishedImageCommands, Shared) {
  const json run = run_of(kImageShared);
  expect_modular(run, "modular-shared");
  expect_settings(
      run, {{"pool", 2}, {"image_pool", 1}, {"lr_module", 0.01}, {"known_inputs", false}, {"known_modules", false}});
}

TEST_F(PublishedImageCommands, SharedWithKnownRouting) {
  const json run = run_of(std::string(kImageShared) + kKnownShared);
  expect_modular(run, "modular-shared-fcms");
  expect_settings(run, {{"pool", 2}, {"image_pool", 1}, {"known_inputs", true}, {"known_modules", true}});
}

// Also without the flags that only say what is the published way anyway.
TEST_F(PublishedImageCommands, TheSameRunInOurWords) {
  const json ours = json_output(
      test::joined(words_of("train --task mnist-xor-and --model modular-shared --samples 2 --test-samples 1 --epochs 1 "
                            "--json --images " +
                            images_[0] + "," + images_[1] + " --labels"),
                   {labels_[0] + "," + labels_[1]}));
  EXPECT_EQ(run_of(kImageShared), ours["runs"][0]);
}

// Flags of the published script that its README does not show.
TEST_F(PublishedImageCommands, OtherFlags) {
  expect_settings(run_of(std::string(kImageModular) + " --normalize_img"), {{"normalize", true}});
  expect_settings(run_of(std::string(kImageModular) + " --normalize_img False"), {{"normalize", false}});
  // As published, one choice holds for the whole batch.
  expect_settings(run_of(std::string(kImageShared) + " --use_gumbel --tau 1.0 --per_sample_routing"),
                  {{"gumbel", "batch"}, {"tau", 1.0}});
  expect_settings(run_of(std::string(kImageModular) + " --model hierarchically_modular_cnn --img_module_arch 256 3"),
                  {{"model", "modular"}, {"image_module", "conv"}, {"image_widths", {256, 3}}});
  expect_settings(
      run_of(std::string(kImageShared) + " --model hierarchically_modular_shared_modules_cnn --img_module_arch 256 3"),
      {{"model", "modular-shared"}, {"image_module", "conv"}, {"image_widths", {256, 3}}});
  expect_settings(run_of(std::string(kImageMlp) + " --model cnn --arch 512 36 36 36 36 2"),
                  {{"model", "cnn"}, {"hidden", {36, 36, 36, 36}}});
}

}  // namespace
}  // namespace modlab
