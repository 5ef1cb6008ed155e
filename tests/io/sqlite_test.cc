#include "io/sqlite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "core/errors.h"
#include "temporary_folder.h"

namespace modlab::io {
namespace {

using Mode = Database::Mode;

class Sqlite : public testing::Test {
 protected:
  std::string path() const { return folder_.file("a.sqlite"); }
  // A database with one table of three rows.
  Database filled() const {
    Database database(path(), Mode::kCreate);
    database.execute("CREATE TABLE numbers (id INTEGER PRIMARY KEY, value REAL)");
    database.execute("INSERT INTO numbers VALUES (1, 0.5), (2, NULL), (3, -2)");
    return database;
  }
  static void expect_refused(const std::function<void()>& action, const std::vector<std::string>& parts) {
    try {
      action();
      ADD_FAILURE() << "was not refused";
    } catch (const FormatError& error) {
      for (const std::string& part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << " lacks " << part;
      }
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(Sqlite, ValuesComeBackAsTheyWere) {
  Database database(path(), Mode::kCreate);
  database.execute("CREATE TABLE things (whole INTEGER, real REAL, words TEXT, bytes BLOB)");
  const std::string words = "naïve, \"quoted\"\nsecond line";
  const std::string bytes("\0\x01\xff\0", 4);
  const double real = 0.1 + 0.2;
  const std::int64_t whole = std::numeric_limits<std::int64_t>::min();
  {
    Statement insert = database.prepare("INSERT INTO things VALUES (?, ?, ?, ?)");
    insert.bind(1, whole).bind(2, real).bind(3, words).bind_blob(4, bytes).run();
  }
  Statement row = database.prepare("SELECT * FROM things");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), whole);
  EXPECT_EQ(row.real(1), real);
  EXPECT_EQ(row.text(2), words);
  EXPECT_EQ(row.blob(3), bytes);
  for (int column = 0; column < 4; ++column) {
    EXPECT_FALSE(row.is_null(column)) << column;
  }
  EXPECT_FALSE(row.step());
}

TEST_F(Sqlite, NotANumberIsNullAndBack) {
  Database database(path(), Mode::kCreate);
  database.execute("CREATE TABLE numbers (value REAL)");
  {
    Statement insert = database.prepare("INSERT INTO numbers VALUES (?)");
    insert.bind(1, std::numeric_limits<double>::quiet_NaN()).run();
    insert.bind(1, std::numeric_limits<double>::infinity()).run();
    insert.bind(1, 0.0).run();
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers WHERE value IS NULL"), 1);
  Statement row = database.prepare("SELECT value FROM numbers");
  ASSERT_TRUE(row.step());
  EXPECT_TRUE(row.is_null(0));
  EXPECT_TRUE(std::isnan(row.real(0)));
  EXPECT_EQ(row.text(0), "");
  EXPECT_EQ(row.blob(0), "");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.real(0), std::numeric_limits<double>::infinity());
  ASSERT_TRUE(row.step());
  EXPECT_FALSE(row.is_null(0));
  EXPECT_EQ(row.real(0), 0);
}

TEST_F(Sqlite, AStatementForgetsItsValuesWhenItHasRun) {
  Database database = filled();
  Statement insert = database.prepare("INSERT INTO numbers VALUES (?, ?)");
  insert.bind(1, std::int64_t{10}).bind(2, 1.0).run();
  insert.bind(1, std::int64_t{11}).run();
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers WHERE id = 11 AND value IS NULL"), 1);
}

TEST_F(Sqlite, AnIntegerOrNothing) {
  Database database = filled();
  EXPECT_EQ(database.integer("SELECT max(id) FROM numbers"), 3);
  EXPECT_EQ(database.integer("SELECT id FROM numbers WHERE id > 5"), std::nullopt);
  EXPECT_EQ(database.integer("SELECT value FROM numbers WHERE id = 2"), std::nullopt);
}

TEST_F(Sqlite, ATransactionIsRolledBackUnlessCommitted) {
  Database database = filled();
  {
    const Transaction transaction(database);
    database.execute("DELETE FROM numbers");
    EXPECT_EQ(database.integer("SELECT count(*) FROM numbers"), 0);
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers"), 3);
  {
    Transaction transaction(database);
    database.execute("DELETE FROM numbers WHERE id = 1");
    transaction.commit();
  }
  EXPECT_EQ(Database(path(), Mode::kRead).integer("SELECT count(*) FROM numbers"), 2);
}

TEST_F(Sqlite, AnExceptionRollsBackAllOfATransaction) {
  Database database = filled();
  const auto add_two = [&] {
    Transaction transaction(database);
    Statement insert = database.prepare("INSERT INTO numbers VALUES (?, 7)");
    insert.bind(1, std::int64_t{4}).run();
    insert.bind(1, std::int64_t{1}).run();  // there already
    transaction.commit();
  };
  expect_refused(add_two, {path(), "UNIQUE"});
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers"), 3);
  // Nothing is left open that would stand in the way of the next one.
  const Transaction next(database);
}

TEST_F(Sqlite, OthersSeeATransactionOnlyWhenItIsCommitted) {
  Database writer = filled();
  writer.execute("PRAGMA journal_mode = WAL");
  Database reader(path(), Mode::kRead);
  Transaction transaction(writer);
  writer.execute("INSERT INTO numbers VALUES (4, 4)");
  EXPECT_EQ(reader.integer("SELECT count(*) FROM numbers"), 3);
  transaction.commit();
  EXPECT_EQ(reader.integer("SELECT count(*) FROM numbers"), 4);
}

TEST_F(Sqlite, ASecondWriterWaitsForTheFirst) {
  Database first = filled();
  first.execute("PRAGMA journal_mode = WAL");
  std::thread other;
  {
    Transaction transaction(first);
    other = std::thread([&] {
      Database second(path(), Mode::kWrite);
      Transaction waiting(second);
      second.execute("INSERT INTO numbers VALUES (5, 5)");
      waiting.commit();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_EQ(first.integer("SELECT count(*) FROM numbers"), 3);
    first.execute("INSERT INTO numbers VALUES (4, 4)");
    transaction.commit();
  }
  other.join();
  EXPECT_EQ(first.integer("SELECT count(*) FROM numbers"), 5);
}

TEST_F(Sqlite, ReadingWritesNothing) {
  filled();
  Database database(path(), Mode::kRead);
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers"), 3);
  expect_refused([&] { database.execute("DELETE FROM numbers"); }, {path(), "readonly", "permissions"});
  expect_refused([&] { database.execute("CREATE TABLE more (a)"); }, {path(), "readonly"});
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers"), 3);
}

TEST_F(Sqlite, AFileThatIsGoneIsNoticedAndCanBeCopied) {
  Database database = filled();
  database.execute("PRAGMA journal_mode = WAL");
  database.execute("INSERT INTO numbers VALUES (4, 4)");
  EXPECT_FALSE(database.has_moved());
  for (const std::string& name : folder_.names()) {
    std::filesystem::remove(folder_.file(name));
  }
  EXPECT_TRUE(database.has_moved());
  folder_.write("a.sqlite", "another file in its place");
  EXPECT_TRUE(database.has_moved());
  database.execute("INSERT INTO numbers VALUES (5, 5)");
  database.copy_to(folder_.file("copy"));
  EXPECT_EQ(Database(folder_.file("copy"), Mode::kRead).integer("SELECT count(*) FROM numbers"), 5);
  expect_refused([&] { database.copy_to(folder_.file("missing/copy")); }, {"unable to open"});
  EXPECT_FALSE(Database().has_moved()) << "which has no file";
}

TEST_F(Sqlite, OnlyCreateMakesAFile) {
  for (const Mode mode : {Mode::kRead, Mode::kWrite}) {
    expect_refused([&] { Database(path(), mode); }, {path(), "unable to open", "choose another folder"});
  }
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(Sqlite, PlacesThatCannotBeOpened) {
  folder_.write("file", "text");
  std::filesystem::create_directory(folder_.file("folder"));
  for (const std::string& place : {folder_.file("missing/a.sqlite"), folder_.file("file/a.sqlite"),
                                   folder_.file("folder"), std::string("/dev/null/modlab.sqlite")}) {
    expect_refused(
        [&] {
          Database database(place, Mode::kCreate);
          database.execute("CREATE TABLE a (b)");
        },
        {place, "choose another folder"});
  }
}

TEST_F(Sqlite, AFileThatIsNoDatabase) {
  folder_.write("a.sqlite", std::string(5000, 'x'));
  Database database(path(), Mode::kCreate);
  expect_refused([&] { database.integer("SELECT count(*) FROM sqlite_master"); },
                 {path(), "not a database", "choose another folder"});
  EXPECT_EQ(folder_.read("a.sqlite"), std::string(5000, 'x'));
}

TEST_F(Sqlite, ADamagedDatabase) {
  {
    Database database = filled();
    const Transaction transaction(database);
  }
  std::string bytes = folder_.read("a.sqlite");
  ASSERT_GT(bytes.size(), 4096U);
  // The second page is the table: no page has this kind.
  bytes.replace(4096, 64, 64, '\x77');
  folder_.write("a.sqlite", bytes);
  Database database(path(), Mode::kRead);
  expect_refused([&] { database.integer("SELECT sum(value) FROM numbers"); }, {path(), "malformed", "damaged"});
}

TEST_F(Sqlite, MistakesInSqlAreErrorsToo) {
  Database database = filled();
  expect_refused([&] { database.execute("SELEKT"); }, {path(), "syntax"});
  expect_refused([&] { database.prepare("SELECT nothing FROM numbers"); }, {"nothing"});
  Statement statement = database.prepare("SELECT ?");
  expect_refused([&] { statement.bind(2, 1.0); }, {path()});
}

}  // namespace
}  // namespace modlab::io
