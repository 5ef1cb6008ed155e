#include "studies/store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "core/errors.h"
#include "studies/curve.h"
#include "studies/made_up_study.h"
#include "tasks/task_file.h"

namespace modlab::studies {
namespace {

using test::MadeUpStudy;
using test::TemporaryFolder;

constexpr double kNone = measures::NetworkMeasures::kNone;

StoredStudy stored(const std::string& name) {
  return {name, "parameters: {lr: 0.1}\n", name + ".yaml", "quick", {"epochs=3", "keep=all"}, "a machine"};
}

// Every number is another one.
RunResult distinct(double base) {
  RunResult result;
  for (SnapshotResult* snapshot : {&result.best, &result.last}) {
    snapshot->epoch = static_cast<int>(base += 1);
    const auto fill = [&](PartResult& part) { part = {base += 1, base += 1.25, base += 0.1}; };
    std::ranges::for_each(snapshot->parts, fill);
    snapshot->measures = {base + 0.1, base + 0.2, base + 0.3, base + 0.4, base + 0.5};
    for (int task = 0; task < 3; ++task) {
      std::ranges::for_each(snapshot->tasks.emplace_back(), fill);
    }
  }
  result.diverged = true;
  result.seconds = base / 7;
  return result;
}

void expect_equal(const PartResult& a, const PartResult& b) {
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(a.row_accuracy, b.row_accuracy);
  EXPECT_EQ(a.loss, b.loss);
}

void expect_equal(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.diverged, b.diverged);
  EXPECT_EQ(a.seconds, b.seconds);
  for (const SnapshotKind kind : {SnapshotKind::kBest, SnapshotKind::kLast}) {
    const SnapshotResult& left = a.at(kind);
    const SnapshotResult& right = b.at(kind);
    EXPECT_EQ(left.epoch, right.epoch);
    ASSERT_EQ(left.tasks.size(), right.tasks.size());
    for (std::size_t part = 0; part < (a.rows.seen > 0 ? engine::kScoreParts : engine::kParts); ++part) {
      expect_equal(left.parts[part], right.parts[part]);
    }
    for (std::size_t part = 0; part < engine::kParts; ++part) {
      for (std::size_t task = 0; task < left.tasks.size(); ++task) {
        expect_equal(left.tasks[task][part], right.tasks[task][part]);
      }
    }
    EXPECT_EQ(left.measures.edit_distance, right.measures.edit_distance);
    EXPECT_EQ(left.measures.specialisation, right.measures.specialisation);
    EXPECT_EQ(left.measures.specialisation_max, right.measures.specialisation_max);
    EXPECT_EQ(left.measures.in_situ, right.measures.in_situ);
    EXPECT_EQ(left.measures.module_reuse, right.measures.module_reuse);
  }
}

FinishedRun finished_run(const std::string& id, double base) {
  FinishedRun run;
  run.id = id;
  run.settings = R"({"task":"depth1","model":"dense","lr":0.1,"seed":5})";
  run.result = distinct(base);
  run.result.rows = {.train = 6, .validation = 29, .test = 28, .outputs = 2};
  run.curve = std::string("curve\0of ", 9) + id;
  run.weights = {{"best", "best of " + id}, {"last", std::string("\0\xff", 2) + id}};
  return run;
}

// A run on images has a fourth part, one measure more, and details.
FinishedRun image_run(const std::string& id, double base) {
  FinishedRun run = finished_run(id, base);
  run.settings = R"({"task":"mnist-xor-and","model":"modular","samples":10,"seed":5})";
  run.result.rows = {.train = 510, .validation = 60, .test = 70, .seen = 511, .outputs = 2};
  run.result.best.tasks.clear();
  run.result.last.tasks.clear();
  run.result.best.measures.image_specialisation = 0.625;
  run.result.last.measures.image_specialisation = kNone;
  run.details = {{"best", R"({"modules":[1]})"}, {"last", R"({"modules":[2]})"}};
  return run;
}

void expect_rows(const models::PartRows& found, const models::PartRows& expected) {
  EXPECT_EQ(found.train, expected.train);
  EXPECT_EQ(found.validation, expected.validation);
  EXPECT_EQ(found.test, expected.test);
  EXPECT_EQ(found.seen, expected.seen);
  EXPECT_EQ(found.outputs, expected.outputs);
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
  Store make(const std::string& name = "mine") const { return Store::open_or_create(folder(), stored(name)); }
  void execute(const std::string& sql) const { io::Database(file(), io::Database::Mode::kCreate).execute(sql); }

  TemporaryFolder folder_;
};

TEST_F(StoreTest, EverythingComesBackAsItWas) {
  Store writer = make();
  writer.add(std::vector{finished_run("a", 0), finished_run("b", 1000)});
  for (const bool reopened : {false, true}) {
    Store store = reopened ? Store::open(folder()) : make();
    EXPECT_EQ(store.finished(), (std::unordered_set<std::string>{"a", "b"}));
    const auto results = store.results();
    ASSERT_EQ(results.size(), 2U);
    expect_equal(results.at("a"), distinct(0));
    expect_equal(results.at("b"), distinct(1000));
    EXPECT_EQ(store.curve("a"), std::string("curve\0of a", 10));
    EXPECT_EQ(store.weights("b", "best"), "best of b");
    EXPECT_EQ(store.weights("b", "last"), std::string("\0\xff", 2) + "b");
    EXPECT_EQ(store.curve("c"), std::nullopt);
    EXPECT_EQ(store.weights("a", "middle"), std::nullopt);
    EXPECT_EQ(store.weights("c", "best"), std::nullopt);
  }
}

TEST_F(StoreTest, RunsOnImagesComeBackAsTheyWere) {
  std::vector<engine::Scores> curve(50);
  for (std::uint32_t epoch = 0; epoch < 50; ++epoch) {
    for (std::uint32_t part = 0; part < engine::kScoreParts; ++part) {
      curve[epoch].parts[part] = {1.0F / static_cast<float>(1 + epoch + part), 100 * part + epoch, 0};
    }
  }
  FinishedRun given = image_run("images", 0);
  given.curve = encode_curve(curve, engine::kScoreParts);
  make().add(std::vector{given, finished_run("bits", 1000)});
  Store store = Store::open(folder());
  const auto results = store.results();
  const RunResult& images = results.at("images");
  expect_equal(given.result, images);
  expect_rows(images.rows, given.result.rows);
  EXPECT_EQ(images.best.measures.image_specialisation, 0.625);
  EXPECT_TRUE(std::isnan(images.last.measures.image_specialisation));
  EXPECT_EQ(store.details("images", "best"), R"({"modules":[1]})");
  EXPECT_EQ(store.details("images", "last"), R"({"modules":[2]})");
  const Curve found = decode_curve(store.curve("images").value(), 50, engine::kScoreParts, "");
  for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
    EXPECT_EQ(found.right_bits[part][49], 100 * part + 49);
    EXPECT_EQ(found.loss[part][1], curve[1].parts[part].loss);
  }
  // A run on bits beside it has nothing of that.
  expect_rows(results.at("bits").rows, {.train = 6, .validation = 29, .test = 28, .outputs = 2});
  EXPECT_TRUE(std::isnan(results.at("bits").best.parts[3].accuracy));
  EXPECT_EQ(store.details("bits", "best"), std::nullopt);
}

TEST_F(StoreTest, AnOlderStoreIsReadAsItIsAndBroughtUpToDateByAWriter) {
  {
    Store store = make();
    store.add(std::vector{finished_run("a", 0)});
    store.close();
  }
  // As the first version made it.
  execute(
      "ALTER TABLE runs DROP COLUMN seen_rows; ALTER TABLE results DROP COLUMN seen_accuracy;"
      "ALTER TABLE results DROP COLUMN seen_row_accuracy; ALTER TABLE results DROP COLUMN seen_loss;"
      "ALTER TABLE results DROP COLUMN image_specialisation; DROP TABLE image_details; DROP TABLE sculpted;"
      "PRAGMA user_version = 1");
  const auto version = [&] { return io::Database(file(), io::Database::Mode::kRead).integer("PRAGMA user_version"); };
  const std::string before = folder_.read("out/study.sqlite");
  {
    Store store = Store::open(folder());
    EXPECT_EQ(store.study().name, "mine");
    const auto results = store.results();
    expect_equal(results.at("a"), distinct(0));
    expect_rows(results.at("a").rows, {.train = 6, .validation = 29, .test = 28, .outputs = 2});
    EXPECT_TRUE(std::isnan(results.at("a").best.measures.image_specialisation));
    EXPECT_EQ(store.details("a", "best"), std::nullopt);
    EXPECT_EQ(store.sculpt_details("a"), std::nullopt);
    EXPECT_EQ(store.weights("a", "best"), "best of a");
  }
  EXPECT_EQ(folder_.read("out/study.sqlite"), before) << "reading changes nothing";
  for (const bool again : {false, true}) {
    Store store = make();
    EXPECT_EQ(version(), 3);
    store.add(std::vector{again ? finished_run("c", 200) : image_run("b", 100)});
    store.close();
  }
  Store store = Store::open(folder());
  const auto results = store.results();
  ASSERT_EQ(results.size(), 3U);
  expect_equal(results.at("a"), distinct(0));
  expect_rows(results.at("a").rows, {.train = 6, .validation = 29, .test = 28, .outputs = 2});
  expect_equal(image_run("b", 100).result, results.at("b"));
  EXPECT_EQ(results.at("b").rows.seen, 511);
  EXPECT_EQ(store.details("b", "last"), R"({"modules":[2]})");
  expect_equal(results.at("c"), distinct(200));
}

TEST_F(StoreTest, TheStudyComesBackAsItWas) {
  make();
  const Store store = Store::open(folder());
  EXPECT_EQ(store.study().name, "mine");
  EXPECT_EQ(store.study().text, "parameters: {lr: 0.1}\n");
  EXPECT_EQ(store.study().source, "mine.yaml");
  EXPECT_EQ(store.study().preset, "quick");
  EXPECT_EQ(store.study().overrides, (std::vector<std::string>{"epochs=3", "keep=all"}));
  EXPECT_EQ(store.study().machine, "a machine");
}

TEST_F(StoreTest, TheStudyIsTheOneThatWasRunLast) {
  make().add(std::vector{finished_run("a", 0)});
  StoredStudy wider = stored("mine");
  wider.preset = "paper";
  wider.text = "parameters: {lr: [0.1, 0.2]}\n";
  wider.overrides = {};
  {
    const Store store = Store::open_or_create(folder(), wider);
    EXPECT_EQ(store.study().preset, "paper");
  }
  Store store = Store::open(folder());
  EXPECT_EQ(store.study().preset, "paper");
  EXPECT_EQ(store.study().text, wider.text);
  EXPECT_TRUE(store.study().overrides.empty());
  EXPECT_TRUE(store.finished().contains("a")) << "runs stay";
}

TEST_F(StoreTest, WhatIsNotANumberStaysSo) {
  FinishedRun run = finished_run("a", 0);
  run.result.best.measures = {};
  run.result.last.parts[1].loss = kNone;
  run.result.best.tasks.clear();
  run.result.last.tasks.clear();
  run.curve.clear();
  run.weights.clear();
  make().add(std::vector{run});
  Store store = Store::open(folder());
  const RunResult result = store.results().at("a");
  EXPECT_TRUE(std::isnan(result.best.measures.edit_distance));
  EXPECT_TRUE(std::isnan(result.best.measures.module_reuse));
  EXPECT_FALSE(std::isnan(result.last.measures.edit_distance));
  EXPECT_TRUE(std::isnan(result.last.parts[1].loss));
  EXPECT_TRUE(result.best.tasks.empty());
  EXPECT_EQ(store.curve("a"), std::nullopt);
  EXPECT_EQ(store.weights("a", "best"), std::nullopt);
}

TEST_F(StoreTest, ARunThatIsThereStaysAsItIs) {
  Store store = make();
  store.add(std::vector{finished_run("a", 0)});
  FinishedRun other = finished_run("a", 500);
  other.curve = "another curve";
  other.weights["best"] = "other weights";
  store.add(std::vector{other, finished_run("b", 1000)});
  const auto results = store.results();
  ASSERT_EQ(results.size(), 2U);
  expect_equal(results.at("a"), distinct(0));
  expect_equal(results.at("b"), distinct(1000));
  EXPECT_EQ(store.curve("a"), std::string("curve\0of a", 10));
  EXPECT_EQ(store.weights("a", "best"), "best of a");
}

TEST_F(StoreTest, ABlockIsThereWholeOrNotAtAll) {
  Store store = make();
  store.add(std::vector{finished_run("a", 0)});
  // The disk is full after the second run of a block: here a trigger plays the disk.
  execute("CREATE TRIGGER full BEFORE INSERT ON curves WHEN NEW.run = 'c' BEGIN SELECT RAISE(ABORT, 'no room'); END");
  expect_refused(
      [&] {
        store.add(std::vector{finished_run("b", 10), finished_run("c", 20), finished_run("d", 30)});
      },
      {"study.sqlite", "no room"});
  EXPECT_EQ(store.finished(), std::unordered_set<std::string>{"a"});
  EXPECT_EQ(store.curve("b"), std::nullopt);
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
  EXPECT_FALSE(Store::exists(folder()));
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
       {folder_.file("file"), folder_.file("file/below"), std::string("/proc/modlab"), std::string("/dev/null/x")}) {
    expect_refused([&] { Store::open_or_create(place, stored("mine")); }, {place});
  }
}

TEST_F(StoreTest, ATaskThatChangedIsRefused) {
  const tasks::TaskSuite depth1 = tasks::load_task("depth1");
  const tasks::TaskSuite depth2 = tasks::load_task("depth2");
  const tasks::TaskSuite suite = tasks::load_task("A+B");
  const tasks::TaskSuite other_suite = tasks::load_task("A+C");
  {
    Store store = make();
    store.check_task("mine.yaml", depth2);  // nobody has said anything yet
    store.keep_task("mine.yaml", depth1);
    store.keep_task("mine.yaml", depth1);
    store.keep_task("suite", suite);
    expect_refused([&] { store.keep_task("mine.yaml", depth2); }, {"mine.yaml", "choose another folder"});
    expect_refused([&] { store.keep_task("suite", other_suite); }, {"suite", "choose another folder"});
    expect_refused([&] { store.keep_task("suite", depth2); }, {"suite"});
    store.keep_task("other.yaml", depth2);
  }
  // Also by the next process, and by one that only reads.
  Store again = make();
  again.keep_task("mine.yaml", depth1);
  expect_refused([&] { again.keep_task("mine.yaml", depth2); }, {"mine.yaml"});
  Store reader = Store::open(folder());
  reader.check_task("mine.yaml", depth1);
  expect_refused([&] { reader.check_task("mine.yaml", depth2); }, {"mine.yaml", "put it back"});
}

TEST_F(StoreTest, OpenTwiceAtOnce) {
  Store first = make();
  Store second = make();
  Store reader = Store::open(folder());
  first.add(std::vector{finished_run("a", 0), finished_run("b", 100)});
  second.add(std::vector{finished_run("b", 200), finished_run("c", 300)});
  for (Store* store : {&first, &second, &reader}) {
    EXPECT_EQ(store->finished().size(), 3U);
    expect_equal(store->results().at("b"), distinct(100));
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
  const auto results = store.results();
  for (int block = 0; block < kBlocks; ++block) {
    expect_equal(results.at("all-" + std::to_string(block)), distinct(block));
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
    database.execute("UPDATE runs SET settings = 'half written'; UPDATE curves SET data = zeroblob(100000)");
    for (const char* name : {"study.sqlite", "study.sqlite-journal"}) {
      std::filesystem::copy_file(folder_.file("out/") + name, folder_.file("killed/") + name);
    }
  }
  ASSERT_NE(folder_.read("killed/study.sqlite"), folder_.read("out/study.sqlite")) << "must be half written";
  Store store = Store::open(folder_.file("killed"));
  EXPECT_EQ(store.finished(), std::unordered_set<std::string>{"a"});
  EXPECT_EQ(store.curve("a"), std::string("curve\0of a", 10));
  expect_refused([&] { store.add(std::vector{finished_run("b", 0)}); }, {"study.sqlite"});
}

TEST_F(StoreTest, AnybodyCanAskInSql) {
  MadeUpStudy study("parameters: {task: depth1, model: [dense, modular], lr: [0.1, 0.25], tau: 2}\n");
  study.train([](const PlannedRun& run) { return test::made_up(90, 80, run.spec.lr * 100); });
  study.store.close();
  io::Database database(study.folder.file("out/study.sqlite"), io::Database::Mode::kRead);
  io::Statement row = database.prepare(
      "SELECT lr, test_accuracy, train_rows FROM run_settings JOIN results ON results.run = run_settings.id "
      "JOIN runs ON runs.id = run_settings.id WHERE model = 'modular' AND snapshot = 'best' AND tau = 2 ORDER BY lr");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.real(0), 0.1);
  EXPECT_EQ(row.real(1), 10);
  EXPECT_EQ(row.integer(2), 32);
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.real(1), 25);
  EXPECT_FALSE(row.step());
  EXPECT_EQ(database.integer("SELECT count(*) FROM run_settings WHERE model = 'dense' AND tau IS NULL"), 2);
}

}  // namespace
}  // namespace modlab::studies
