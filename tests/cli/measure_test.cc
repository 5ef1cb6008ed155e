#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::Words;
using test::words_of;

class Measure : public test::ProgramTest {
 protected:
  // Trains one network and gives its file.
  std::string trained(const std::string& settings) const {
    const json printed = json_output("train --json --save nets " + settings);
    return "nets/" + printed["runs"][0]["id"].get<std::string>() + ".safetensors";
  }
  json measured(const std::string& file, const Words& more = {}) const {
    return json_output(test::joined({"measure", file, "--json"}, more));
  }
};

TEST_F(Measure, AKnownStructureIsFound) {
  const std::string file = trained("--task depth2 --model modular-shared-fcms --ratio 0.5 --batch-size 4 --epochs 200");
  const json found = measured(file, {"--relaxed"});
  EXPECT_EQ(found["edit_distance"], 0);
  EXPECT_EQ(found["tasks"][0]["relaxed_edit_distance"], 0);
  EXPECT_EQ(found["tasks"][0]["matching"], json({{0, 1, 2}, {0, 1}}));
  EXPECT_EQ(found["tasks"][0]["accuracy"], 100);
  EXPECT_GT(found["in_situ"].get<double>(), 0.3);
  EXPECT_TRUE(found["module_reuse"].is_null());
  const int epoch = found["epoch"].get<int>();
  EXPECT_EQ(found["flops"]["updates"], 9 * epoch);
  EXPECT_EQ(found["flops_exact"]["updates"], 8 * epoch);
  // 180 weights forward and backward, 72 updated.
  EXPECT_EQ(found["flops"]["training_flops"], epoch * (32 * 6 * 180 + 9 * 18 * 72));
  EXPECT_EQ(measured(file, {"--snapshot", "last"})["flops"]["updates"], 9 * 200);

  const std::string text = output({"measure", file, "--relaxed"});
  for (const char* part : {"Edit distance to the true graph: 0 (relaxed: 0)", "slot s1.1", "slot s2.2",
                           "Specialisation of level 1", "the paper's count", "of the whole truth table"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // Five slots are matched, and the legend explains the star.
  EXPECT_EQ(std::ranges::count(text, '*'), 6) << text;
}

TEST_F(Measure, ThePoolIsMeasuredAsMixturesAre) {
  const std::string known = trained("--task depth2 --model modular-shared-fcms --epochs 2");
  const json perfect = measured(known);
  for (const char* measure :
       {"collapse_avg", "collapse_worst", "alignment", "imi", "adaptation", "adaptation_matched", "entropy"}) {
    EXPECT_NEAR(perfect[measure].get<double>(), 0, 1e-6) << measure;
  }
  EXPECT_EQ(perfect["dead_modules"], 0);
  EXPECT_EQ(perfect["pool_use"]["operations"], json({"XOR", "AND"}));
  EXPECT_EQ(perfect["pool_use"]["activation"], json::parse("[[1, 0], [0, 1]]"));
  EXPECT_EQ(perfect["pool_use"]["gates"][4],
            json::parse(R"({"task": "depth2", "gate": "b1", "operation": "AND", "member": 2})"));
  const std::string text = output({"measure", known});
  for (const char* part : {"Shared pool", "XOR", "collapse_avg", "one for all"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string own = trained("--task depth2 --model modular --epochs 2");
  EXPECT_FALSE(measured(own).contains("pool_use")) << "modules of their own are no pool";
  EXPECT_FALSE(measured(own).contains("collapse_avg"));
  // Runs have the same numbers.
  output(words_of("train --task depth2 --model modular-shared-fcms --epochs 2 --csv runs.csv"));
  EXPECT_NE(folder_.read("runs.csv").find("collapse_avg"), std::string::npos);
}

TEST_F(Measure, SurplusModules) {
  const json found = measured(trained("--task depth2 --model modular --modules 5,3 --epochs 2"));
  // Two surplus modules on level 1 and one on level 2, with two inputs each at least.
  EXPECT_GE(found["edit_distance"].get<int>(), 9);
  int surplus = 0;
  for (const json& level : found["tasks"][0]["matching"]) {
    surplus += static_cast<int>(std::ranges::count(level, json(-1)));
  }
  EXPECT_EQ(surplus, 3);
  EXPECT_EQ(found["tasks"][0]["correlation"].size(), 8U);
}

TEST_F(Measure, SuitesHaveATableForEachTask) {
  const std::string file = trained("--task A+B --model modular-fc --epochs 2");
  const json found = measured(file);
  ASSERT_EQ(found["tasks"].size(), 2U);
  EXPECT_EQ(found["edit_distance"], 0);
  EXPECT_EQ(found["module_reuse"], 0);
  const std::string text = output({"measure", file});
  for (const json& task : found["tasks"]) {
    EXPECT_NE(text.find("Task " + task["task"].get<std::string>() + "\n"), std::string::npos) << text;
  }
}

TEST_F(Measure, SaysWhatDoesNotApply) {
  const std::string dense = trained("--task depth1 --model dense --epochs 2");
  EXPECT_NE(output({"measure", dense}).find("monolithic"), std::string::npos);
  EXPECT_TRUE(measured(dense)["edit_distance"].is_null());
  EXPECT_EQ(measured(dense)["flops"]["forward"], 288);
  const std::string without_graph = trained("--task random62 --model modular --epochs 2");
  EXPECT_NE(output({"measure", without_graph, "--relaxed"}).find("no known graph"), std::string::npos);
  const std::string wide = trained("--task depth2 --model modular --fan-in 3 --modules 4,3 --epochs 2");
  EXPECT_NE(output({"measure", wide}).find("two inputs"), std::string::npos);
  EXPECT_TRUE(measured(wide)["specialisation"].is_null());
  EXPECT_FALSE(measured(wide)["edit_distance"].is_null());
}

TEST_F(Measure, ADivergedNetworkIsMeasuredAllTheSame) {
  const std::string file = trained("--optimizer sgd --lr 1000000 --model modular --epochs 30");
  EXPECT_EQ(run({"measure", file, "--snapshot", "last"}).exit_code, 0);
  EXPECT_FALSE(measured(file, {"--snapshot", "last"})["edit_distance"].is_null());
}

TEST_F(Measure, WhatItRefuses) {
  expect_refused("measure", {"modlab train --save"});
  expect_refused("measure missing.safetensors", {"missing.safetensors"});
  folder_.write("broken.safetensors", "not a network");
  expect_refused("measure broken.safetensors", {"broken.safetensors"});
  const std::string file = trained("--task depth1 --model modular --epochs 2");
  expect_refused({"measure", file, "--snapshot", "first"}, {"best or last"});
  const std::string wide = trained("--task depth1 --model modular --modules 80 --epochs 2");
  expect_refused({"measure", wide, "--relaxed"}, {"64 nodes"});
}

}  // namespace
}  // namespace modlab
