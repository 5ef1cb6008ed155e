#include <gtest/gtest.h>

#include "cli/program.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::Words;
using test::words_of;

class Sculpt : public test::ProgramTest {
 protected:
  std::vector<json> lines(const std::string& file) const {
    std::vector<json> objects;
    for (const std::string& line : test::lines_of(folder_.read(file))) {
      objects.push_back(json::parse(line));
    }
    return objects;
  }
};

TEST_F(Sculpt, PrintsWhatItFoundAndSavesIt) {
  const std::string text = output(words_of("sculpt --task sculpt/4-2-4 --hidden 24,24 --seed 0,1"));
  for (const char* part : {"70 ways to prune", "{x1 x2 y1 y2} {x3 x4 y3 y4}", "2 trials", "Saved in sculpted"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const json trials = json::parse(folder_.read("sculpted/trials.json"));
  ASSERT_EQ(trials.size(), 2U);
  std::size_t tied = 0;
  for (const json& trial : trials) {
    EXPECT_EQ(trial["grid"].size(), 70U);
    EXPECT_EQ(trial["true_modules"], 1);
    tied += trial["tied"].size();
    EXPECT_EQ(trial["tied"][0]["criteria"]["exact"], true);
    EXPECT_EQ(trial["tied"][0]["steps"][0]["stage"], "dense");
  }
  const std::vector<json> networks = lines("sculpted/networks.jsonl");
  EXPECT_EQ(networks.size(), tied);
  EXPECT_EQ(networks[0]["role"], "main");
  EXPECT_EQ(networks[0]["edges"], trials[0]["tied"][0]["edges"]);
  EXPECT_EQ(lines("sculpted/dense.jsonl").size(), 2U);
  const std::vector<json> history = lines("sculpted/history.jsonl");
  EXPECT_EQ(history.front()["edges"], 768);
  // What it saves, `detect` reads, and it finds the same modules.
  const std::vector<std::string> found = test::lines_of(output(words_of("detect sculpted/networks.jsonl --json")));
  ASSERT_EQ(found.size(), tied);
  EXPECT_EQ(json::parse(found[0])["modules"], trials[0]["tied"][0]["modules"]);
}

TEST_F(Sculpt, IsTheSameEveryTimeAndOnAnyNumberOfThreads) {
  const std::string command = "sculpt --task sculpt/4-1-2-2 --hidden 16 --seed 0..2 --unit-steps 50,20 --edge-steps 2 ";
  const auto trials = [&](const std::string& more) { return json_output(command + "--json " + more)["trials"]; };
  const json once = trials("--threads 1");
  EXPECT_EQ(once, trials("--threads 2 --save other"));
}

TEST_F(Sculpt, AnEarlierFolderIsNotReplacedUnasked) {
  const std::string command = "sculpt --task sculpt/4-1-2-2 --hidden 8 --unit-steps 50 --edge-steps 2 --seed ";
  output(words_of(command + "0"));
  const std::string before = folder_.read("sculpted/trials.json");
  expect_refused(command + "1", {"sculpted holds the networks of an earlier run", "--save", "--replace"});
  EXPECT_EQ(folder_.read("sculpted/trials.json"), before);
  output(words_of(command + "1 --replace"));
  EXPECT_NE(folder_.read("sculpted/trials.json"), before);
}

TEST_F(Sculpt, BranchesAreControls) {
  const json trial = json_output(
      "sculpt --task sculpt/6-3-3-3 --hidden 24,24 --epoch-search true --seed 0 --json --branch "
      "random,rewound,one-shot "
      "--branch-seeds 0..4")["trials"][0];
  ASSERT_EQ(trial["branches"].size(), 3U);
  for (const json& branch : trial["branches"]) {
    EXPECT_EQ(branch["networks"], 5);
    EXPECT_EQ(branch["edges_of_level"], trial["tied"][0]["edges"]);
  }
  // As many units and edges anywhere are not enough for this function.
  EXPECT_EQ(trial["branches"][0]["branch"], "random");
  EXPECT_LT(trial["branches"][0]["mean_accuracy"].get<double>(), 90);
}

TEST_F(Sculpt, SaysSoWhereANetworkDoesNotLearn) {
  const std::string text = output(words_of("sculpt --task sculpt/4-1-2-16 --hidden 2 --epochs 3 --seed 0"));
  EXPECT_NE(text.find("not learned in 3 epochs: 100 % are needed, so it was not pruned"), std::string::npos) << text;
  EXPECT_TRUE(lines("sculpted/networks.jsonl").empty());
}

TEST_F(Sculpt, BadSettingsAreOneClearLine) {
  struct Case {
    const char* words;
    const char* part;
  };
  for (const Case& bad : {Case{"--task mnist-xor-and", "networks are sculpted on one task of bits"},
                          Case{"--task nothing", "nothing"}, Case{"--unit-steps 50,50", "unit_steps has 50 twice"},
                          Case{"--edge-steps 101", "edge_steps must be a list of percentages"},
                          Case{"--edge-steps 0,1", "prunes nothing"}, Case{"--branch twig", "unknown branch 'twig'"},
                          Case{"--level 3", "--level is for --branch"}, Case{"--model dense", "model"},
                          Case{"--unit-score best", "unknown unit_score 'best'"}, Case{"--hidden 0", "hidden"}}) {
    const test::Outcome outcome = run(test::joined({"sculpt"}, words_of(bad.words)));
    EXPECT_EQ(outcome.exit_code, 2) << bad.words;
    EXPECT_EQ(test::lines_of(outcome.err).size(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(bad.part), std::string::npos) << bad.words << "\n" << outcome.err;
  }
}

TEST_F(Sculpt, AStudyRunsResumesAndReports) {
  folder_.write(
      "mine.yaml",
      "name: mine\ntitle: Mine\ntune: none\nparameters:\n  model: {value: sculpted}\n  task: {value: sculpt/4-2-4}\n"
      "  epoch_search: {value: true}\n  hidden: {values: [\"16\", \"16,16\"]}\n  seed: {values: [0, 1]}\n"
      "figures:\n  - {id: f, title: F, kind: bars, x: hidden_layers, measures: [true_modules, edges]}\n"
      "claims:\n  - id: c\n    figure: f\n    text: All found.\n    checks:\n"
      "      - {value: {hidden_layers: [1, 2]}, measure: true_modules, expect: at_least, threshold: 100, margin: "
      "20}\n");
  const std::string text = output(words_of("study run mine.yaml --out out"));
  EXPECT_NE(text.find("4 of 4 runs to train"), std::string::npos) << text;
  EXPECT_NE(text.find("Tied networks with the true modules"), std::string::npos) << text;
  EXPECT_NE(text.find("100 % ([47.3, 100], 90 % over 4 trials); expected at least 80 %"), std::string::npos) << text;
  EXPECT_NE(output(words_of("study run mine.yaml --out out")).find("in the store already"), std::string::npos);
  output(words_of("export out --csv"));
  EXPECT_NE(output(words_of("study show mine.yaml")).find("4"), std::string::npos);
}

}  // namespace
}  // namespace modlab
