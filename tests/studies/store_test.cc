#include "studies/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "core/errors.h"
#include "io/csv_file.h"
#include "io/file.h"
#include "io/inflate.h"
#include "small_images.h"
#include "studies/made_up_study.h"
#include "tasks/task_file.h"

namespace modlab::studies {
namespace {

using experiments::FinishedRun;
using experiments::Numbers;
using experiments::Result;
using experiments::Run;
using test::MadeUpStudy;
using test::TemporaryFolder;

const Origin kHere = {"a machine", ""};

StoredStudy stored(const std::string& name) {
  return {name, "parameters: {lr: 0.1}\n", name + ".yaml", "quick", {"epochs=3", "keep=all"}};
}

// Runs by a letter each: they differ in their seed.
const Run& run_of(const std::string& name) {
  static std::map<std::string, Run> known;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  return found != known.end()
             ? found->second
             : known
                   .emplace(name, experiments::make_run(
                                      {{"task", "depth1"}, {"model", "dense"}, {"seed", std::to_string(known.size())}}))
                   .first->second;
}
std::string id_of(const std::string& name) { return run_of(name).id(); }

// Every number is another one.
Result distinct(double base) {
  Result result;
  for (const char* snapshot : {"best", "last"}) {
    for (const char* measure : {"best_epoch", "train_loss", "validation_loss", "test_loss", "edit_distance", "flops"}) {
      result.snapshots[snapshot][measure] = base += 1.25;
    }
  }
  result.diverged = true;
  result.seconds = base / 7;
  return result;
}

FinishedRun finished_run(const std::string& name, double base) {
  FinishedRun run{&run_of(name), distinct(base)};
  run.result.blobs = {{"curve", std::string("curve\0of ", 9) + name},
                      {"weights/best", "best of " + name},
                      {"weights/last", std::string("\0\xff", 2) + name}};
  return run;
}

// What the store has of a run is what was put into it.
void expect_stored(Store& store, const std::string& name, const Result& expected) {
  EXPECT_EQ(store.snapshots(id_of(name)), expected.snapshots) << name;
  for (const auto& [snapshot, numbers] : expected.snapshots) {
    const ResultTable table = store.results(snapshot);
    const std::optional<std::size_t> row = table.find(run_of(name).number);
    ASSERT_TRUE(row) << name;
    EXPECT_EQ(table.row(*row).diverged, expected.diverged);
    EXPECT_EQ(table.row(*row).seconds, expected.seconds);
    for (const auto& [measure, value] : numbers) {
      EXPECT_EQ(table.at(*row, table.column(measure).value()), value) << name << " " << measure;
    }
  }
}

void expect_refused(const std::function<void()>& action, const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "was not refused";
  } catch (const UserError& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << " lacks " << part;
    }
  }
}

class StoreTest : public testing::Test {
 protected:
  std::string folder() const { return folder_.file("out"); }
  std::string file() const { return folder_.file("out/study.sqlite"); }
  Store make(const std::string& name = "mine") const { return Store::open_or_create(folder(), stored(name), kHere); }
  void execute(const std::string& sql) const { io::Database(file(), io::Database::Mode::kCreate).execute(sql); }

  TemporaryFolder folder_;
};

TEST_F(StoreTest, EverythingComesBackAsItWas) {
  Store writer = make();
  writer.add(std::vector{finished_run("a", 0), finished_run("b", 1000)});
  for (const bool reopened : {false, true}) {
    Store store = reopened ? Store::open(folder()) : make();
    EXPECT_EQ(store.finished(), (RunSet{run_of("a").number, run_of("b").number}));
    expect_stored(store, "a", distinct(0));
    expect_stored(store, "b", distinct(1000));
    EXPECT_EQ(store.blob(id_of("a"), "curve"), std::string("curve\0of a", 10));
    EXPECT_EQ(store.blob(id_of("b"), "weights/best"), "best of b");
    EXPECT_EQ(store.blob(id_of("b"), "weights/last"), std::string("\0\xff", 2) + "b");
    EXPECT_EQ(store.blob(id_of("c"), "curve"), std::nullopt);
    EXPECT_EQ(store.blob(id_of("a"), "weights/middle"), std::nullopt);
    const std::optional<experiments::Run> run = store.run(id_of("b"));
    ASSERT_TRUE(run);
    EXPECT_EQ(run->kind, &experiments::bits());
    EXPECT_EQ(run->values.to_json(), run_of("b").values.to_json());
    EXPECT_EQ(store.run("0123456789abcdef"), std::nullopt);
    ASSERT_EQ(store.origins().size(), 1U);
    EXPECT_EQ(store.origins().front().machine, "a machine");
  }
}

TEST_F(StoreTest, AMeasureThatMeansNothingForARunIsAbsent) {
  Store store = make();
  FinishedRun bare = finished_run("a", 0);
  bare.result.snapshots = {{"best", {{"test_accuracy", 75}}}};
  store.add(std::vector{bare});
  EXPECT_EQ(store.results("best").measures(), std::vector<std::string>{"test_accuracy"});
  FinishedRun other = finished_run("b", 10);
  other.result.snapshots = {{"best", {{"edges", 12}}}, {"last", {{"edges", 11}}}};
  store.add(std::vector{other});
  EXPECT_EQ(store.snapshots(id_of("a")), bare.result.snapshots);
  EXPECT_EQ(store.snapshots(id_of("b")), other.result.snapshots);
  // A run with one snapshot has it under any name.
  const ResultTable last = store.results("last");
  EXPECT_EQ(last.at(*last.find(run_of("a").number), *last.column("test_accuracy")), 75);
  EXPECT_TRUE(std::isnan(last.at(*last.find(run_of("a").number), *last.column("edges"))));
  EXPECT_EQ(last.at(*last.find(run_of("b").number), *last.column("edges")), 11);
}

TEST_F(StoreTest, WhatCannotBeIsRefused) {
  const std::pair<const char*, const char*> hostile[] = {
      {"UPDATE results SET test_accuracy = 426.6", "cannot be 426.6"},
      {"UPDATE results SET test_accuracy = 'much'", "anything but a number"},
      {"UPDATE results SET test_accuracy = x'00'", "anything but a number"},
      {"ALTER TABLE results ADD COLUMN \"a\"\"; DROP TABLE runs\" REAL", "a measure has no name"}};
  for (const auto& [sql, part] : hostile) {
    std::filesystem::remove_all(folder());
    {
      Store store = make();
      FinishedRun run = finished_run("a", 0);
      run.result.snapshots["best"]["test_accuracy"] = 50;
      store.add(std::vector{run});
      store.close();
    }
    execute(sql);
    Store store = Store::open(folder());
    expect_refused([&] { store.results("best"); }, {"study.sqlite", part, "damaged"});
  }
  std::filesystem::remove_all(folder());
  make().add(std::vector{finished_run("a", 0), finished_run("b", 10)});
  // The settings of one run under the name of another, settings that are none, and a kind that there is not.
  execute("UPDATE runs SET settings = (SELECT settings FROM runs ORDER BY id LIMIT 1)");
  int refused = 0;
  for (const char* name : {"a", "b"}) {
    try {
      Store::open(folder()).run(id_of(name));
    } catch (const FormatError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("another run"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(refused, 1);
  for (const char* settings :
       {"[]", "{", "{\"epochs\": 2000000000}", "{\"epochs\": -1}", "{\"task\": \"nowhere.yaml\"}"}) {
    execute("UPDATE runs SET settings = '" + std::string(settings) + "'");
    expect_refused([&] { Store::open(folder()).run(id_of("a")); }, {"study.sqlite"});
  }
  execute("UPDATE runs SET kind = 'horoscope'");
  expect_refused([&] { Store::open(folder()).run(id_of("a")); }, {"horoscope", "update modlab"});
}

TEST_F(StoreTest, AViewInThePlaceOfATableIsRefused) {
  make().add(std::vector{finished_run("a", 0)});
  execute(
      "DROP VIEW chosen; DROP VIEW run_results; DROP VIEW run_settings; ALTER TABLE runs RENAME TO hidden; CREATE VIEW "
      "runs AS WITH "
      "RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n");
  expect_refused([&] { Store::open(folder()); }, {"no table 'runs'", "damaged"});
  expect_refused([&] { make(); }, {"no table 'runs'", "damaged"});
}

TEST_F(StoreTest, ARunWithoutResultsIsNotFinished) {
  make().add(std::vector{finished_run("a", 0), finished_run("b", 10)});
  execute("DELETE FROM results WHERE run = '" + id_of("a") + "'");
  Store store = make();
  EXPECT_EQ(store.finished(), RunSet{run_of("b").number});
  EXPECT_FALSE(store.results("best").find(run_of("a").number));
  store.add(std::vector{finished_run("a", 20)});
  expect_stored(store, "a", distinct(20));
}

// Stores that earlier versions wrote, and what those said of them.
struct Older {
  const char* name;
  int schema;
};
class OlderStore : public StoreTest, public testing::WithParamInterface<Older> {
 protected:
  OlderStore() {
    // Runs on images name their files as they lay beside the study.
    test::SmallImages().write(folder_);
    std::filesystem::current_path(folder_.path());
    std::filesystem::create_directory(folder());
    const std::string packed = io::read_file(
        MODLAB_TEST_DIR "/data/stores/" + name() + "-" + std::to_string(GetParam().schema) + ".sqlite.gz", 1 << 20);
    folder_.write("out/study.sqlite", io::inflate_stream(packed, io::Wrapping::kGzip, 1 << 24, "a store"));
  }
  ~OlderStore() override { std::filesystem::current_path(before_); }
  static std::string name() { return GetParam().name; }

  std::filesystem::path before_ = std::filesystem::current_path();

  // The table of runs that the version before wrote, by column.
  static std::vector<std::map<std::string, std::string>> table() {
    const io::Csv csv = io::parse_csv(io::read_file(MODLAB_TEST_DIR "/data/stores/" + name() + "-3.runs.csv", 1 << 20),
                                      "runs.csv", 1000, 200);
    std::vector<std::map<std::string, std::string>> rows;
    for (const io::CsvRow& row : csv.rows) {
      std::map<std::string, std::string>& cells = rows.emplace_back();
      for (std::size_t column = 0; column < csv.header.size(); ++column) {
        cells[csv.header[column]] = row.cells[column];
      }
    }
    return rows;
  }
  std::int64_t version() const {
    return io::Database(file(), io::Database::Mode::kRead).integer("PRAGMA user_version").value_or(0);
  }
  void expect_all(Store& store) const {
    const ResultTable results = store.results("best");
    const auto rows = table();
    ASSERT_EQ(results.size(), rows.size());
    for (const auto& row : rows) {
      const std::optional<std::size_t> found = results.find(settings::id_number(row.at("id")).value());
      ASSERT_TRUE(found) << row.at("id");
      int compared = 0;
      for (const std::string& measure : results.measures()) {
        const auto said = row.find(measure);
        if (said != row.end() && !said->second.empty()) {
          EXPECT_NEAR(results.at(*found, *results.column(measure)), std::stod(said->second), 1e-9) << measure;
          ++compared;
        }
      }
      EXPECT_GE(compared, 9);
      EXPECT_EQ(store.run(row.at("id"))->id(), row.at("id"));
    }
    EXPECT_EQ(store.study().name, name());
    EXPECT_EQ(store.origins().size(), 1U);
  }
};

TEST_P(OlderStore, IsReadAsItIsAndBroughtUpToDateByAWriter) {
  const std::string before = folder_.read("out/study.sqlite");
  {
    Store store = Store::open(folder());
    expect_all(store);
  }
  EXPECT_EQ(folder_.read("out/study.sqlite"), before) << "reading changes nothing";
  EXPECT_EQ(version(), GetParam().schema);
  for (const bool again : {false, true}) {
    Store store = make(name());
    EXPECT_EQ(version(), 5);
    EXPECT_EQ(store.finished().contains(run_of("a").number), again);
    store.add(std::vector{finished_run("a", 200)});
    store.close();
  }
  Store store = Store::open(folder());
  expect_stored(store, "a", distinct(200));
  for (const auto& row : table()) {
    EXPECT_TRUE(store.finished().contains(settings::id_number(row.at("id")).value()));
  }
}

TEST_P(OlderStore, GoesOnAsTheStudyThatItIs) {
  const StoredStudy was = Store::open(folder()).study();
  const Study study = parse_study(was.text, was.name, was.source);
  const StudyPlan plan = plan_study(study, was.preset);
  Store store = Store::open_or_create(folder(), was, kHere, &plan);
  EXPECT_TRUE(missing_runs(plan, store.finished()).empty()) << "no run has another name now";
  EXPECT_EQ(store.tasks().size(), plan.tasks().size());
  store.close();
  io::Database database(file(), io::Database::Mode::kRead);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE in_grid"), plan.runs.size());
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_table_info('run_results') WHERE name IN ('lr_input', "
                             "'lr_module')"),
            0)
      << "lr_structural says it";
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_table_info('run_results') WHERE name = 'lr_structural'"),
            name() == "sculpt" ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, OlderStore,
                         testing::Values(Older{"bits", 3}, Older{"images", 3}, Older{"sculpt", 3}, Older{"bits", 4}),
                         [](const auto& older) { return older.param.name + std::to_string(older.param.schema); });

TEST_F(StoreTest, TheStudyComesBackAsItWas) {
  make();
  const Store store = Store::open(folder());
  EXPECT_EQ(store.study().name, "mine");
  EXPECT_EQ(store.study().text, "parameters: {lr: 0.1}\n");
  EXPECT_EQ(store.study().source, "mine.yaml");
  EXPECT_EQ(store.study().preset, "quick");
  EXPECT_EQ(store.study().overrides, (std::vector<std::string>{"epochs=3", "keep=all"}));
}

TEST_F(StoreTest, TheStudyIsTheOneThatWasRunLast) {
  make().add(std::vector{finished_run("a", 0)});
  StoredStudy wider = stored("mine");
  wider.preset = "paper";
  wider.text = "parameters: {lr: [0.1, 0.2]}\n";
  wider.overrides = {};
  {
    const Store store = Store::open_or_create(folder(), wider, kHere);
    EXPECT_EQ(store.study().preset, "paper");
  }
  Store store = Store::open(folder());
  EXPECT_EQ(store.study().preset, "paper");
  EXPECT_EQ(store.study().text, wider.text);
  EXPECT_TRUE(store.study().overrides.empty());
  EXPECT_TRUE(store.finished().contains(run_of("a").number)) << "runs stay";
}

TEST_F(StoreTest, ARunThatIsThereStaysAsItIs) {
  Store store = make();
  store.add(std::vector{finished_run("a", 0)});
  FinishedRun other = finished_run("a", 500);
  other.result.blobs["curve"] = "another curve";
  store.add(std::vector{other, finished_run("b", 1000)});
  EXPECT_EQ(store.finished().size(), 2U);
  expect_stored(store, "a", distinct(0));
  expect_stored(store, "b", distinct(1000));
  EXPECT_EQ(store.blob(id_of("a"), "curve"), std::string("curve\0of a", 10));
}

TEST_F(StoreTest, NetworksOfOthersAndOursStayApart) {
  {
    Store store = Store::open_or_create(folder(), stored("mine"), {"", "nets.jsonl"});
    store.add(std::vector{finished_run("a", 0)});
  }
  expect_refused([&] { make(); }, {"nets.jsonl", "--networks"});
  EXPECT_EQ(Store::open(folder()).origins().front().networks, "nets.jsonl");
  std::filesystem::remove_all(folder());
  make().add(std::vector{finished_run("a", 0)});
  expect_refused([&] { Store::open_or_create(folder(), stored("mine"), {"", "nets.jsonl"}); }, {"trained here"});
}

TEST_F(StoreTest, ABlockIsThereWholeOrNotAtAll) {
  Store store = make();
  store.add(std::vector{finished_run("a", 0)});
  // The disk is full after the second run of a block: here a trigger plays the disk.
  execute("CREATE TRIGGER full BEFORE INSERT ON blobs WHEN NEW.run = '" + id_of("c") +
          "' BEGIN SELECT RAISE(ABORT, 'no room'); END");
  expect_refused(
      [&] {
        store.add(std::vector{finished_run("b", 10), finished_run("c", 20), finished_run("d", 30)});
      },
      {"study.sqlite", "no room"});
  EXPECT_EQ(store.finished(), RunSet{run_of("a").number});
  EXPECT_EQ(store.blob(id_of("b"), "curve"), std::nullopt);
  execute("DROP TRIGGER full");
  store.add(std::vector{finished_run("b", 10), finished_run("c", 20)});
  EXPECT_EQ(store.finished().size(), 3U);
}

TEST_F(StoreTest, ANewerSchemaIsRefused) {
  make();
  execute("PRAGMA user_version = 99");
  const std::vector<std::string> parts = {"study.sqlite", "newer modlab", "schema 99", "update modlab"};
  expect_refused([&] { Store::open(folder()); }, parts);
  expect_refused([&] { make(); }, parts);
}

TEST_F(StoreTest, AForeignDatabaseIsRefusedAndStaysAsItIs) {
  std::filesystem::create_directory(folder());
  execute("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('cat')");
  const std::string before = folder_.read("out/study.sqlite");
  expect_refused([&] { Store::open(folder()); }, {"study.sqlite", "not a modlab store", "choose another folder"});
  expect_refused([&] { make(); }, {"study.sqlite", "not a modlab store", "choose another folder"});
  EXPECT_EQ(folder_.read("out/study.sqlite"), before);
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"out", "out/study.sqlite"}));
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsRefusedAndStaysAsItIs) {
  std::filesystem::create_directory(folder());
  const std::string text(3000, '?');
  folder_.write("out/study.sqlite", text);
  expect_refused([&] { Store::open(folder()); }, {"study.sqlite", "not a database", "choose another folder"});
  expect_refused([&] { make(); }, {"study.sqlite", "not a database", "choose another folder"});
  EXPECT_EQ(folder_.read("out/study.sqlite"), text);
}

TEST_F(StoreTest, TheFolderOfAnotherStudyIsRefused) {
  make("boolean").add(std::vector{finished_run("a", 0)});
  expect_refused([&] { make("selection"); }, {"out", "holds the study boolean", "choose another folder", "selection"});
  Store store = Store::open(folder());
  EXPECT_EQ(store.study().name, "boolean");
  EXPECT_EQ(store.finished().size(), 1U);
}

TEST_F(StoreTest, NoStudyAtAll) {
  expect_refused([&] { Store::open(folder()); }, {"out", "there is no study here", "modlab study run"});
  EXPECT_FALSE(Store::open_if_any(folder()));
  // What is left if whoever made it was killed at once.
  std::filesystem::create_directory(folder());
  folder_.write("out/study.sqlite", "");
  expect_refused([&] { Store::open(folder()); }, {"out", "there is no study here"});
  EXPECT_TRUE(make().finished().empty());
  execute("DELETE FROM study");
  expect_refused([&] { Store::open(folder()); }, {"study.sqlite", "damaged"});
}

TEST_F(StoreTest, PlacesThatCannotBeWritten) {
  folder_.write("file", "text");
  for (const std::string& place :
       {folder_.file("file"), folder_.file("file/below"), std::string("/dev/null"), std::string("/dev/null/x")}) {
    expect_refused([&] { Store::open_or_create(place, stored("mine"), kHere); }, {place});
  }
}

// A plan whose task mine.yaml is such and such.
struct OwnTask {
  explicit OwnTask(const std::string& yaml)
      : tasks({{"mine.yaml", std::make_shared<const tasks::TaskSuite>(tasks::parse_task({yaml, {}}, "mine.yaml"))}}),
        plan(plan_study(parse_study("parameters: {task: mine.yaml, model: dense, seed: [0, 1]}\n", "mine", "mine"),
                        "")) {}

  tasks::TasksAtHand tasks;
  StudyPlan plan;
};

TEST_F(StoreTest, ATaskThatChangedIsRefusedAndNothingChanges) {
  const std::string before = "inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [a, b]\n";
  const std::string after = "inputs: 4\nlevels: [{a: AND x0 x1, b: XOR x2 x3}]\noutputs: [a, b]\n";
  // The same function by other gates: networks would be compared with another structure.
  const std::string rewired = "inputs: 4\nlevels: [{a: AND x0 x1, b: NAND !x2 !x3}]\noutputs: [a, b]\n";
  const std::string renamed = "about: new\n" + before;
  StoredStudy other = stored("mine");
  other.text = "parameters: {lr: 0.9}\n";
  {
    const OwnTask own(before);
    Store::open_or_create(folder(), stored("mine"), kHere, &own.plan).close();
  }
  const std::string bytes = folder_.read("out/study.sqlite");
  for (const auto& [text, words] : {std::pair{after, "output y1 differs in 4 of 16 rows"},
                                    std::pair{rewired, "b was OR(x2, x3) and is NAND(!x2, !x3)"}}) {
    const OwnTask own(text);
    expect_refused([&] { Store::open_or_create(folder(), other, kHere, &own.plan); },
                   {"mine.yaml", words, "put it back", "--out"});
    EXPECT_EQ(folder_.read("out/study.sqlite"), bytes);
    expect_refused([&] { Store::open(folder()).check_tasks(own.plan.tasks()); }, {"mine.yaml", words});
  }
  const OwnTask own(renamed);
  Store store = Store::open_or_create(folder(), other, kHere, &own.plan);
  EXPECT_EQ(store.tasks().at("mine.yaml")->about, "new");
  EXPECT_EQ(store.study().text, other.text);
}

TEST_F(StoreTest, TextsOfTasksThatAreNoTasksAreDamage) {
  {
    const OwnTask own("inputs: 4\nlevels: [{a: AND x0 x1, b: OR x2 x3}]\noutputs: [a, b]\n");
    Store::open_or_create(folder(), stored("mine"), kHere, &own.plan).close();
  }
  for (const char* text : {"'inputs: 99'", "x'00ff'", "''", "7"}) {
    execute("UPDATE task_texts SET text = " + std::string(text));
    expect_refused([&] { Store::open(folder()).tasks(); }, {"study.sqlite", "damaged"});
  }
}

TEST_F(StoreTest, ChosenRunsAreThoseOfTheRunsThatAreThere) {
  const auto chosen = [&] {
    std::string text;
    io::Database database(file(), io::Database::Mode::kRead);
    io::Statement rows = database.prepare("SELECT series, id, snapshot, seed, test_loss FROM chosen ORDER BY id");
    while (rows.step()) {
      text += fmt::format("{} {} {} {}\n", rows.text(0), rows.text(1) == id_of("a") ? "a" : "b", rows.text(2),
                          rows.real(4));
    }
    return text;
  };
  Store store = make();
  FinishedRun single = finished_run("b", 100);
  single.result.snapshots.erase("last");
  store.add(std::vector{finished_run("a", 0), single});
  EXPECT_EQ(chosen(), "");
  store.keep_choices({{"s", run_of("a").number, 0}, {"t", run_of("a").number, 0}}, "best", 2);
  EXPECT_EQ(chosen(), fmt::format("s a best {0}\nt a best {0}\n", distinct(0).snapshots.at("best").at("test_loss")));
  store.keep_choices({{"s", run_of("a").number, 0}, {"s", run_of("b").number, 0}}, "last", 2);
  EXPECT_NE(chosen().find(fmt::format("s a last {}\n", distinct(0).snapshots.at("last").at("test_loss"))),
            std::string::npos);
  EXPECT_NE(chosen().find(fmt::format("s b best {}\n", distinct(100).snapshots.at("best").at("test_loss"))),
            std::string::npos)
      << "its only snapshot";
  // The best of one, and of two.
  const auto restarts = [&] {
    return io::Database(file(), io::Database::Mode::kRead)
        .integer("SELECT count(*) FROM pragma_table_info('chosen') WHERE name = 'restarts'");
  };
  EXPECT_EQ(restarts(), 0) << "no empty column";
  store.keep_choices({{"s", run_of("a").number, 1}, {"s", run_of("a").number, 2}}, "best", 2);
  EXPECT_EQ(restarts(), 1);
  EXPECT_EQ(io::Database(file(), io::Database::Mode::kRead).integer("SELECT sum(restarts) FROM chosen"), 3);
  // Another process has brought runs since selection looked.
  store.keep_choices({{"s", run_of("a").number, 0}}, "best", 1);
  EXPECT_EQ(chosen(), "");
  store.keep_choices({{"s", run_of("a").number, 0}}, "best", 2);
  EXPECT_NE(chosen(), "");
  store.add(std::vector{finished_run("c", 300)});
  EXPECT_EQ(chosen(), "") << "what is added may change the choice";
  store.keep_choices({{"s", run_of("a").number, 0}}, "best", 3);
  const StudyPlan plan = plan_study(parse_study("parameters: {task: depth1, model: dense}\n", "mine", "mine"), "");
  Store::open_or_create(folder(), stored("mine"), kHere, &plan);
  EXPECT_EQ(chosen(), "") << "and so may another grid";
}

TEST_F(StoreTest, RunsOfEarlierGridsAreToldApart) {
  const auto plan_of = [](const std::string& grid) {
    return plan_study(parse_study("parameters: {task: depth1, model: dense}\ngrids:\n" + grid, "mine", "mine"), "");
  };
  const StudyPlan first = plan_of("  - {series: few, parameters: {seed: [0, 1]}}\n");
  const StudyPlan second =
      plan_of("  - {series: few, parameters: {seed: 1}}\n  - {series: more, parameters: {seed: [1, 2]}}\n");
  const auto add_all = [](Store& store, const StudyPlan& plan) {
    for (const PlannedRun& run : plan.runs) {
      store.add(std::vector{FinishedRun{&run.run, distinct(1)}});
    }
  };
  {
    Store store = Store::open_or_create(folder(), stored("mine"), kHere, &first);
    add_all(store, first);
  }
  Store store = Store::open_or_create(folder(), stored("mine"), kHere, &second);
  add_all(store, second);
  io::Database database(file(), io::Database::Mode::kRead);
  EXPECT_EQ(database.integer("SELECT group_concat(seed) = '1,2' FROM (SELECT seed FROM run_settings WHERE in_grid "
                             "ORDER BY seed)"),
            1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE NOT in_grid AND seed = 0"), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_results WHERE NOT in_grid"), 2) << "both snapshots";
  EXPECT_EQ(database.integer("SELECT count(*) FROM grid WHERE series = 'more'"), 2);
}

TEST_F(StoreTest, OpenTwiceAtOnce) {
  Store first = make();
  Store second = make();
  Store reader = Store::open(folder());
  first.add(std::vector{finished_run("a", 0), finished_run("b", 100)});
  second.add(std::vector{finished_run("b", 200), finished_run("c", 300)});
  for (Store* store : {&first, &second, &reader}) {
    EXPECT_EQ(store->finished().size(), 3U);
    expect_stored(*store, "b", distinct(100));
  }
}

TEST_F(StoreTest, WritersFromManyThreadsLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kBlocks = 12;
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      Store store = make();
      for (int block = 0; block < kBlocks; ++block) {
        const std::string own = std::to_string(writer) + "-" + std::to_string(block);
        store.add(std::vector{finished_run(own, block), finished_run("all-" + std::to_string(block), block)});
      }
      store.close();
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  Store store = Store::open(folder());
  EXPECT_EQ(store.finished().size(), kWriters * kBlocks + kBlocks);
  for (int block = 0; block < kBlocks; ++block) {
    expect_stored(store, "all-" + std::to_string(block), distinct(block));
  }
  io::Database database(file(), io::Database::Mode::kRead);
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

TEST_F(StoreTest, AClosedStoreIsOneFile) {
  {
    Store store = make();
    store.add(std::vector{finished_run("a", 0)});
    EXPECT_GT(folder_.names().size(), 2U) << "while it is open its journal lies beside it";
    store.close();
  }
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"out", "out/study.sqlite"}));
  Store store = Store::open(folder());
  EXPECT_EQ(store.finished().size(), 1U);
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"out", "out/study.sqlite"})) << "and reading leaves it so";
}

TEST_F(StoreTest, TwoThatAreClosedTogetherAreOneFile) {
  {
    Store first = make();
    Store second = make();
    first.add(std::vector{finished_run("a", 0)});
    second.add(std::vector{finished_run("b", 0)});
    first.close();
    second.close();
  }
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"out", "out/study.sqlite"}));
  io::Database database(file(), io::Database::Mode::kRead);
  io::Statement mode = database.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode.step());
  EXPECT_EQ(mode.text(0), "delete") << "or it cannot be read from a read-only folder";
  EXPECT_EQ(database.integer("SELECT count(*) FROM runs"), 2);
}

TEST_F(StoreTest, WhatAKilledProcessLeftHalfWrittenIsPutInOrder) {
  {
    Store store = make();
    store.add(std::vector{finished_run("a", 0)});
    store.close();
  }
  std::filesystem::create_directory(folder_.file("killed"));
  {
    // A transaction that has written pages already when the power goes: its journal lies beside the store.
    io::Database database(file(), io::Database::Mode::kWrite);
    database.execute("PRAGMA cache_size = 1");
    const io::Transaction transaction(database);
    database.execute("UPDATE runs SET settings = 'half written'; UPDATE blobs SET data = zeroblob(100000)");
    for (const char* name : {"study.sqlite", "study.sqlite-journal"}) {
      std::filesystem::copy_file(folder_.file("out/") + name, folder_.file("killed/") + name);
    }
  }
  ASSERT_NE(folder_.read("killed/study.sqlite"), folder_.read("out/study.sqlite")) << "must be half written";
  Store store = Store::open(folder_.file("killed"));
  EXPECT_EQ(store.finished(), RunSet{run_of("a").number});
  EXPECT_EQ(store.blob(id_of("a"), "curve"), std::string("curve\0of a", 10));
  expect_refused([&] { store.add(std::vector{finished_run("b", 0)}); }, {"study.sqlite"});
}

TEST_F(StoreTest, AnybodyCanAskInSql) {
  MadeUpStudy study("parameters: {task: depth1, model: [dense, modular], lr: [0.1, 0.25], tau: 2}\n");
  study.train([](const PlannedRun& run) { return test::made_up(90, 80, test::spec_of(run).lr * 100); });
  study.store.close();
  io::Database database(study.folder.file("out/study.sqlite"), io::Database::Mode::kRead);
  io::Statement row = database.prepare(
      "SELECT lr, test_accuracy, train_rows FROM run_results WHERE model = 'modular' AND snapshot = 'best' AND tau = 2 "
      "ORDER BY lr");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.real(0), 0.1);
  EXPECT_EQ(row.real(1), 10);
  EXPECT_EQ(row.integer(2), 32);
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.real(1), 25);
  EXPECT_FALSE(row.step());
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE model = 'dense' AND tau IS NULL"), 2);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE machine = 'a machine' AND kind = 'bits'"), 4);
  // What the study does not have is no column, and neither is what another column says.
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_table_info('run_results') WHERE name IN ('edges', 'samples', "
                             "'prune_threshold', 'edit_distance', 'lr_input')"),
            0);
}

}  // namespace
}  // namespace modlab::studies
