// The commands of the published README (Boolean part), unchanged but for `python3 main.py`.

#include <gtest/gtest.h>

#include "cli/program.h"

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

TEST_F(PublishedCommands, WhatIsNotBooleanIsRefused) {
  expect_refused("train --modularity 2 2 3 2 2 --model mlp", {"--modularity", "--task"});
  expect_refused("train --num_tasks 3 --model mlp", {"num_tasks", "A+B"});
  expect_refused("train --model mlp --pruning_ratio 100", {"pruning_ratio"});
  expect_refused("train --model hierarchically_modular_mlp", {"unknown model"});
}

}  // namespace
}  // namespace modlab
