#include <gtest/gtest.h>

#include <set>

#include "cli/program.h"
#include "engine/kernels/kernels.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Outcome;
using test::Words;
using test::words_of;

constexpr const char* kParts[] = {"train", "validation", "test"};

class Train : public test::ProgramTest {
 protected:
  json runs(const std::string& settings, const std::map<std::string, std::string>& environment = {}) const {
    return json_output(words_of("train --json " + settings), environment)["runs"];
  }
  std::size_t count(const std::string& settings) const { return runs("--epochs 1 " + settings).size(); }
};

TEST_F(Train, JsonHasEveryRunWithSettingsAndScores) {
  const json printed = json_output("train --task depth2 --model dense,modular-shared --seed 0..1 --epochs 5 --json");
  EXPECT_GT(printed["seconds"].get<double>(), 0.0);
  ASSERT_EQ(printed["runs"].size(), 4U);
  std::set<std::string> ids;
  for (const json& run : printed["runs"]) {
    for (const char* name : {"task", "model", "ratio", "split_seed", "seed", "epochs", "batch_size", "lr",
                             "weight_decay", "noise", "init", "optimizer", "loss"}) {
      EXPECT_TRUE(run.contains(name)) << name;
    }
    EXPECT_GE(run["best_epoch"].get<int>(), 1);
    EXPECT_LE(run["best_epoch"].get<int>(), 5);
    for (const char* snapshot : {"best", "last"}) {
      for (const std::string part : kParts) {
        const double accuracy = run[snapshot][part + "_accuracy"].get<double>();
        EXPECT_GE(accuracy, 0.0);
        EXPECT_LE(accuracy, 100.0);
        // Whole bits of 32 training rows, 16 validation rows and 16 test rows.
        const double bits = accuracy / 100 * (part == "train" ? 64 : 32);
        EXPECT_NEAR(bits, std::round(bits), 1e-9);
        EXPECT_GT(accuracy, 1.0) << "percent, not a share";
        EXPECT_GT(run[snapshot][part + "_loss"].get<double>(), 0.0);
        EXPECT_TRUE(run[snapshot].contains(part + "_row_accuracy"));
      }
    }
    ids.insert(run["id"].get<std::string>());
  }
  EXPECT_EQ(ids.size(), 4U);
}

TEST_F(Train, CurvesHaveARowForEveryRunAndEpoch) {
  const json all = runs("--model modular-shared,dense --seed 0..2 --epochs 40 --curves curves.csv");
  ASSERT_EQ(all.size(), 6U);
  const Words lines = lines_of(folder_.read("curves.csv"));
  ASSERT_EQ(lines.size(), 1 + 6 * 40U);
  const auto cells = [](const std::string& line) {
    Words found;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      found.push_back(cell);
    }
    return found;
  };
  std::map<std::string, std::size_t> column;
  for (const std::string& name : cells(lines[0])) {
    column.emplace(name, column.size());
  }
  for (std::size_t run = 0; run < 6; ++run) {
    double highest = -1;
    int best_epoch = 0;
    Words best;
    Words last;
    for (int epoch = 1; epoch <= 40; ++epoch) {
      const Words row = cells(lines[1 + run * 40 + epoch - 1]);
      ASSERT_EQ(row.size(), column.size());
      EXPECT_EQ(row[column.at("run")], std::to_string(run));
      EXPECT_EQ(row[column.at("id")], all[run]["id"].get<std::string>());
      EXPECT_EQ(row[column.at("epoch")], std::to_string(epoch));
      const double validation = std::stod(row[column.at("validation_accuracy")]);
      if (validation > highest) {
        highest = validation;
        best_epoch = epoch;
        best = row;
      }
      last = row;
    }
    EXPECT_EQ(all[run]["best_epoch"], best_epoch);
    for (const std::string part : kParts) {
      for (const std::string quantity : {"_accuracy", "_row_accuracy", "_loss"}) {
        const std::string name = part + quantity;
        // Accuracies are printed with six digits.
        EXPECT_NEAR(all[run]["best"][name].get<double>(), std::stod(best[column.at(name)]), 1e-3) << name;
        EXPECT_NEAR(all[run]["last"][name].get<double>(), std::stod(last[column.at(name)]), 1e-3) << name;
      }
    }
  }
  EXPECT_EQ(folder_.names(), Words{"curves.csv"});
}

TEST_F(Train, SavedNetworksAreShownBesideTheTrueGraph) {
  const json all = runs("--model modular-shared,modular,dense --epochs 400 --save nets/here");
  for (const json& run : all) {
    const std::string path = "nets/here/" + run["id"].get<std::string>();
    EXPECT_EQ(json::parse(folder_.read(path + ".json")), run);
    const std::string shown = output({"show", path + ".safetensors"});
    EXPECT_NE(shown.find(run["model"].get<std::string>() + " on depth2"), std::string::npos) << shown;
    char accuracies[80];
    std::snprintf(accuracies, sizeof(accuracies), "train %.2f %%, validation %.2f %%, test %.2f %%",
                  run["best"]["train_accuracy"].get<double>(), run["best"]["validation_accuracy"].get<double>(),
                  run["best"]["test_accuracy"].get<double>());
    EXPECT_NE(shown.find(accuracies), std::string::npos) << shown;
    if (run["model"] == "dense") {
      EXPECT_NE(shown.find("6-36-36-36-2"), std::string::npos) << shown;
      continue;
    }
    for (const char* part : {"learned", "true", "a0 = XOR x0 x1", "b1 = AND a1 a2", "y0 = ", "level 2", "wiring"}) {
      EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
    }
    // The whole table's accuracy is that of its parts: 64 training bits, 32 and 32.
    for (const char* snapshot : {"best", "last"}) {
      const json object = json_output({"show", path + ".safetensors", "--json", "--snapshot", snapshot});
      const json& scores = run[snapshot];
      EXPECT_NEAR(object["tasks"][0]["accuracy"].get<double>(),
                  (2 * scores["train_accuracy"].get<double>() + scores["validation_accuracy"].get<double>() +
                   scores["test_accuracy"].get<double>()) /
                      4,
                  1e-9);
    }
  }
  EXPECT_EQ(folder_.names().size(), 2 + 2 * all.size());
}

TEST_F(Train, ListsAndRangesMultiply) {
  const json all = runs("--seed 0..4 --lr 0.1,0.01 --epochs 1");
  ASSERT_EQ(all.size(), 10U);
  std::set<std::pair<double, int>> pairs;
  for (const json& run : all) {
    pairs.emplace(run["lr"].get<double>(), run["seed"].get<int>());
  }
  EXPECT_EQ(pairs.size(), 10U);
  EXPECT_TRUE(pairs.contains({0.1, 0}) && pairs.contains({0.01, 4}));
  EXPECT_EQ(count("--task depth1,depth2 --ratio 0.3,0.5,0.7 --split-seed 40..42"), 18U);
  EXPECT_EQ(count("--model modular --modules 3,2;6,4;9,2 --seed 1,3"), 6U);
  EXPECT_EQ(count("--model modular --modules 3 2"), 1U);
  EXPECT_EQ(count("--batch-size 4 64 --optimizer adam,sgd"), 4U);
}

TEST_F(Train, SettingsThatMeanNothingToAModelDoNotMultiplyItsRuns) {
  const json all = runs("--model dense,modular --tau 1,2 --epochs 1");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(std::ranges::count(all, json("dense"), [](const json& run) { return run["model"]; }), 1);
  EXPECT_EQ(count("--model dense,sparse --density 0.1,0.2"), 3U);
  EXPECT_EQ(count("--seed 3,3,3"), 1U);
}

TEST_F(Train, ThreadsChangeNothingButTime) {
  const std::string settings = "--model modular-shared,dense --batch-size 8,64 --seed 0..20 --epochs 10";
  EXPECT_EQ(runs(settings + " --threads 1 --curves one.csv"), runs(settings + " --threads 2 --curves two.csv"));
  const std::string curves = folder_.read("one.csv");
  EXPECT_EQ(curves, folder_.read("two.csv"));
  EXPECT_EQ(lines_of(curves).size(), 1 + 84 * 10U);
}

TEST_F(Train, EveryInstructionSetGivesTheSameRuns) {
  const std::string settings = "--model modular-shared,modular,dense --batch-size 8 --seed 0..2 --epochs 20";
  const json expected = runs(settings);
  for (const std::string& target : engine::supported_targets()) {
    const json printed = json_output(words_of("train --json " + settings), {{"MODLAB_TARGET", target}});
    EXPECT_EQ(printed["target"], target);
    EXPECT_EQ(printed["runs"], expected) << target;
  }
}

TEST_F(Train, UnknownInstructionSetIsRefused) {
  const Outcome outcome = run(words_of("train --epochs 1 --curves curves.csv"), {{"MODLAB_TARGET", "sse9"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("MODLAB_TARGET 'sse9'"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("scalar"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder_.names(), Words{});
}

TEST_F(Train, TheTableGivesMeansBySettingAndTheTime) {
  const std::string table = output(words_of("train --model modular-shared --lr 0.1,0.01 --seed 0..4 --epochs 3"));
  for (const char* part : {"task depth2", "lr", "runs", "test %", "s.e.", "perfect", "epochs to best", "10 networks"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
  for (const char* rate : {"0.1", "0.01"}) {
    EXPECT_TRUE(std::ranges::any_of(lines_of(table),
                                    [&](const std::string& line) {
                                      const Words words = words_of(line);
                                      return words.size() > 2 && words[0] == rate && words[1] == "5";
                                    }))
        << rate << "\n"
        << table;
  }
}

TEST_F(Train, OwnTaskFilesWorkLikeBuiltInOnes) {
  folder_.write("mine.yaml",
                "inputs: [a, b, c]\nlevels:\n  - s: XOR a b\n    t: NAND b !c\n  - u: OR s t\noutputs: {sum: u}\n");
  EXPECT_EQ(runs("--task mine.yaml --epochs 3 --model modular-shared-fcms,modular,dense").size(), 3U);
  EXPECT_EQ(runs("--task ./mine.yaml,depth1 --epochs 3").size(), 2U);
  const std::string shown = output(words_of("graph mine.yaml --svg mine.svg --csv mine.csv"));
  EXPECT_NE(shown.find("NAND"), std::string::npos);
  EXPECT_NE(folder_.read("mine.svg").find("<svg"), std::string::npos);

  // The table that `graph` wrote is the same task without its structure.
  EXPECT_EQ(runs("--task mine.csv --epochs 3 --model modular-shared,sparse").size(), 2U);
  const json from_yaml = json_output("graph mine.yaml --json");
  const json from_csv = json_output("graph mine.csv --json");
  EXPECT_EQ(from_csv["tasks"][0]["outputs"][0]["hex"], from_yaml["tasks"][0]["outputs"][0]["hex"]);
  const json dense = runs("--task mine.csv --model dense --hidden 8 --epochs 20");
  EXPECT_EQ(dense[0]["best"], runs("--task mine.yaml --model dense --hidden 8 --epochs 20")[0]["best"]);
}

TEST_F(Train, AnOwnTaskCanBeSavedAndShown) {
  folder_.write("mine.yaml", "inputs: 4\nlevels:\n  - s: XOR x0 x1\n    t: AND x2 x3\noutputs: [s, t]\n");
  const json all = runs("--task mine.yaml --epochs 3 --model modular --save nets");
  const std::string shown = output({"show", "nets/" + all[0]["id"].get<std::string>() + ".safetensors"});
  EXPECT_NE(shown.find("s = XOR x0 x1"), std::string::npos) << shown;
}

TEST_F(Train, SuitesReportEachTask) {
  const json all = runs("--task A+B --model modular,dense --epochs 3 --save nets");
  ASSERT_EQ(all.size(), 2U);
  for (const json& run : all) {
    EXPECT_FALSE(run["best"].contains("test_accuracy_3"));
    double sum = 0;
    for (const char* name : {"test_accuracy_1", "test_accuracy_2"}) {
      sum += run["best"][name].get<double>();
    }
    EXPECT_NEAR(run["best"]["test_accuracy"].get<double>(), sum / 2, 1e-9);
    EXPECT_EQ(this->run({"show", "nets/" + run["id"].get<std::string>() + ".safetensors"}).exit_code, 0);
  }
}

TEST_F(Train, ANetworkThatDivergesIsStillValidJson) {
  const json all = runs("--optimizer sgd --lr 1000000 --model dense --epochs 30 --save nets --curves curves.csv");
  EXPECT_EQ(all[0]["diverged"], true);
  EXPECT_EQ(run({"show", "nets/" + all[0]["id"].get<std::string>() + ".safetensors"}).exit_code, 0);
}

}  // namespace
}  // namespace modlab
