#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstring>
#include <iomanip>
#include <memory>
#include <set>
#include <tuple>

#include "cli/program.h"
#include "core/errors.h"
#include "io/sqlite.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;
using Clock = std::chrono::steady_clock;

// 2 models x 2 ratios x 2 rates x 2 splits x 2 seeds = 32 runs.
constexpr auto kTiny = R"(
name: tiny
title: A tiny study
about: Small enough for a test.
tune: [lr]
parameters:
  task: {value: depth1}
  ratio: {values: [0.3, 0.5]}
  split_seed: {values: [40, 41]}
  seed: {values: [0, 1]}
  epochs: {value: 20}
  lr: {values: [0.1, 0.01]}
grids:
  - {series: dense, parameters: {model: {value: dense}}}
  - {series: modular, parameters: {model: {value: modular}}}
presets:
  small: {about: one ratio, parameters: {ratio: {value: 0.5}}}
  whole: {about: both ratios}
preset: whole
figures:
  - {id: F1, title: Accuracy, x: ratio, series: series, measures: [test_accuracy, edit_distance]}
claims:
  - id: C1
    figure: F1
    text: Networks are better than nothing.
    checks:
      - {value: dense, measure: test_accuracy, expect: greater}
      - {value: modular, measure: test_accuracy, expect: greater}
)";

constexpr const char* kTables[] = {"runs.csv", "chosen.csv", "means.csv", "claims.csv"};

class StudyTest : public test::ProgramTest {
 protected:
  StudyTest() { folder_.write("tiny.yaml", kTiny); }

  Words files_in(const std::string& folder) const {
    Words names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(folder))) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }

  // How many runs a `study run` trained, by its own words.
  static int trained(const std::string& out) {
    for (const std::string& line : lines_of(out)) {
      const Words words = words_of(line);
      if (words.size() > 5 && words[1] == "of" && line.find("runs to train") != std::string::npos) {
        return std::stoi(words[0]);
      }
      if (line.find("in the store already") != std::string::npos) {
        return 0;
      }
    }
    ADD_FAILURE() << "does not say how many runs it trains:\n" << out;
    return -1;
  }
  int train(const std::string& words) const { return trained(output(words_of("study run tiny.yaml " + words))); }

  // What a study is about in the end, timing aside.
  std::map<std::string, std::string> tables(const std::string& folder) const {
    output({"export", folder, "--csv", "--out", "tables-of-" + folder});
    std::map<std::string, std::string> texts;
    for (const char* name : kTables) {
      texts[name] = folder_.read("tables-of-" + folder + "/" + name);
      EXPECT_GT(lines_of(texts[name]).size(), 1U) << name;
    }
    return texts;
  }

  // Finished runs in a store that may be in use, or not there yet.
  std::int64_t finished(const std::string& folder) const {
    try {
      io::Database database(folder_.file(folder + "/study.sqlite"), io::Database::Mode::kRead);
      return database.integer("SELECT count(*) FROM runs").value_or(0);
    } catch (const UserError&) {
      return 0;
    }
  }
  void execute(const std::string& folder, const std::string& sql) const {
    io::Database(folder_.file(folder + "/study.sqlite"), io::Database::Mode::kWrite).execute(sql);
  }

  // Stops a study into the folder "out" for a while, with some of its runs trained and others not.
  void pause_in_the_middle(const Process& process) const {
    const auto give_up = Clock::now() + std::chrono::seconds(60);
    while (finished("out") == 0 && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    process.pause();
    EXPECT_TRUE(exists("out/study.lock")) << "was too fast, or has not begun";
  }

  // As if these had never been trained.
  void remove_runs(const std::string& folder, const std::string& which) const {
    execute(folder, "DELETE FROM runs WHERE " + which);
    for (const char* table : {"results", "blobs"}) {
      execute(folder, "DELETE FROM " + std::string(table) + " WHERE run NOT IN (SELECT id FROM runs)");
    }
  }

  // Exit code 2 and one line on standard error that has all the parts.
  static void expect_one_line(const Outcome& outcome, const Words& parts) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(lines_of(test::complaint(outcome)).size(), 1U) << outcome.err;
    EXPECT_TRUE(test::complaint(outcome).starts_with("modlab: ")) << outcome.err;
    for (const std::string& part : parts) {
      EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "lacks: " << part;
    }
  }
};

TEST_F(StudyTest, ListNamesTheBuiltInStudies) {
  const std::string list = output(words_of("study list"));
  for (const char* part : {"boolean", "selection", "learning-rates", "module-counts", "multi-task", "module-input-size",
                           "no-structure", "paper 34020", "paper 24948", "quick 3402", "quick 255"}) {
    EXPECT_NE(list.find(part), std::string::npos) << part << "\n" << list;
  }
}

TEST_F(StudyTest, ShowTrainsNothing) {
  const Words before = folder_.names();
  const std::string shown = output(words_of("study show tiny.yaml"));
  for (const char* part : {"tiny: A tiny study", "Small enough for a test.", "* whole", "dense", "modular", "0.3, 0.5",
                           "0 of 32 runs are in results/tiny-whole", "The other 32 take about"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  }
  EXPECT_EQ(folder_.names(), before);
  EXPECT_EQ(train(""), 32);
  EXPECT_NE(output(words_of("study show tiny.yaml")).find("32 of 32 runs are in"), std::string::npos);
  const std::string wider = output(words_of("study show tiny.yaml seed=0..4"));
  EXPECT_NE(wider.find("32 of 80 runs are in"), std::string::npos) << wider;
  EXPECT_NE(wider.find("The other 48 take"), std::string::npos) << wider;
}

TEST_F(StudyTest, ShowKnowsABuiltInStudy) {
  const std::string shown = output(words_of("study show boolean --preset quick --out nowhere"));
  EXPECT_NE(shown.find("modular-shared-fcms"), std::string::npos);
  EXPECT_NE(shown.find("0 of 3402 runs are in nowhere"), std::string::npos) << shown;
}

TEST_F(StudyTest, RunTrainsChoosesChecksAndReports) {
  const std::string out = output(words_of("study run tiny.yaml"));
  EXPECT_EQ(trained(out), 32);
  for (const char* part : {"tiny: A tiny study", "Mean test accuracy", "depth1", "dense", "modular",
                           "C1     Networks are better than nothing.",
                           "undecided: 2 splits; on these splits: ", "Report: results/tiny-whole/report.html"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  }
  EXPECT_EQ(folder_.names(), (Words{"results", "results/tiny-whole", "results/tiny-whole/report.html",
                                    "results/tiny-whole/study.sqlite", "tiny.yaml"}));
  EXPECT_NE(folder_.read("results/tiny-whole/report.html").find("A tiny study"), std::string::npos);
  const std::string status = output(words_of("study status results/tiny-whole"));
  EXPECT_NE(status.find("All 32 runs are finished."), std::string::npos) << status;
}

TEST_F(StudyTest, AFinishedStudyTrainsNothing) {
  EXPECT_EQ(train("--out out"), 32);
  const auto before = tables("out");
  const std::string again = output(words_of("study run tiny.yaml --out out"));
  EXPECT_EQ(trained(again), 0);
  EXPECT_NE(again.find("undecided: 2 splits"), std::string::npos) << "but says again what it has found";
  EXPECT_EQ(tables("out"), before);
}

TEST_F(StudyTest, AddingValuesTrainsOnlyTheNewCells) {
  EXPECT_EQ(train("--out out --preset small"), 16);
  EXPECT_EQ(train("--out out"), 16) << "the other ratio";
  EXPECT_EQ(train("--out out seed=0..2"), 16) << "a third seed: 2 models x 2 ratios x 2 rates x 2 splits";
  EXPECT_EQ(train("--out out seed=0..2 lr=0.1,0.01,0.001"), 24);
  EXPECT_EQ(train("--out out seed=0..2 lr=0.1,0.01,0.001"), 0);
  EXPECT_EQ(train("--out out"), 0) << "going back trains nothing, and asks for less";
  EXPECT_EQ(lines_of(tables("out").at("runs.csv")).size(), 1 + 32U);
  // Piece by piece or all at once, the tables are the same.
  EXPECT_EQ(train("--out out seed=0..2 lr=0.1,0.01,0.001"), 0);
  EXPECT_EQ(train("--out fresh --threads 1 seed=0..2 lr=0.1,0.01,0.001"), 72);
  EXPECT_EQ(tables("out"), tables("fresh"));
}

TEST_F(StudyTest, GridsThatShareRunsTrainThemOnce) {
  folder_.write("shared.yaml", R"(
parameters: {task: depth1, model: dense, epochs: 5}
grids:
  - {series: few, parameters: {seed: {values: [0, 1]}}}
  - {series: many, parameters: {seed: {values: [0, 1, 2, 3]}}}
)");
  const std::string shown = output(words_of("study show shared.yaml"));
  EXPECT_NE(shown.find("0 of 4 runs"), std::string::npos) << shown;
  const std::string out = output(words_of("study run shared.yaml --out out"));
  EXPECT_NE(out.find("4 of 4 runs to train"), std::string::npos) << out;
  EXPECT_NE(output(words_of("study status out")).find("All 4 runs are finished"), std::string::npos);
  EXPECT_EQ(lines_of((output(words_of("export out --csv")), folder_.read("out/csv/runs.csv"))).size(), 1 + 6U);
}

TEST_F(StudyTest, StatusSaysWhatIsLeft) {
  train("--out out");
  remove_runs("out", "id IN (SELECT id FROM runs LIMIT 5)");
  const std::string status = output(words_of("study status out"));
  EXPECT_NE(status.find("5 of 32 runs are left"), std::string::npos) << status;
  EXPECT_NE(status.find("tiny, preset whole"), std::string::npos) << status;
}

TEST_F(StudyTest, ThreadsDoNotMatter) {
  train("--out one --threads 1");
  train("--out three --threads 3");
  EXPECT_EQ(tables("one"), tables("three"));
}

TEST_F(StudyTest, OneRowInEveryTableForWhatItIs) {
  train("--out out");
  const auto texts = tables("out");
  EXPECT_EQ(lines_of(texts.at("runs.csv")).size(), 1 + 32U);
  EXPECT_EQ(lines_of(texts.at("chosen.csv")).size(), 1 + 2 * 2 * 2U) << "series, ratio, split";
  EXPECT_EQ(lines_of(texts.at("claims.csv")).size(), 1 + 2U);
  const std::string printed = output(words_of("export out --csv --curves"));
  for (const char* name : {"runs", "chosen", "means", "claims", "timing", "curves"}) {
    EXPECT_NE(printed.find("out/csv/" + std::string(name) + ".csv\n"), std::string::npos) << printed;
    EXPECT_TRUE(exists("out/csv/" + std::string(name) + ".csv"));
  }
  EXPECT_EQ(lines_of(folder_.read("out/csv/curves.csv")).size(), 1 + 32 * 20U);
  EXPECT_EQ(lines_of(folder_.read("out/csv/timing.csv")).size(), 1 + 32U);
}

// What `train` says of a run is what the study says of it.
TEST_F(StudyTest, RunsAreThoseOfTrain) {
  train("--out out");
  const Words lines = lines_of(tables("out").at("runs.csv"));
  const json alone = json_output(
      "train --task depth1 --model modular --ratio 0.3 --split-seed 41 --seed 1 --epochs 20 --lr 0.01 --json")["runs"]
                                                                                                              [0];
  int found = 0;
  for (const std::string& line : lines) {
    if (line.starts_with(alone["id"].get<std::string>() + ",")) {
      ++found;
      EXPECT_NE(line.find(",modular,depth1,modular,0.3,20,0.01,41,1,"), std::string::npos) << line;
      EXPECT_NE(line.find("," + std::to_string(alone["best_epoch"].get<int>()) + ","), std::string::npos) << line;
      std::ostringstream accuracy;
      accuracy << std::setprecision(12) << alone["best"]["test_accuracy"].get<double>();
      EXPECT_NE(line.find(accuracy.str()), std::string::npos) << line << "\n" << accuracy.str();
    }
  }
  EXPECT_EQ(found, 1);
}

TEST_F(StudyTest, AnyRunIsReplayedByItsName) {
  train("--out out");
  io::Database database(folder_.file("out/study.sqlite"), io::Database::Mode::kRead);
  io::Statement rows = database.prepare(
      "SELECT id, best_epoch, test_accuracy, test_loss FROM runs JOIN results ON run = id "
      "WHERE snapshot = 'best' ORDER BY id LIMIT 8");
  int replayed = 0;
  for (; rows.step(); ++replayed) {
    const std::string id(rows.text(0));
    const json run = json_output("train --from out --run " + id + " --json")["runs"][0];
    EXPECT_EQ(run["id"], id);
    EXPECT_EQ(run["best_epoch"], rows.integer(1));
    EXPECT_DOUBLE_EQ(run["best"]["test_accuracy"].get<double>(), rows.real(2));
    EXPECT_DOUBLE_EQ(run["best"]["test_loss"].get<double>(), rows.real(3));
  }
  EXPECT_EQ(replayed, 8);
  expect_refused("train --from out --run 0123", {"no run '0123'"});
  expect_refused("train --from out", {"--run", "--from"});
  expect_refused("train --run 0123", {"--run", "--from"});
  expect_refused("train --from out --run 0123 --lr 1", {"leave --lr out"});
  expect_refused("train --from nowhere --run 0123", {"nowhere"});
}

TEST_F(StudyTest, ReportGoesWhereItIsAsked) {
  train("--out out");
  std::filesystem::remove(folder_.file("out/report.html"));
  EXPECT_EQ(output(words_of("report out")), "out/report.html\n");
  EXPECT_TRUE(exists("out/report.html"));
  EXPECT_EQ(output(words_of("report out -o mine.html")), "mine.html\n");
  EXPECT_EQ(folder_.read("mine.html"), folder_.read("out/report.html"));
  const json data = json_output("report out --json");
  EXPECT_EQ(data["study"], "tiny");
  EXPECT_EQ(data["overview"]["done"], 32);
  EXPECT_EQ(data["figures"][0]["rows"].size(), 4U);
  EXPECT_EQ(data["claims"][0]["verdict"], "undecided");
  EXPECT_EQ(data["claims"][0]["reason"], "2 splits");
  // Cells are two ratios of the modular series; best, median and worst of four runs.
  ASSERT_EQ(data["gallery"].size(), 2 * 3U);
  EXPECT_EQ(data["gallery"][0]["curve"]["epochs"].size(), 20U);
  EXPECT_EQ(data["gallery"][0]["graph"]["nodes"].size(), 6 + 2 + 2U);
}

TEST_F(StudyTest, ReportOfAHalfFinishedAndOfAnEmptyStudy) {
  train("--out out");
  remove_runs("out", "json_extract(settings, '$.model') = 'modular'");
  json data = json_output("report out --json");
  EXPECT_EQ(data["overview"]["done"], 16);
  ASSERT_EQ(data["overview"]["missing"].size(), 1U);
  EXPECT_EQ(data["overview"]["missing"][0]["series"], "modular");
  EXPECT_EQ(data["claims"][0]["verdict"], "undecided");
  EXPECT_EQ(run("report out").exit_code, 0);
  remove_runs("out", "true");
  data = json_output("report out --json");
  EXPECT_EQ(data["overview"]["done"], 0);
  EXPECT_EQ(data["overview"]["missing"].size(), 2U);
  EXPECT_EQ(data["claims"][0]["verdict"], "no data");
  EXPECT_EQ(run("report out").exit_code, 0);
  EXPECT_EQ(run("export out --csv").exit_code, 0);
  EXPECT_NE(output(words_of("study status out")).find("32 of 32 runs are left"), std::string::npos);
}

TEST_F(StudyTest, ClaimsOfOtherSizesAreNamedInOneLine) {
  std::string study = kTiny;
  for (const char* id : {"C2", "LONG-NAME"}) {
    study += fmt::format(
        "  - id: {}\n    figure: F1\n    text: Of another ratio.\n    where: {{ratio: [0.9]}}\n    checks:\n"
        "      - {{value: dense, measure: test_accuracy, expect: greater}}\n",
        id);
  }
  folder_.write("tiny.yaml", study);
  const std::string text = output(words_of("study run tiny.yaml --preset small --out out"));
  EXPECT_NE(text.find(" C1     Networks are better than nothing.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Nothing is trained here, or not yet, for C2, LONG-NAME.\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("Of another ratio."), std::string::npos) << text;
  EXPECT_NE(text.find("3 claims: 0 hold, 0 fail, 1 undecided, 2 without data."), std::string::npos) << text;
}

TEST_F(StudyTest, OwnTaskFilesAndOwnNames) {
  folder_.write(
      "majority.yaml",
      "about: \"<b>bold</b> & majority\"\ninputs: 4\nlevels:\n  - {a: AND x0 x1, b: OR x2 x3}\noutputs: [a, b]\n");
  folder_.write("sweep.yaml", R"(
method: grid
parameters:
  task: {value: majority.yaml}
  model: {values: [dense, modular, modular-fc]}
  seed: {values: [0, 1]}
  epochs: {value: 10}
)");
  EXPECT_EQ(trained(output(words_of("study run sweep.yaml"))), 6);
  EXPECT_TRUE(exists("results/sweep/report.html"));
  const json data = json_output("report results/sweep --json");
  EXPECT_EQ(data["study"], "sweep");
  EXPECT_EQ(data["tasks"][0]["name"], "majority.yaml");
  EXPECT_EQ(data["tasks"][0]["about"], "<b>bold</b> & majority");
  EXPECT_EQ(folder_.read("results/sweep/report.html").find("<b>bold"), std::string::npos);
  EXPECT_EQ(data["overview"]["series"].size(), 3U);
}

TEST_F(StudyTest, ATaskThatChangedIsRefused) {
  folder_.write("own.yaml", "inputs: 4\nlevels:\n  - {a: AND x0 x1, b: OR x2 x3}\noutputs: [a, b]\n");
  EXPECT_EQ(train("--out out task=own.yaml"), 32);
  folder_.write("own.yaml", "inputs: 4\nlevels:\n  - {a: AND x0 x1, b: XOR x2 x3}\noutputs: [a, b]\n");
  expect_refused("study run tiny.yaml --out out task=own.yaml",
                 {"own.yaml", "is not the one that the networks in out learned", "put it back", "--out"});
  // What was found of the task as it was is still there.
  for (const char* line : {"report out", "export out --csv", "study status out"}) {
    EXPECT_EQ(run(line).exit_code, 0) << line;
  }
}

TEST_F(StudyTest, KeepDecidesWhatIsKept) {
  const auto rows = [&](const std::string& folder, const std::string& table) {
    return io::Database(folder_.file(folder + "/study.sqlite"), io::Database::Mode::kRead)
        .integer("SELECT count(*) FROM " + table)
        .value_or(-1);
  };
  const std::vector<std::tuple<const char*, int, int>> expected = {
      {"results", 0, 0}, {"curves", 32, 0}, {"best", 32, 32}, {"all", 32, 64}};
  std::set<std::map<std::string, std::string>> different;
  for (const auto& [keep, curves, weights] : expected) {
    EXPECT_EQ(train("--out " + std::string(keep) + " keep=" + keep), 32);
    EXPECT_EQ(rows(keep, "blobs WHERE name = 'curve'"), curves) << keep;
    EXPECT_EQ(rows(keep, "blobs WHERE name LIKE 'weights/%'"), weights) << keep;
    EXPECT_EQ(rows(keep, "results"), 64) << keep;
    different.insert(tables(keep));
  }
  EXPECT_EQ(different.size(), 1U) << "results do not depend on it";
}

// Every measure of every figure has a value somewhere.
void expect_all_measures_drawn(const json& report) {
  for (const json& figure : report["figures"]) {
    for (const json& measure : figure["measures"]) {
      EXPECT_TRUE(std::ranges::any_of(
          figure["rows"], [&](const json& row) { return row["values"].contains(measure["name"].get<std::string>()); }))
          << report["study"] << " " << figure["id"] << " " << measure["name"];
    }
  }
}

// Two epochs teach nothing, but every figure and every claim finds its numbers.
TEST_F(StudyTest, EveryBuiltInStudyRunsToItsReport) {
  for (const std::string name :
       {"boolean", "selection", "learning-rates", "module-counts", "multi-task", "module-input-size", "no-structure"}) {
    output({"study", "run", name, "--preset", "quick", "--out", name, "epochs=2", "seed=0", "split_seed=40,41"});
    const json data = json_output({"report", name, "--json"});
    EXPECT_EQ(data["study"], name);
    EXPECT_EQ(data["preset"], "quick");
    EXPECT_TRUE(data["overview"]["missing"].empty()) << name;
    EXPECT_FALSE(data["gallery"].empty()) << name;
    for (const json& network : data["gallery"]) {
      EXPECT_FALSE(network["graph"]["edges"].empty()) << name;
    }
    expect_all_measures_drawn(data);
    for (const json& claim : data["claims"]) {
      // Nobody is right on all rows yet.
      EXPECT_TRUE(claim["verdict"] != "no data" || claim["id"] == "F5-2") << name << " " << claim["id"];
      for (const json& check : claim["checks"]) {
        EXPECT_TRUE(check["verdict"] != "no data" || claim["id"] == "F5-2") << name << " " << check["text"];
      }
    }
  }
}

// Five steps teach nothing either; curves and contests are there.
TEST_F(StudyTest, EveryStudyOnRulesRunsToItsReport) {
  for (const std::string name : {"rules-mlp", "rules-mha", "rules-rnn"}) {
    const std::string said =
        output({"study", "run", name, "--preset", "quick", "--out", name, "iterations=5", "evaluate_every=5",
                "test_samples=100", "task_seed=0,1", "batch_size=8", "rules=2,8"});
    EXPECT_NE(said.find("far from the paper"), std::string::npos) << "what the preset does otherwise";
    EXPECT_NE(said.find("2 task seeds"), std::string::npos);
    EXPECT_EQ(said.find("split"), std::string::npos) << said;
    const json data = json_output({"report", name, "--json"});
    EXPECT_TRUE(data["overview"]["missing"].empty()) << name;
    expect_all_measures_drawn(data);
    for (const json& claim : data["claims"]) {
      for (const json& check : claim["checks"]) {
        EXPECT_NE(check["verdict"], "no data") << name << " " << check["text"];
      }
    }
  }
}

TEST_F(StudyTest, BadCommandLines) {
  expect_refused("study rnu boolean", {"'rnu'", "did you mean 'run'?"});
  expect_refused("study run", {"name a study", "modlab study run boolean"});
  expect_refused("study show", {"name a study"});
  expect_refused("study status", {"name the folder"});
  expect_refused("study run booleen", {"no study 'booleen'", "did you mean 'boolean'?"});
  expect_refused("study run nowhere.yaml", {"nowhere.yaml"});
  expect_refused("study run tiny.yaml --preset smal", {"no preset 'smal'", "small, whole"});
  expect_refused("study run tiny.yaml --presets small", {"'--presets'", "did you mean '--preset'?"});
  expect_refused("study run tiny.yaml --threads 0", {"threads must be"});
  expect_refused("study run tiny.yaml epoch=3", {"'epoch'", "did you mean 'epochs'?"});
  expect_refused("study run tiny.yaml epochs=none", {"epochs must be", "'none'"});
  expect_refused("study run tiny.yaml epochs", {"setting=value"});
  expect_refused("study run tiny.yaml ties=some", {"ties must be"});
  expect_refused("study run tiny.yaml series=dens", {"no series 'dens'", "did you mean 'dense'?"});
  expect_refused("study run tiny.yaml model=sparse", {"no grid of the study has model=sparse"});
  expect_refused("study run tiny.yaml task=depth9", {"unknown task 'depth9'", "did you mean 'depth1'"});
  expect_refused("report one two", {"one folder"});
  expect_refused("export one two", {"one folder"});
  expect_refused("report out --json=1", {"--json takes no value"});
}

TEST_F(StudyTest, BadFiles) {
  const auto refused = [&](const std::string& text, const Words& parts) {
    folder_.write("bad.yaml", text);
    for (const char* verb : {"study run bad.yaml", "study show bad.yaml"}) {
      expect_refused(verb, parts);
    }
  };
  refused("", {"bad.yaml", "must be a map"});
  refused("a: [1\n", {"bad.yaml", "not valid YAML"});
  refused("parameters:\n  epoch: 3\n", {"bad.yaml:2", "'epoch'", "did you mean 'epochs'?"});
  refused("parameters:\n  lr: {values: []}\n", {"bad.yaml:2", "empty list"});
  refused("parameters:\n  lr: {distribution: uniform, min: 0, max: 1}\n", {"bad.yaml:2", "studies are grids"});
  refused("parameters: {model: modular, fan_in: [2, 5]}\n", {"the cell", "fan_in 5"});
  refused("parameters: {task: random62, model: modular-fc}\n", {"the cell task random62, model modular-fc"});
  refused("parameters: {task: missing.yaml}\n", {"missing.yaml"});
  refused("parameters: {lr: 0.1}\nclaims:\n  - {id: C, text: t, checks: [{value: a, measure: flop}]}\n",
          {"bad.yaml:3", "did you mean 'flops'?"});
  refused("parameters: {lr: 0.1}\nclaims:\n  - {id: C, text: t, over: [x], checks: [{value: a, measure: flops}]}\n",
          {"bad.yaml:3", "'x'"});
  refused("parameters: {seed: 0..3000, split_seed: 0..3000}\n", {"9006001 runs", "at most 5000000"});
}

TEST_F(StudyTest, BadStores) {
  folder_.write("file", "text");
  std::filesystem::create_directory(folder_.file("empty"));
  for (const char* verb : {"study status", "report", "export"}) {
    expect_refused(words_of(verb + std::string(" nowhere")), {"nowhere", "there is no study here"});
    expect_refused(words_of(verb + std::string(" empty")), {"empty", "there is no study here"});
    expect_refused(words_of(verb + std::string(" file")), {"file"});
  }
  train("--out newer");
  execute("newer", "PRAGMA user_version = 7");
  train("--out other");
  execute("other", "UPDATE study SET name = 'something'");
  std::filesystem::create_directory(folder_.file("foreign"));
  io::Database(folder_.file("foreign/study.sqlite"), io::Database::Mode::kCreate).execute("CREATE TABLE mine (a)");
  std::filesystem::create_directory(folder_.file("rubbish"));
  folder_.write("rubbish/study.sqlite", std::string(4096, 'x'));
  const std::vector<std::pair<const char*, Words>> stores = {
      {"newer", {"newer/study.sqlite", "newer modlab", "schema 7", "update modlab"}},
      {"foreign", {"foreign/study.sqlite", "not a modlab store", "choose another folder"}},
      {"rubbish", {"rubbish/study.sqlite", "not a database", "choose another folder"}}};
  for (const auto& [folder, parts] : stores) {
    for (const char* words : {"study run tiny.yaml --out ", "study status ", "report ", "export --csv "}) {
      expect_refused(words + std::string(folder), parts);
    }
  }
  expect_refused("study run tiny.yaml --out other",
                 {"other holds the study something", "choose another folder for tiny"});
}

TEST_F(StudyTest, DamagedWeightsAndCurves) {
  train("--out out");
  execute("out", "UPDATE blobs SET data = x'0102' WHERE name LIKE 'weights/%'");
  expect_refused("report out", {"out/study.sqlite", "damaged"});
  train("--out curves");
  execute("curves", "UPDATE blobs SET data = substr(data, 1, 20) WHERE name = 'curve'");
  expect_refused("report curves", {"curves/study.sqlite", "damaged"});
  EXPECT_EQ(run("export curves --csv").exit_code, 0) << "which needs none";
  const Outcome outcome = run("export curves --csv --curves");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
}

TEST_F(StudyTest, PlacesThatCannotBeWritten) {
  folder_.write("file", "text");
  for (const std::string place : {"file", "file/below", "/dev/null", "/dev/null/below"}) {
    expect_refused("study run tiny.yaml --out " + place, {place, "choose another place"});
  }
  train("--out out");
  for (const std::string place : {"file/page.html", "/dev/null", "/dev/null/page.html", "nowhere/page.html"}) {
    expect_refused("report out -o " + place, {place});
  }
  expect_refused("export out --csv -o file/csv", {"file/csv"});
  expect_refused("export out --csv -o /dev/null/csv", {"/dev/null/csv"});
  // The store itself, under whatever name.
  const std::string store = folder_.read("out/study.sqlite");
  std::filesystem::create_symlink("study.sqlite", folder_.file("out/link.html"));
  for (const std::string place :
       {"out/study.sqlite", "out/study.sqlite-wal", "./out/../out/study.sqlite", "out/link.html"}) {
    expect_refused("report out -o " + place, {place, "database", "choose another place"});
    expect_refused("train --epochs 2 --curves " + place, {place, "database"});
  }
  EXPECT_EQ(folder_.read("out/study.sqlite"), store);
}

// A file system of so many kilobytes on a folder, where the tests may mount one.
class SmallDisk {
 public:
  SmallDisk(std::string folder, int kilobytes) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    works_ = mount(kilobytes, 0);
    error_ = works_ ? "" : std::strerror(errno);
  }
  ~SmallDisk() {
    if (works_) {
      ::umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool works() const { return works_; }
  const std::string& error() const { return error_; }
  void resize(int kilobytes) { EXPECT_TRUE(mount(kilobytes, MS_REMOUNT)); }
  void make_read_only(int kilobytes) { EXPECT_TRUE(mount(kilobytes, MS_REMOUNT | MS_RDONLY)); }

 private:
  bool mount(int kilobytes, unsigned long flags) {
    const std::string options = "size=" + std::to_string(kilobytes) + "k";
    return ::mount("tmpfs", folder_.c_str(), "tmpfs", flags, options.c_str()) == 0;
  }

  std::string folder_;
  bool works_ = false;
  std::string error_;
};

TEST_F(StudyTest, AFullDiskIsOneClearLineAndLosesNothing) {
  train("--out unbroken seed=0..19");
  // Too small for the tables, for a block, and for all blocks; 20 MB are enough.
  for (const int kilobytes : {60, 200, 300, 700}) {
    SmallDisk disk(folder_.file("disk"), kilobytes);
    if (!disk.works()) {
      GTEST_SKIP() << "no small disk can be mounted here: " << disk.error();
    }
    const Words command = words_of("study run tiny.yaml --out disk/out seed=0..19");
    expect_one_line(run(command), {"disk/out", "full", "free some space"});
    expect_one_line(run(command), {"disk/out", "full", "free some space"});
    disk.resize(20'000);
    const Outcome status = run("study status disk/out");
    EXPECT_TRUE(status.exit_code == 0 || kilobytes < 100) << status.err;
    const std::int64_t before = finished("disk/out");
    EXPECT_LT(before, 320);
    if (kilobytes == 700) {
      EXPECT_GT(before, 0);
    }
    EXPECT_EQ(trained(output(command)), 320 - before);
    output({"export", "disk/out", "--csv", "--out", "tables"});
    for (const auto& [name, text] : tables("unbroken")) {
      EXPECT_EQ(folder_.read("tables/" + name), text) << name;
    }
  }
}

TEST_F(StudyTest, AReadOnlyDiskIsOneClearLineAndCanBeRead) {
  SmallDisk disk(folder_.file("disk"), 20'000);
  if (!disk.works()) {
    GTEST_SKIP() << "no small disk can be mounted here: " << disk.error();
  }
  train("--out disk/out");
  // As a process that was killed leaves it: in a mode in which readers write, too.
  execute("disk/out", "PRAGMA journal_mode = WAL");
  disk.make_read_only(20'000);
  expect_refused("study run tiny.yaml --out disk/new", {"disk/new", "Read-only", "choose another place"});
  expect_refused("study run tiny.yaml --out disk/out seed=0..9", {"disk/out", "Read-only", "choose another place"});
  expect_refused("report disk/out", {"disk/out/report.html", "Read-only"});
  expect_refused("export disk/out --csv", {"disk/out/csv", "Read-only"});
  EXPECT_NE(output(words_of("study status disk/out")).find("All 32 runs are finished"), std::string::npos);
  EXPECT_EQ(run("report disk/out -o page.html").exit_code, 0);
  EXPECT_EQ(run("export disk/out --csv -o tables").exit_code, 0);
}

TEST_F(StudyTest, AFileThatMayNotGrowIsOneClearLineAndLosesNothing) {
  train("--out unbroken seed=0..19");
  // A limit on the size of files, in kilobytes, which works everywhere.
  const auto limited = [&](int kilobytes) {
    const std::string line = "trap '' XFSZ; ulimit -f " + std::to_string(kilobytes) +
                             "; exec '" MODLAB_PROGRAM "' study run tiny.yaml --out out seed=0..19";
    return Process({"/bin/bash", "-c", line}, folder_.path().string()).wait();
  };
  std::int64_t before = 0;
  for (const int kilobytes : {20, 60, 120, 240, 480}) {
    expect_one_line(limited(kilobytes), {"out/study.sqlite", "run the same command again"});
    EXPECT_GE(finished("out"), before);
    EXPECT_LT(finished("out"), 320);
    before = finished("out");
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(train("--out out seed=0..19"), 320 - before);
  EXPECT_EQ(tables("out"), tables("unbroken"));
}

// Long enough to be stopped in the middle: 480 runs of 1000 epochs.
constexpr auto kLong = "study run tiny.yaml --threads 1 --out out epochs=1000 seed=0..29";

TEST_F(StudyTest, CtrlCKeepsWhatIsDoneAndGoesOn) {
  output(words_of("study run tiny.yaml --out unbroken epochs=1000 seed=0..29"));
  Process process(command(words_of(kLong)), folder_.path().string());
  pause_in_the_middle(process);
  process.interrupt();
  process.resume();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const std::int64_t done = finished("out");
  EXPECT_GT(done, 0);
  EXPECT_LT(done, 480) << "was too fast to be stopped";
  EXPECT_EQ(test::complaint(outcome),
            "Stopped: " + std::to_string(480 - done) + " runs are left. The same command goes on from here.\n");
  EXPECT_EQ(files_in("out"), Words{"study.sqlite"});
  EXPECT_NE(output(words_of("study status out")).find(std::to_string(480 - done) + " of 480 runs are left"),
            std::string::npos);
  EXPECT_EQ(json_output("report out --json")["overview"]["done"], done);
  EXPECT_EQ(trained(output(words_of(kLong))), 480 - done);
  EXPECT_EQ(tables("out"), tables("unbroken"));
}

TEST_F(StudyTest, OneProcessAtATimeTrainsAStudy) {
  Process process(command(words_of("study run tiny.yaml --threads 1 --out out epochs=3000 seed=0..29")),
                  folder_.path().string());
  pause_in_the_middle(process);
  const std::string who = "process " + std::to_string(process.id()) + " on ";
  expect_refused("study run tiny.yaml --out out epochs=10", {"out: " + who, "since 20", "choose another folder"});
  EXPECT_NE(output(words_of("study status out")).find("runs are left; " + who), std::string::npos);
  // A process that was killed stands in nobody's way.
  process.kill();
  process.resume();
  process.wait();
  EXPECT_TRUE(exists("out/study.lock"));
  EXPECT_NE(output(words_of("study status out")).find("runs are left; no process trains them"), std::string::npos);
  EXPECT_EQ(train("--out out"), 32);
  EXPECT_EQ(files_in("out"), (Words{"report.html", "study.sqlite"}));
}

TEST_F(StudyTest, AFolderThatIsDeletedMeanwhileLosesNothing) {
  train("--out unbroken epochs=300 seed=0..29");
  Process process(command(words_of("study run tiny.yaml --threads 1 --out out epochs=300 seed=0..29")),
                  folder_.path().string());
  pause_in_the_middle(process);
  std::filesystem::remove_all(folder_.file("out"));
  process.resume();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(test::complaint(outcome),
            "modlab: out was deleted or moved; what is trained goes to out-rescued instead\n");
  EXPECT_NE(outcome.out.find("Report: out-rescued/report.html"), std::string::npos) << outcome.out;
  EXPECT_FALSE(exists("out"));
  EXPECT_EQ(files_in("out-rescued"), (Words{"report.html", "study.sqlite"}));
  EXPECT_EQ(tables("out-rescued"), tables("unbroken"));
}

// What a file says may not move the cursor, change colours or be run by a spreadsheet.
TEST_F(StudyTest, TextsOfAFileAreTextAndNothingElse) {
  folder_.write("odd.yaml", R"(
name: odd
title: "red \e[31m title\x9b5m"
about: "bell \a"
parameters: {task: depth1, model: modular, seed: 0..1, epochs: 5}
grids:
  - {series: "=cmd|' /C calc'!A0"}
  - {series: "\e]0;x\a", parameters: {lr: 0.1}}
claims:
  - {id: "@C\e", text: "\e[2J", checks: [{value: "=cmd|' /C calc'!A0", measure: test_accuracy, expect: greater}]}
)");
  std::string shown = output(words_of("study run odd.yaml --out out"));
  for (const char* line : {"study show odd.yaml", "study status out", "export out --csv"}) {
    shown += output(words_of(line));
  }
  execute("out", "UPDATE study SET preset = '', source = char(27) || '[5m'");
  shown += output(words_of("study status out"));
  for (const char* table : kTables) {
    const std::string text = folder_.read("out/csv/" + std::string(table));
    EXPECT_EQ(text.find("\n=cmd"), std::string::npos) << text;
    EXPECT_EQ(text.find(",=cmd"), std::string::npos) << text;
    shown += text;
  }
  for (const char letter : {'\x1b', '\a'}) {
    EXPECT_EQ(shown.find(letter), std::string::npos);
  }
  EXPECT_EQ(shown.find("\u009b"), std::string::npos);
  EXPECT_NE(folder_.read("out/csv/runs.csv").find(",'=cmd|' /C calc'!A0,"), std::string::npos);
}

TEST_F(StudyTest, NamesOfFilesThatAreNotUtf8AreRefusedBeforeTraining) {
  folder_.write("odd\xff.yaml", kTiny);
  folder_.write("task\xff.csv", "x0,y0\n0,1\n1,0\n");
  // A study has a name of its own; the file's may be anything.
  EXPECT_EQ(run({"study", "show", "odd\xff.yaml"}).exit_code, 0);
  folder_.write("odd\xff.yaml", "parameters: {task: depth1, epochs: 2}\n");
  expect_refused(Words{"study", "run", "odd\xff.yaml", "--out", "out"}, {"cannot be the name of a folder"});
  expect_refused(Words{"study", "run", "tiny.yaml", "--out", "out", "task=task\xff.csv"},
                 {"not plain UTF-8", "rename"});
  expect_refused(Words{"train", "--task", "task\xff.csv", "--save", "nets"}, {"not plain UTF-8", "rename"});
  expect_refused(Words{"sculpt", "--task", "task\xff.csv"}, {"not plain UTF-8", "rename"});
}

TEST_F(StudyTest, ReadersDoNotDisturbAWriter) {
  output(words_of("study run tiny.yaml --out unbroken epochs=1000 seed=0..29"));
  Process process(command(words_of(kLong)), folder_.path().string());
  pause_in_the_middle(process);  // so that there is something to look at for certain
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  do {
    EXPECT_EQ(run("study status out").exit_code, 0);
    EXPECT_EQ(run("export out --csv -o while").exit_code, 0);
    process.resume();
  } while (finished("out") < 480 && Clock::now() < give_up);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(tables("out"), tables("unbroken"));
}

// Networks that were trained elsewhere take the place of runs; they never mix with trained ones.
TEST_F(StudyTest, NetworksOfOthersAreJudged) {
  const std::string networks = MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz";
  const std::string judge = "study run sculpt-levels --preset published --out theirs";
  const std::string text = output(words_of(judge + " --networks " + networks));
  EXPECT_NE(text.find("54 of 300 networks are of this study, in 54 of 240 runs."), std::string::npos) << text;
  EXPECT_NE(text.find("? AC-15b"), std::string::npos) << text;
  EXPECT_NE(text.find("expected at least 90 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(output(words_of(judge + " --networks " + networks)), text);
  EXPECT_NE(folder_.read("theirs/report.html").find("nets.jsonl.gz"), std::string::npos);

  expect_refused(judge, {"theirs holds networks of", "--networks", "--out"});
  expect_refused("study run boolean --networks " + networks, {"sculpted networks", "boolean"});
  expect_refused("study run sculpt-overlap --preset published --networks nowhere.jsonl", {"nowhere.jsonl"});
  folder_.write("one.jsonl", R"({"W": [[[1, 2], [3, 4]], [[1, 1]]], "seed": 0})");
  expect_refused("study run sculpt-overlap --preset published --networks one.jsonl", {"its task"});
  folder_.write("one.jsonl", R"({"W": [[[1, 2], [3, 4]], [[1, 1]]], "seed": 0, "task": "depth1"})");
  expect_refused("study run sculpt-overlap --preset published --networks one.jsonl", {"none of the 1 networks"});
}

}  // namespace
}  // namespace modlab
