// A kind of experiment that is one folder and one line in a list has everything that the others have: the program with
// that line (all_with_coin.cc) does with coins what it does with networks.

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "cli/program.h"
#include "io/sqlite.h"
#include "small_images.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;

constexpr auto kCoins = R"(
name: coins
title: Coins
tune: [throws]
parameters: {model: coin, bias: [0.25, 0.5, 0.75], throws: [50, 100], seed: 0..9}
presets:
  few: {about: two of them, parameters: {seed: [0, 1]}}
  all: {about: ten of them}
figures: [{id: F1, title: Heads, x: bias, series: series, measures: [heads, fairness]}]
claims:
  - {id: C1, figure: F1, text: Heads grow with the bias., over: [model], checks: [{trend: coin, along: bias, measure: heads, expect: greater}]}
  - {id: C2, figure: F1, text: A fair coin is even., over: [model], checks: [{value: {series: coin, bias: 0.5}, measure: heads, expect: comparable, threshold: 50}]}
)";

class Coin : public test::ProgramTest {
 protected:
  Coin() { folder_.write("coins.yaml", kCoins); }

  std::int64_t count(const std::string& folder, const std::string& sql) const {
    return io::Database(folder_.file(folder + "/study.sqlite"), io::Database::Mode::kRead).integer(sql).value_or(-1);
  }
  std::string first_id(const std::string& folder) const {
    return lines_of(folder_.read(folder + "/csv/runs.csv"))[1].substr(0, 16);
  }
};

TEST_F(Coin, HasItsSettingsInHelp) {
  const std::string own = output(words_of("train --model coin --help"));
  EXPECT_NE(own.find("--bias P"), std::string::npos) << own;
  EXPECT_EQ(own.find("--batch-size"), std::string::npos) << own;
  const std::string others = output(words_of("train --help"));
  EXPECT_EQ(others.find("--bias P"), std::string::npos) << others;
  const std::string all = output(words_of("train --help all"));
  EXPECT_LT(all.find("\nCoins\n"), all.find("  --bias P")) << all;
  EXPECT_NE(all.find("--batch-size"), std::string::npos);
}

TEST_F(Coin, IsTrainedLikeANetwork) {
  const json runs = json_output("train --model coin --bias 0.1,0.9 --seed 0..4 --json")["runs"];
  ASSERT_EQ(runs.size(), 10U);
  EXPECT_EQ(runs[0]["bias"], 0.1);
  EXPECT_LT(runs[0]["best"]["heads"].get<double>(), 50);
  EXPECT_GT(runs[9]["best"]["heads"].get<double>(), 50);
  EXPECT_FALSE(runs[0].contains("lr"));
  const std::string table = output(words_of("train --model coin --bias 0.1,0.9 --seed 0..4"));
  EXPECT_NE(table.find("heads %"), std::string::npos) << table;
  expect_refused("train --model coin --bias 2", {"bias must be a number between 0 and 1"});
  expect_refused("train --model coins", {"unknown model 'coins'", "did you mean 'coin'"});
}

TEST_F(Coin, HasGridsStoreSelectionClaimsTablesAndAPage) {
  const std::string shown = output(words_of("study show coins.yaml --preset all"));
  EXPECT_NE(shown.find("60"), std::string::npos) << shown;
  EXPECT_NE(shown.find("take about"), std::string::npos) << shown;
  const std::string ran = output(words_of("study run coins.yaml --preset all --out out"));
  EXPECT_NE(ran.find("Heads in %"), std::string::npos) << ran;
  EXPECT_NE(ran.find("✓ C1"), std::string::npos) << ran;
  EXPECT_NE(ran.find("2 claims"), std::string::npos) << ran;
  EXPECT_EQ(count("out", "SELECT count(*) FROM runs WHERE kind = 'coin'"), 60);
  EXPECT_EQ(count("out", "SELECT count(*) FROM run_results WHERE bias = 0.75 AND heads > 50"), 20);
  EXPECT_EQ(count("out", "SELECT count(*) FROM blobs WHERE name = 'sequence'"), 60);
  EXPECT_NE(output(words_of("study status out")).find("All 60 runs are finished"), std::string::npos);
  output(words_of("export out --csv"));
  const Words lines = lines_of(folder_.read("out/csv/runs.csv"));
  EXPECT_EQ(lines[0], "id,series,model,bias,throws,seed,chosen,heads,fairness");
  EXPECT_EQ(lines.size(), 61U);
  // Selection took the number of throws with the fairest coins.
  EXPECT_EQ(lines_of(folder_.read("out/csv/chosen.csv")).size(), 4U);
  const json page = json_output("report out --json");
  EXPECT_EQ(page["figures"][0]["rows"].size(), 3U);
  EXPECT_EQ(page["figures"][0]["x"]["label"], "bias of the coin");
  EXPECT_EQ(page["overview"]["done"], 60);
  EXPECT_NE(folder_.read("out/report.html").find("throws that are heads"), std::string::npos);
}

TEST_F(Coin, ReplaysAnyRowToTheSameBits) {
  output(words_of("study run coins.yaml --preset few --out out"));
  output(words_of("export out --csv"));
  const std::string id = first_id("out");
  const json run = json_output("train --from out --run " + id + " --json")["runs"][0];
  EXPECT_EQ(run["id"], id);
  io::Database database(folder_.file("out/study.sqlite"), io::Database::Mode::kRead);
  io::Statement row = database.prepare("SELECT heads FROM results WHERE run = ?");
  row.bind(1, id);
  ASSERT_TRUE(row.step());
  EXPECT_EQ(run["best"]["heads"].get<double>(), row.real(0));
}

TEST_F(Coin, GoesOnAfterAKill) {
  const std::string line = "study run coins.yaml --preset all --out killed pause=20";
  {
    Process killed(command(words_of(line)), folder_.path().string());
    // As soon as something is in the store, however busy the machine is.
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::minutes(3)) {
      try {
        if (count("killed", "SELECT count(*) FROM runs") >= 5) {
          break;
        }
      } catch (const std::exception&) {
        // There is no store yet.
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    killed.kill();
    killed.wait();
  }
  const std::int64_t left = count("killed", "SELECT count(*) FROM runs");
  EXPECT_LT(left, 60);
  EXPECT_NE(output(words_of("study status killed")).find("runs are left"), std::string::npos);
  const std::string resumed = output(words_of(line));
  EXPECT_EQ(resumed.find("60 of 60 runs to train"), std::string::npos) << resumed;
  output(words_of("study run coins.yaml --preset all --out whole pause=20"));
  for (const char* folder : {"killed", "whole"}) {
    output({"export", folder, "--csv"});
  }
  EXPECT_EQ(folder_.read("killed/csv/runs.csv"), folder_.read("whole/csv/runs.csv"));
  EXPECT_EQ(folder_.read("killed/csv/claims.csv"), folder_.read("whole/csv/claims.csv"));
}

TEST_F(Coin, StandsInOneStudyBesideTheOthers) {
  test::SmallImages().write(folder_);
  folder_.write("mixed.yaml", R"(
name: mixed
title: Four kinds
tune: none
parameters: {seed: [0, 1]}
grids:
  - {series: coin, parameters: {model: coin, bias: [0.25, 0.75]}}
  - {series: bits, parameters: {model: modular, task: depth1, epochs: 5}}
  - series: images
    parameters: {model: dense, task: mnist-xor-and, epochs: 1, hidden: "9", samples: 1, test_samples: 1,
                 images: "small-train-images,small-test-images", labels: "small-train-labels,small-test-labels"}
  - {series: sculpt, parameters: {model: sculpted, task: sculpt/4-2-4, hidden: "24,24", unit_steps: "70", edge_steps: "2.5"}}
figures:
  - {id: F1, title: All, kind: bars, x: series, measures: [heads, test_accuracy, unseen_accuracy, true_modules]}
claims:
  - {id: C1, text: Pruned networks have modules., over: [model], checks: [{value: sculpt, measure: learned, expect: at_least, threshold: 0}]}
)");
  const std::string shown = output(words_of("study show mixed.yaml"));
  EXPECT_NE(shown.find("10 runs"), std::string::npos) << shown;
  const std::string ran = output(words_of("study run mixed.yaml --out out"));
  for (const char* title : {"Heads in %", "Mean test accuracy", "unseen combinations", "true modules in %"}) {
    EXPECT_NE(ran.find(title), std::string::npos) << ran;
  }
  EXPECT_EQ(count("out", "SELECT count(DISTINCT kind) FROM runs"), 4);
  const json page = json_output("report out --json");
  EXPECT_EQ(page["overview"]["done"], 10);
  EXPECT_EQ(page["figures"][0]["rows"].size(), 4U);
  EXPECT_FALSE(page["sculpted"].empty());
  // Networks on bits and on images stand side by side.
  std::set<std::string> series;
  for (const json& network : page["gallery"]) {
    series.insert(network["series"]);
  }
  EXPECT_EQ(series, (std::set<std::string>{"bits", "images"}));
  output(words_of("export out --csv --curves"));
  const Words lines = lines_of(folder_.read("out/csv/runs.csv"));
  EXPECT_EQ(lines.size(), 11U);
  for (std::size_t at = 1; at < lines.size(); ++at) {
    const std::string id = lines[at].substr(0, 16);
    EXPECT_EQ(json_output("train --from out --run " + id + " --json")["runs"][0]["id"], id);
  }
  EXPECT_NE(output(words_of("study run mixed.yaml --out out")).find("All 10 runs are in the store"), std::string::npos);
}

}  // namespace
}  // namespace modlab
