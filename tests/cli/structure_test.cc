#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Words;
using test::words_of;

constexpr auto kNetworks = MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz";
constexpr auto kDense = MODLAB_TEST_DIR "/data/sculpt/dense64.json.gz";
constexpr auto kPruned = "exemplar/4-2-4/4-24-4/seed0/pu70/pe2.5";
const Words kPairs = {"--groups", "1,2;3,4", "--output-groups", "1,2;3,4"};

class Structure : public test::ProgramTest {
 protected:
  // The words of the line that begins with `name`, after it.
  static Words rest_of(const std::string& text, const std::string& name) {
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with(name)) {
        return words_of(line.substr(name.size()));
      }
    }
    return {};
  }
};

TEST_F(Structure, TextOfAPrunedNetwork) {
  const std::string text = output(test::joined({"structure", kNetworks, "--id", kPruned}, kPairs));
  EXPECT_TRUE(text.starts_with(std::string(kPruned) + ": layers 4-24-4, 16 of 192 edges\n")) << text;
  // Inputs by outputs: sums of |products| of the weights in the file.
  EXPECT_EQ(rest_of(text, "    1 "), (Words{"27.58", "27.618", "0", "0"})) << text;
  EXPECT_EQ(rest_of(text, "    4 "), (Words{"0", "0", "26.558", "26.624"})) << text;
  const Words first = rest_of(text, "  1,2 ");
  ASSERT_EQ(first.size(), 7U) << text;
  EXPECT_EQ(first[1], "0");
  EXPECT_EQ(first[4], "3.00");
  EXPECT_EQ(first[6], "smaller");
  EXPECT_NE(text.find("The groups are separate"), std::string::npos) << text;
  EXPECT_EQ(rest_of(text, "N90 of hidden layer 1: "), (Words{"4", "of", "24", "units"}));
}

// AC-1 of the specification: seed 1 of [4,48,48,48,4].
TEST_F(Structure, JsonOfADenseNetwork) {
  json found;
  for (const std::string& line : lines_of(output(test::joined({"structure", kDense, "--json"}, kPairs)))) {
    const json network = json::parse(line);
    EXPECT_EQ(network["units_for_percent"].size(), network["widths"].size() - 2);
    if (network["widths"] == json({4, 48, 48, 48, 4}) &&
        std::abs(network["path_products"][0][0].get<double>() - 593.07) < 0.01) {
      found = network;
    }
  }
  ASSERT_FALSE(found.is_null());
  EXPECT_NEAR(found["path_products"][3][1].get<double>(), 1000.26, 0.0051);
  EXPECT_EQ(found["edges"], 4992);
  EXPECT_EQ(found["total_edges"], 4992);
  ASSERT_EQ(found["tests"].size(), 2U);
  EXPECT_EQ(found["tests"][1]["inputs"], json({3, 4}));
  EXPECT_NEAR(found["tests"][0]["t"].get<double>(), 0.44, 0.0051);
  EXPECT_NEAR(found["tests"][0]["p"].get<double>(), 0.66, 0.0051);
  EXPECT_NEAR(found["tests"][1]["t"].get<double>(), -0.68, 0.0051);
  EXPECT_NEAR(found["tests"][1]["p"].get<double>(), 0.27, 0.0051);
  EXPECT_EQ(found["tests"][0]["smaller"], false);
  EXPECT_EQ(found["separable"], false);
  EXPECT_EQ(found["percent"], 90);
}

TEST_F(Structure, EveryNetworkOfAFileIsShown) {
  const std::string text = output({"structure", kDense});
  int networks = 0;
  for (const std::string& line : lines_of(text)) {
    networks += line.find(": layers ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(networks, 64);
  EXPECT_EQ(text.find("Welch"), std::string::npos);
}

TEST_F(Structure, EdgeListsAndPercent) {
  folder_.write("net.csv", "layer,from,to,weight\n0,0,0,2\n0,1,1,-3\n1,0,0,1\n1,1,0,0.5\n");
  const json found = json_output({"structure", "net.csv", "--json", "--percent", "60"});
  EXPECT_EQ(found["id"], "net");
  EXPECT_EQ(found["path_products"], json({{2.0}, {1.5}}));
  EXPECT_EQ(found["units_for_percent"], json({1}));
  EXPECT_FALSE(found.contains("tests"));
  EXPECT_EQ(json_output({"structure", "net.csv", "--json", "--percent", "70"})["units_for_percent"], json({2}));
  const json sized = json_output({"structure", "net.csv", "--json", "--sizes", "3,4,1"});
  EXPECT_EQ(sized["widths"], json({3, 4, 1}));
  EXPECT_EQ(sized["total_edges"], 16);
}

TEST_F(Structure, TrainedNetworksOfLayers) {
  const json run = json_output("train --json --save nets --task depth2 --model dense --epochs 30")["runs"][0];
  const std::string file = "nets/" + run["id"].get<std::string>() + ".safetensors";
  const json best = json_output({"structure", file, "--json"});
  EXPECT_EQ(best["id"], run["id"]);
  EXPECT_EQ(best["widths"], json({6, 36, 36, 36, 2}));
  EXPECT_EQ(best["units_for_percent"].size(), 3U);
  const json last = json_output({"structure", file, "--json", "--snapshot", "last"});
  EXPECT_EQ(last["path_products"] == best["path_products"], run["best_epoch"] == 30);
  const json tested = json_output({"structure", file, "--json", "--groups", "1..3;4..6", "--output-groups", "1;2"});
  EXPECT_EQ(tested["tests"][1]["inputs"], json({4, 5, 6}));
  const json modular = json_output("train --json --save nets --task depth2 --model modular --epochs 2");
  expect_refused({"structure", "nets/" + modular["runs"][0]["id"].get<std::string>() + ".safetensors"},
                 {"model 'modular'", "no stack of layers"});
}

TEST_F(Structure, WhatCannotBeTestedIsSaidAndNoNumber) {
  folder_.write("pairs.csv", "layer,from,to\n0,0,0\n0,1,1\n");
  const Words command = {"structure", "pairs.csv", "--groups", "1;2", "--output-groups", "1;2"};
  const std::string text = output(command);
  EXPECT_NE(text.find("cannot be tested"), std::string::npos) << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  const json found = json_output(test::joined(command, {"--json"}));
  EXPECT_TRUE(found["tests"][0]["p"].is_null());
  EXPECT_TRUE(found["tests"][0]["smaller"].is_null());
  EXPECT_EQ(found["separable"], false);
  // No variance anywhere: decided, and still no "nan".
  folder_.write("even.csv", "layer,from,to\n0,0,0\n0,0,1\n0,1,2\n0,1,3\n");
  const Words even = {"structure", "even.csv", "--groups", "1;2", "--output-groups", "1,2;3,4"};
  EXPECT_EQ(output(even).find("nan"), std::string::npos);
  const json decided = json_output(test::joined(even, {"--json"}));
  EXPECT_EQ(decided["tests"][0]["p"], 0);
  EXPECT_TRUE(decided["tests"][0]["t"].is_null());
  EXPECT_EQ(decided["separable"], true);
}

TEST_F(Structure, LargeTablesAreLeftToJson) {
  folder_.write("wide.csv", "layer,from,to\n0,99,0\n");
  EXPECT_NE(output({"structure", "wide.csv"}).find("100 inputs with 1 outputs: --json prints them"), std::string::npos);
  EXPECT_EQ(json_output({"structure", "wide.csv", "--json"})["path_products"].size(), 100U);
}

TEST_F(Structure, WhatItRefuses) {
  folder_.write("net.csv", "layer,from,to\n0,0,0\n0,1,1\n0,2,2\n0,3,3\n");
  folder_.write("broken.json", "{\"layers\": [");
  expect_refused("structure", {"name a file"});
  expect_refused("structure missing.csv", {"missing.csv"});
  expect_refused("structure broken.json", {"broken.json", "not JSON"});
  expect_refused("structure net.csv --id nte", {"'nte'", "'net'"});
  expect_refused("structure net.csv --groups 1,2;3,4", {"--output-groups"});
  expect_refused("structure net.csv --output-groups 1,2;3,4", {"--groups"});
  expect_refused("structure net.csv --groups 1,2 --output-groups 1,2", {"two at least"});
  expect_refused("structure net.csv --groups 1,2;3,5 --output-groups 1,2;3,4", {"input 5", "there are 4"});
  expect_refused("structure net.csv --groups 0,2;3,4 --output-groups 1,2;3,4", {"counted from 1"});
  expect_refused("structure net.csv --groups 1,2;x --output-groups 1,2;3,4", {"'x'"});
  expect_refused("structure net.csv --groups 1..99999999;2 --output-groups 1,2;3,4", {"1..99999999"});
  expect_refused("structure net.csv --groups 1,2;3,4 --output-groups 1,2;2,3", {"output 2"});
  for (const char* percent : {"0", "101", "many", "nan"}) {
    expect_refused({"structure", "net.csv", "--percent", percent}, {"--percent", percent});
  }
  expect_refused("structure net.csv --sizes 4,x", {"--sizes", "'x'"});
  expect_refused("structure net.csv --tensors a,b", {"net.csv", "a list of tensors"});
  expect_refused("structure net.csv --inputs-first", {"order of inputs"});
  expect_refused("structure net.csv --snapshot first", {"best or last"});
}

}  // namespace
}  // namespace modlab
