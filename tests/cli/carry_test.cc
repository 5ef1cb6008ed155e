#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/program.h"
#include "engine/kernels/kernels.h"
#include "io/sqlite.h"
#include "models/rules/train_rules.h"
#include "models/saved_snapshot.h"
#include "report/csv_text.h"

namespace modlab {
namespace {

using nlohmann::json;
using test::csv_rows;
using test::CsvRow;
using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;

constexpr auto kOwnTask = "inputs: 4\nlevels:\n  - {a: AND x0 x1, b: OR x2 x3}\noutputs: [a, b]\n";
constexpr auto kChangedTask = "inputs: 4\nlevels:\n  - {a: AND x0 x1, b: XOR x2 x3}\noutputs: [a, b]\n";
constexpr auto kOwnTable = "x0,x1,x2,x3,y0,y1\n";

// 2 models x 2 ratios x 2 rates x 2 splits x 2 seeds on an own task, and a suite.
constexpr auto kOwnStudy = R"(
name: own
tune: [lr]
parameters: {ratio: [0.4, 0.6], split_seed: [40, 41], seed: [0, 1], epochs: 15, lr: [0.1, 0.01]}
grids:
  - {series: dense, parameters: {task: tasks/own.yaml, model: dense}}
  - {series: modular, parameters: {task: tasks/own.yaml, model: modular}}
  - {series: suite, parameters: {task: both.yaml, model: dense, ratio: 0.5, seed: 0}}
figures: [{id: F, title: Accuracy, x: ratio, series: series, measures: [test_accuracy]}]
)";

// A study and its tasks in one folder, the program in another one.
class Carry : public test::ProgramTest {
 protected:
  Carry() {
    for (const char* name : {"home", "home/tasks", "elsewhere"}) {
      std::filesystem::create_directory(folder_.file(name));
    }
    folder_.write("home/study.yaml", kOwnStudy);
    folder_.write("home/tasks/own.yaml", kOwnTask);
    std::string table = kOwnTable;
    for (int row = 0; row < 16; ++row) {
      table += std::to_string(row >> 3 & 1) + "," + std::to_string(row >> 2 & 1) + "," + std::to_string(row >> 1 & 1) +
               "," + std::to_string(row & 1) + "," + std::to_string(row % 3 == 0) + "," + std::to_string(row > 9) +
               "\n";
    }
    folder_.write("home/table.csv", table);
    folder_.write("home/both.yaml", "tasks: [tasks/own.yaml, table.csv]\n");
  }

  Outcome run_in(const std::string& place, const std::string& line) const {
    return Process(command(words_of(line)), folder_.file(place)).wait();
  }
  std::string output_in(const std::string& place, const std::string& line) const {
    const Outcome outcome = run_in(place, line);
    EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.err;
    return outcome.out;
  }
  // The lines of a fenced block of a page, the first that begins with `fence`.
  static std::string block_of(const std::string& page, const std::string& fence) {
    std::string text;
    bool is_inside = false;
    std::ifstream file(std::string(MODLAB_TEST_DIR "/../docs/") + page);
    for (std::string line; std::getline(file, line);) {
      if (is_inside && line == "```") {
        break;
      }
      text += is_inside ? line + "\n" : "";
      is_inside = is_inside || line == fence;
    }
    EXPECT_NE(text, "") << page << " has no " << fence;
    return text;
  }
};

// The folder of the results goes to another machine: there is no study and no task any more.
TEST_F(Carry, AStoreNeedsNothingButItself) {
  const std::string out = output_in("elsewhere", "study run ../home/study.yaml --out ../results");
  EXPECT_NE(out.find("36 of 36 runs to train"), std::string::npos) << out;
  const json before = json::parse(output_in("home", "report ../results --json"));
  output_in("home", "export ../results --csv --out ../tables");
  std::filesystem::remove_all(folder_.file("home"));
  std::filesystem::rename(folder_.file("results"), folder_.file("elsewhere/carried"));
  EXPECT_EQ(json::parse(output_in("elsewhere", "report carried --json")), before);
  EXPECT_NE(output_in("elsewhere", "study status carried").find("All 36 runs are finished."), std::string::npos);
  output_in("elsewhere", "export carried --csv --out tables");
  for (const char* name : {"runs.csv", "chosen.csv", "means.csv", "claims.csv"}) {
    EXPECT_EQ(folder_.read(std::string("elsewhere/tables/") + name), folder_.read(std::string("tables/") + name));
  }
  std::set<std::string> tasks;
  for (const CsvRow& row : csv_rows(folder_.read("tables/runs.csv"))) {
    if (!tasks.insert(row.at("task")).second) {
      continue;
    }
    const std::string id = row.at("id");
    const json again = json::parse(output_in("elsewhere", "train --from carried --run " + id + " --save nets --json"));
    EXPECT_EQ(again["runs"][0]["id"], id);
    EXPECT_DOUBLE_EQ(again["runs"][0]["best"]["test_loss"].get<double>(), std::stod(row.at("test_loss")));
    EXPECT_NE(output_in("elsewhere", "show nets/" + id + ".safetensors").find(row.at("task")), std::string::npos);
    output_in("elsewhere", "measure nets/" + id + ".safetensors --json");
  }
  EXPECT_EQ(tasks, (std::set<std::string>{"tasks/own.yaml", "both.yaml"}));
}

// A name in a run's settings is what the study wrote, so that the names of runs stay what they were.
TEST_F(Carry, PathsOfTasksAreRelativeToTheStudy) {
  std::filesystem::create_directory(folder_.file("elsewhere/tasks"));
  folder_.write("elsewhere/tasks/own.yaml", kChangedTask);
  output_in("elsewhere", "study run ../home/study.yaml --out one series=dense");
  output_in("home", "study run study.yaml --out ../two series=dense");
  output_in("elsewhere", "export one --csv --out one.csv");
  output_in("elsewhere", "export ../two --csv --out two.csv");
  EXPECT_EQ(folder_.read("elsewhere/one.csv/runs.csv"), folder_.read("elsewhere/two.csv/runs.csv"));
  // The same run on the command line, where a path is relative to where one is.
  const json alone = json::parse(output_in("home",
                                           "train --task tasks/own.yaml --model dense --ratio 0.4 --split-seed 40 "
                                           "--seed 0 --epochs 15 --lr 0.1 --json"))["runs"][0];
  EXPECT_NE(folder_.read("elsewhere/one.csv/runs.csv").find(alone["id"].get<std::string>() + ",dense,tasks/own.yaml,"),
            std::string::npos);
  // On the command line of a study a file may also lie where one is.
  folder_.write("elsewhere/mine.yaml", kChangedTask);
  folder_.write("home/plain.yaml", "parameters: {task: depth1, model: dense, epochs: 5}\n");
  output_in("elsewhere", "study run ../home/plain.yaml --out mine task=mine.yaml");
  const Outcome missing = run_in("elsewhere", "study run ../home/plain.yaml --out mine task=none.yaml");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("../home/none.yaml"), std::string::npos) << missing.err;
}

TEST_F(Carry, ARefusedRunChangesNothing) {
  output_in("home", "study run study.yaml --out ../results series=dense");
  const std::string before = folder_.read("results/study.sqlite");
  folder_.write("home/tasks/own.yaml", kChangedTask);
  const Words names = folder_.names();
  const Outcome refused = run_in("home", "study run study.yaml --out ../results lr=0.5");
  EXPECT_EQ(refused.exit_code, 2);
  for (const char* part : {"tasks/own.yaml", "output y1 differs in 4 of 16 rows", "b was OR(x2, x3) and is XOR(x2, x3)",
                           "put it back", "--out"}) {
    EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err << "lacks " << part;
  }
  EXPECT_EQ(folder_.read("results/study.sqlite"), before);
  EXPECT_EQ(folder_.names(), names);
  // What has been found is still there.
  EXPECT_EQ(run_in("elsewhere", "report ../results").exit_code, 0);
}

TEST_F(Carry, AChangedStudySaysWhatDiffers) {
  EXPECT_EQ(output_in("home", "study run study.yaml --out ../results series=dense").find("has changed"),
            std::string::npos);
  EXPECT_EQ(output_in("home", "study run study.yaml --out ../results series=dense").find("has changed"),
            std::string::npos);
  const std::string changed = output_in("home", "study run study.yaml --out ../results series=dense lr=0.1 epochs=10");
  for (const char* part : {"The study in ../results has changed: epochs was 15 and is 10; lr was 0.1, 0.01 and is 0.1.",
                           "16 of its 16 runs are not in the grid any more", "in_grid", "--out"}) {
    EXPECT_NE(changed.find(part), std::string::npos) << changed << "lacks " << part;
  }
  for (const char* line : {"study status ../results", "export ../results --csv"}) {
    EXPECT_NE(output_in("home", line).find("The store has 16 runs of earlier grids besides"), std::string::npos);
  }
  EXPECT_EQ(lines_of(folder_.read("results/csv/runs.csv")).size(), 1 + 8U);
  const std::string more = output_in("home", "study run study.yaml --out ../results");
  EXPECT_NE(more.find("series was dense and is dense, modular, suite"), std::string::npos) << more;
  io::Database database(folder_.file("results/study.sqlite"), io::Database::Mode::kRead);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE in_grid"), 36);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE NOT in_grid AND epochs = 10"), 8);
}

// The words of the page on formats, as a user pastes them.
TEST_F(Carry, TheSqlOfTheDocsGivesTheNumbersOfTheReport) {
  output_in("home", "study run study.yaml --out ../results series=dense,modular");
  output_in("home", "export ../results --csv");
  std::map<std::string, CsvRow> means;
  for (const CsvRow& row : csv_rows(folder_.read("results/csv/means.csv"))) {
    if (row.at("measure") == "test_accuracy") {
      means[row.at("series") + " " + row.at("ratio")] = row;
    }
  }
  ASSERT_EQ(means.size(), 4U);
  io::Database database(folder_.file("results/study.sqlite"), io::Database::Mode::kRead);
  io::Statement rows = database.prepare(block_of("formats.md", "```sql"));
  std::size_t found = 0;
  std::map<std::string, double> by_sql;
  for (; rows.step(); ++found) {
    std::string ratio = std::to_string(rows.real(2)).substr(0, 3);
    const std::string key = std::string(rows.text(0)) + " " + ratio;
    ASSERT_TRUE(means.contains(key)) << key;
    EXPECT_NEAR(rows.real(3), std::stod(means.at(key).at("mean")), 1e-9) << key;
    EXPECT_EQ(rows.integer(4), 2) << "splits";
    EXPECT_EQ(std::to_string(rows.integer(5)), means.at(key).at("runs"));
    by_sql[key] = rows.real(3);
  }
  EXPECT_EQ(found, 4U);
  const json report = json::parse(output_in("elsewhere", "report ../results --json"));
  ASSERT_EQ(report["figures"][0]["rows"].size(), 4U);
  for (const json& row : report["figures"][0]["rows"]) {
    const std::string key = row["series"].get<std::string>() + " " + row["x"].dump();
    EXPECT_NEAR(row["values"]["test_accuracy"]["mean"].get<double>(), by_sql.at(key), 1e-9) << row.dump();
  }
  // What is chosen is the same in the table of runs.
  std::set<std::string> chosen;
  for (const CsvRow& row : csv_rows(folder_.read("results/csv/runs.csv"))) {
    if (row.at("chosen") == "1") {
      chosen.insert(row.at("series") + row.at("id"));
    }
  }
  EXPECT_EQ(chosen.size(), 16U) << "one of two rates, for each split and ratio";
  io::Statement view = database.prepare("SELECT series || id FROM chosen");
  std::set<std::string> in_view;
  while (view.step()) {
    in_view.insert(std::string(view.text(0)));
  }
  EXPECT_EQ(in_view, chosen);
}

TEST_F(Carry, NoColumnIsEmptyOrTheSameAsAnother) {
  output_in("home", "study run study.yaml --out ../results series=dense,modular");
  io::Database database(folder_.file("results/study.sqlite"), io::Database::Mode::kRead);
  for (const char* view : {"run_settings", "run_results", "chosen"}) {
    io::Statement columns = database.prepare("SELECT name FROM pragma_table_info('" + std::string(view) + "')");
    std::set<std::string> names;
    while (columns.step()) {
      const std::string name(columns.text(0));
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_NE(database.integer("SELECT count(\"" + name + "\") FROM " + view), 0) << view << " " << name;
    }
    EXPECT_GT(names.size(), 20U);
    EXPECT_FALSE(names.contains("lr_input")) << "lr_structural says it";
  }
  output_in("home", "export ../results --csv");
  for (const char* name : {"runs.csv", "chosen.csv", "means.csv"}) {
    const auto fields = test::csv_fields(folder_.read("results/csv/" + std::string(name)));
    for (std::size_t column = 0; column < fields[0].size(); ++column) {
      EXPECT_TRUE(
          std::any_of(fields.begin() + 1, fields.end(), [&](const auto& row) { return !row.at(column).empty(); }))
          << name << " " << fields[0][column];
      EXPECT_EQ(std::ranges::count(fields[0], fields[0][column]), 1) << name << " " << fields[0][column];
    }
  }
}

TEST_F(Carry, TrainWritesItsRunsAndCurvesAsTables) {
  const json runs = json_output(
      "train --model dense,modular --lr 0.1,0.01 --seed 0..1 --epochs 4 --json --csv r.csv --curves c.csv")["runs"];
  const std::vector<CsvRow> rows = csv_rows(folder_.read("r.csv"));
  ASSERT_EQ(rows.size(), 8U);
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const json& run = runs[number];
    EXPECT_EQ(rows[number].at("run"), std::to_string(number));
    EXPECT_EQ(rows[number].at("id"), run["id"]);
    EXPECT_EQ(rows[number].at("model"), run["model"]);
    EXPECT_EQ(rows[number].at("lr"), run["lr"].dump());
    EXPECT_EQ(rows[number].at("epochs"), "4");
    EXPECT_EQ(rows[number].at("diverged"), "0");
    EXPECT_NEAR(std::stod(rows[number].at("test_loss")), run["best"]["test_loss"].get<double>(), 1e-12);
    EXPECT_EQ(rows[number].at("edit_distance").empty(), run["model"] == "dense") << "measures of the structure too";
    EXPECT_FALSE(rows[number].contains("lr_input"));
  }
  const auto fields = test::csv_fields(folder_.read("c.csv"));
  EXPECT_EQ((Words{fields[0].begin(), fields[0].begin() + 6}), (Words{"run", "id", "model", "seed", "lr", "epoch"}));
  const std::vector<CsvRow> curves = csv_rows(folder_.read("c.csv"));
  ASSERT_EQ(curves.size(), 8 * 4U);
  for (const CsvRow& line : curves) {
    const CsvRow& row = rows.at(std::stoul(line.at("run")));
    for (const char* name : {"id", "model", "lr", "seed"}) {
      EXPECT_EQ(line.at(name), row.at(name));
    }
  }
  expect_refused("train --epochs 1 --csv nowhere/r.csv", {"nowhere"});
}

// The page on networks computes what the file says of its network, with nothing but numpy.
TEST_F(Carry, NumpyGivesTheOutputsOfSavedNetworks) {
  folder_.write("outputs.py", block_of("networks.md", "```python"));
  const json runs = json_output({"train", "--task", "depth2", "--model", "dense,sparse,modular,modular-shared",
                                 "--epochs", "60", "--save", "nets", "--json"})["runs"];
  const json all = json_output({"train", "--task", "depth2", "--model", "modular", "--modules", "4,3", "--outputs-from",
                                "all", "--epochs", "20", "--save", "nets", "--json"})["runs"];
  Words told;
  for (const json& run : {runs[0], runs[1], runs[2], runs[3], all[0]}) {
    const Outcome outcome = Process({"/usr/bin/python3", "outputs.py",
                                     folder_.file("nets/" + run["id"].get<std::string>() + ".safetensors")},
                                    folder_.path().string())
                                .wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Words lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 6U) << outcome.out;
    for (const std::string& line : lines) {
      const Words words = words_of(line);
      const json& said = run[words[0]];
      EXPECT_NEAR(std::stod(words[2]), said[words[1] + "_accuracy"].get<double>(), 1e-9) << run["model"] << " " << line;
      EXPECT_NEAR(std::stod(words[3]), said[words[1] + "_loss"].get<double>(), 1e-5) << run["model"] << " " << line;
    }
  }
}

// On the very samples that `modlab data rules` writes, so that every number of every family must be the same.
TEST_F(Carry, NumpyGivesTheOutputsOfSavedNetworksOnRules) {
  folder_.write("outputs.py", block_of("rules.md", "```python"));
  constexpr int kSamples = 100;
  const auto& kernels = engine::solo::kernels_for(engine::kernels().target);
  for (const std::string family : {"mlp", "mha", "rnn"}) {
    const std::string shape = family == "rnn" ? " --dim 3" : "";
    ASSERT_EQ(run(fmt::format("data rules --family {} --rules 3 --samples {} --out x.npz{}", family, kSamples, shape))
                  .exit_code,
              0);
    const json runs =
        json_output(words_of(fmt::format("train --task rules-{} --model gt-modular,modular,modular-op,monolithic "
                                         "--rules 3 --width 6 --lr 0.01 --iterations 40 --batch-size 16 "
                                         "--evaluate-every 20 --test-samples 20 --save nets --json{}",
                                         family, shape)))["runs"];
    ASSERT_EQ(runs.size(), 4U);
    for (const json& run : runs) {
      const std::string file = folder_.file("nets/" + run["id"].get<std::string>() + ".safetensors");
      const Outcome outcome =
          Process({"/usr/bin/python3", "outputs.py", file, "x.npz"}, folder_.path().string()).wait();
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      const auto snapshot = std::get<models::SavedRuleSnapshot>(models::load_snapshot(file, "best"));
      const models::RuleShape& net = snapshot.network.shape;
      const auto network = models::make_rule_network<float>(net, kernels);
      network->parameters().load(snapshot.parameters());
      const tasks::RuleTask task = tasks::draw_rules(snapshot.network.spec.task);
      models::RuleSampler sampler(task, kernels, 0);
      const models::RuleScore score = models::judge_rules(
          *network, sampler, net, task.settings.output, kernels,
          {.use = models::SampleUse::kExport, .samples = kSamples, .length = snapshot.network.spec.length});
      EXPECT_NEAR(std::stod(outcome.out), score.loss, 2e-6 * score.loss) << family << " " << run["model"];
    }
  }
}

TEST_F(Carry, CurvesInPythonAsTheDocsHaveThem) {
  std::filesystem::create_directories(folder_.file("results/boolean-paper"));
  output_in("home", "study run study.yaml --out ../results/boolean-paper series=dense");
  output_in("home", "export ../results/boolean-paper --csv --curves");
  folder_.write("curves.py", block_of("formats.md", "```python"));
  const Outcome outcome = Process({"/usr/bin/python3", "curves.py"}, folder_.path().string()).wait();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(lines_of(outcome.out).size(), 3U);
  std::map<std::string, CsvRow> runs;
  for (const CsvRow& row : csv_rows(folder_.read("results/boolean-paper/csv/runs.csv"))) {
    runs[row.at("id")] = row;
  }
  int compared = 0;
  for (const std::string& line : lines_of(outcome.out)) {
    const Words words = words_of(line);
    for (const CsvRow& row : csv_rows(folder_.read("results/boolean-paper/csv/curves.csv"))) {
      if (row.at("id") == words[0] && row.at("epoch") == "15") {
        ++compared;
        const double bits = 2 * std::stod(runs.at(words[0]).at("test_rows"));
        EXPECT_NEAR(100 * std::stod(words.back()) / bits, std::stod(row.at("test_accuracy")), 1e-9) << line;
      }
    }
  }
  EXPECT_EQ(compared, 3);
}

}  // namespace
}  // namespace modlab
