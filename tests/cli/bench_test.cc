#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "cli/program.h"

namespace modlab {
namespace {

class Bench : public test::ProgramTest {};

TEST_F(Bench, DetectFindsTheSameModulesInTheSameNetwork) {
  nlohmann::json rows = json_output("bench detect --json --work 392-250-125-25").at("rows");
  ASSERT_EQ(rows.size(), 1U);
  const std::vector<int> live = rows[0].at("live_units");
  const std::vector<int> clusters = rows[0].at("clusters");
  // 2 % of all pairs of neighbouring units, give or take six deviations.
  EXPECT_NEAR(rows[0].at("edges").get<double>(), 0.02 * (392 * 250 + 250 * 125 + 125 * 25), 6 * 51);
  ASSERT_EQ(live.size(), 4U);
  ASSERT_EQ(clusters.size(), 4U);
  EXPECT_EQ(live[3], 25);      // outputs are live whether or not something reaches them
  EXPECT_EQ(clusters[3], 25);  // each is its own cluster
  EXPECT_GT(live[0], 0);
  EXPECT_LE(live[0], 392);
  EXPECT_GT(rows[0].at("modules").get<int>(), 1);
  nlohmann::json again = json_output("bench detect --json --work 392-250-125-25").at("rows");
  for (const char* time : {"seconds", "processor_seconds"}) {
    rows[0].erase(time);
    again[0].erase(time);
  }
  EXPECT_EQ(rows, again);
}

TEST_F(Bench, SculptMeasuresWholeTrials) {
  const nlohmann::json rows = json_output("bench sculpt --json --work 4-2-4 --trials 2").at("rows");
  ASSERT_EQ(rows.size(), 1U);
  std::multiset<std::pair<int, int>> measured;
  for (const nlohmann::json& trial : rows[0].at("ours").at("learned")) {
    measured.emplace(trial.at("trainings"), trial.at("edges"));
  }
  const nlohmann::json sculpted =
      json_output("sculpt --json --task sculpt/4-2-4 --hidden 24,24 --epochs 20 --seed 0..1");
  std::multiset<std::pair<int, int>> expected;
  for (const nlohmann::json& trial : sculpted.at("trials")) {
    expected.emplace(trial.at("trainings"), trial.at("tied").at(0).at("edges"));
  }
  EXPECT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured, expected);
  EXPECT_TRUE(rows[0].at("ratio_trial").is_null());  // PyTorch was not asked for
}

TEST_F(Bench, RulesCountWhatAStepNeeds) {
  const nlohmann::json output = json_output("bench rules --json --work mlp/gt-modular");
  const nlohmann::json& oracles = output.at("rows");
  ASSERT_EQ(oracles.size(), 3U);
  // Six FLOPs for every weight and sample: encoders of 32 units, a core of 96 to 128 to 128, a decoder.
  const auto around = [](double rules) { return 2 * (32 + 32 * 32) + (rules * 32 + 32 * 32) + (128 * 32 + 32); };
  const double core = 96 * 128 + 128 * 128;
  for (const nlohmann::json& row : oracles) {
    const std::string name = row.at("work");
    const double rules = std::stod(name.substr(name.rfind('/') + 1));
    EXPECT_EQ(row.at("flops_per_step"), 6 * 256 * (around(rules) + core / rules)) << name;
    EXPECT_TRUE(row.at("ratio_eager").is_null()) << name;  // PyTorch was not asked for
    EXPECT_GT(row.at("percent_of_peak"), 0) << name;
  }
  EXPECT_EQ(output.at("threads").size(), 1U);
  ASSERT_EQ(output.at("lanes").size(), 3U);
  for (const nlohmann::json& layers : output.at("lanes")) {
    EXPECT_GT(layers.at("lanes_us"), 0);
    EXPECT_DOUBLE_EQ(layers.at("ratio"), layers.at("lanes_us").get<double>() / layers.at("solo_us").get<double>());
  }
  const nlohmann::json whole = json_output("bench rules --json --work mlp/monolithic/2").at("rows").at(0);
  EXPECT_EQ(whole.at("flops_per_step"), 6 * 256 * (around(2) + core));
  // What knows the rule learns faster.
  EXPECT_GT(oracles.at(0).at("loss").at("ours"), 0);
  EXPECT_LT(oracles.at(0).at("loss").at("ours"), whole.at("loss").at("ours"));
  const nlohmann::json again = json_output("bench rules --json --work mlp/monolithic/2").at("rows").at(0);
  EXPECT_EQ(again.at("loss"), whole.at("loss"));
}

TEST_F(Bench, WhatCannotBeMeasuredIsRefused) {
  expect_refused("bench wood", {"boolean, mnist, sculpt, detect, rules, mask or libtorch", "wood"});
  expect_refused("bench rules --work cnn/", {"cnn/", "modlab bench rules"});
  expect_refused("bench sculpt detect", {"one suite at a time", "detect"});
  expect_refused("bench sculpt --work 4-2-5", {"4-2-5", "modlab bench sculpt"});
  expect_refused("bench detect --work 7-7", {"7-7", "modlab bench detect"});
  expect_refused("bench detect --against torch", {"--against"});
  expect_refused("bench sculpt --trials 0", {"--trials"});
  expect_refused("bench sculpt --trials many", {"--trials"});
  expect_refused("bench detect --trials 3", {"--trials", "bench sculpt"});
  expect_refused("bench sculpt --curves --against torch", {"--curves"});
}

}  // namespace
}  // namespace modlab
