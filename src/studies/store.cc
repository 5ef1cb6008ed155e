#include "studies/store.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/errors.h"
#include "io/file.h"
#include "io/json_text.h"
#include "models/settings.h"

namespace modlab::studies {
namespace {

constexpr auto kGivenMachine = "networks of ";

constexpr auto kFileName = "study.sqlite";
constexpr std::int64_t kApplicationId = 0x6d6f646c;  // "modl"
constexpr std::int64_t kSchemaVersion = 3;
constexpr std::int64_t kImageVersion = 2;   // the first with images
constexpr std::int64_t kSculptVersion = 3;  // the first with sculpted networks
constexpr const char* kSnapshots[] = {"best", "last"};

// Columns of `results` after run, snapshot and epoch, in the order of bind_snapshot.
constexpr auto kTables = R"(
CREATE TABLE study (name TEXT, text TEXT, source TEXT, preset TEXT, overrides TEXT, machine TEXT, version TEXT);
CREATE TABLE tasks (name TEXT PRIMARY KEY, tables TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (id TEXT PRIMARY KEY, settings TEXT NOT NULL, train_rows INTEGER, validation_rows INTEGER,
  test_rows INTEGER, outputs INTEGER, best_epoch INTEGER, diverged INTEGER, seconds REAL) WITHOUT ROWID;
CREATE TABLE results (run TEXT NOT NULL REFERENCES runs (id), snapshot TEXT NOT NULL, epoch INTEGER,
  train_accuracy REAL, validation_accuracy REAL, test_accuracy REAL,
  train_row_accuracy REAL, validation_row_accuracy REAL, test_row_accuracy REAL,
  train_loss REAL, validation_loss REAL, test_loss REAL,
  edit_distance REAL, specialisation REAL, specialisation_max REAL, in_situ REAL, module_reuse REAL,
  PRIMARY KEY (run, snapshot)) WITHOUT ROWID;
CREATE TABLE task_results (run TEXT NOT NULL REFERENCES runs (id), snapshot TEXT NOT NULL, task INTEGER NOT NULL,
  train_accuracy REAL, validation_accuracy REAL, test_accuracy REAL,
  train_row_accuracy REAL, validation_row_accuracy REAL, test_row_accuracy REAL,
  train_loss REAL, validation_loss REAL, test_loss REAL,
  PRIMARY KEY (run, snapshot, task)) WITHOUT ROWID;
CREATE TABLE curves (run TEXT PRIMARY KEY REFERENCES runs (id), data BLOB NOT NULL);
CREATE TABLE weights (run TEXT NOT NULL REFERENCES runs (id), snapshot TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (run, snapshot));
)";
constexpr auto kImageColumns = R"(
ALTER TABLE runs ADD COLUMN seen_rows INTEGER;
ALTER TABLE results ADD COLUMN seen_accuracy REAL;
ALTER TABLE results ADD COLUMN seen_row_accuracy REAL;
ALTER TABLE results ADD COLUMN seen_loss REAL;
ALTER TABLE results ADD COLUMN image_specialisation REAL;
CREATE TABLE image_details (run TEXT NOT NULL REFERENCES runs (id), snapshot TEXT NOT NULL, details TEXT NOT NULL,
  PRIMARY KEY (run, snapshot)) WITHOUT ROWID;
)";
constexpr auto kSculptTable = R"(
CREATE TABLE sculpted (run TEXT PRIMARY KEY REFERENCES runs (id), measures TEXT NOT NULL, details TEXT NOT NULL)
  WITHOUT ROWID;
)";

// Settings as columns, for whoever asks in SQL.
std::string settings_view() {
  std::string columns;
  for (const models::Setting& setting : models::settings()) {
    columns += fmt::format(", json_extract(settings, '$.{0}') AS {0}", setting.name);
  }
  return "DROP VIEW IF EXISTS run_settings; CREATE VIEW run_settings AS SELECT id" + columns + " FROM runs;";
}

std::string file_in(const std::string& folder) { return (std::filesystem::path(folder) / kFileName).string(); }

// What makes a task the task it is.
std::string tables_text(const tasks::TaskSuite& suite) {
  std::string text;
  for (const tasks::Task& task : suite.tasks) {
    text += fmt::format("{} inputs", task.table.inputs);
    if (task.images) {
      text += fmt::format(" of {} images, {} digits", task.images->images, task.images->digits);
    }
    for (int output = 0; output < task.table.outputs; ++output) {
      text += " " + tasks::hex_word(task.table, output);
    }
    text += "\n";
  }
  return text;
}

// Train, validation and test.
int bind_parts(io::Statement& statement, int position, const PartResult* parts) {
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    statement.bind(position++, parts[part].accuracy);
  }
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    statement.bind(position++, parts[part].row_accuracy);
  }
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    statement.bind(position++, parts[part].loss);
  }
  return position;
}

int read_parts(const io::Statement& statement, int column, PartResult* parts) {
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    parts[part].accuracy = statement.real(column++);
  }
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    parts[part].row_accuracy = statement.real(column++);
  }
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    parts[part].loss = statement.real(column++);
  }
  return column;
}

}  // namespace

Store::Store(const std::string& folder, io::Database::Mode mode) : database_(file_in(folder), mode) {}

bool Store::exists(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(file_in(folder), ignored);
}

Store Store::open(const std::string& folder) {
  const auto no_study = [&] {
    return FormatError(
        fmt::format("{}: there is no study here; `modlab study run NAME --out {}` makes one", folder, folder));
  };
  if (!exists(folder)) {
    throw no_study();
  }
  // Writable, where it can be: what a killed process left in its journal has to be put in order first.
  Store store(folder, io::Database::Mode::kWrite);
  store.database_.execute("PRAGMA query_only = ON");
  if (store.is_empty()) {
    throw no_study();  // whoever made it was killed at once
  }
  store.check_kind();
  store.read_study();
  return store;
}

Store Store::open_or_create(const std::string& folder, const StoredStudy& study) {
  io::prepare_folder(folder);
  Store store(folder, io::Database::Mode::kCreate);
  // Before anything is written: what is not ours stays as it is.
  if (!store.is_empty()) {
    store.check_study(folder, study);
  }
  // Readers do not wait for writers, and a block costs no wait for the disk. A kill loses nothing that was committed.
  store.database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  io::Transaction transaction(store.database_);
  if (store.is_empty()) {
    store.make_tables();
  } else {
    store.check_study(folder, study);  // again: another process may have made it meanwhile
    store.upgrade();
  }
  store.write_study(study);
  transaction.commit();
  return store;
}

bool Store::is_empty() { return database_.integer("SELECT count(*) FROM sqlite_master") == 0; }

void Store::make_tables() {
  database_.execute(kTables);
  database_.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  upgrade();
}

void Store::upgrade() {
  const std::int64_t found = version();
  if (found < kImageVersion) {
    database_.execute(kImageColumns);
  }
  if (found < kSculptVersion) {
    database_.execute(kSculptTable);
  }
  database_.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
}

std::int64_t Store::version() { return database_.integer("PRAGMA user_version").value_or(0); }

std::string given_machine(const std::string& files) { return kGivenMachine + files + ", judged only"; }

bool StoredStudy::holds_given() const { return machine.starts_with(kGivenMachine); }

void Store::check_study(const std::string& folder, const StoredStudy& study) {
  check_kind();
  read_study();
  if (study_.name != study.name) {
    throw ConfigError(
        fmt::format("{} holds the study {}; choose another folder for {}", folder, study_.name, study.name));
  }
  if (study_.holds_given() && !study.holds_given()) {
    throw ConfigError(fmt::format("{} holds {}; name them with --networks, or train in another folder with --out",
                                  folder, study_.machine));
  }
  if (study.holds_given() && !study_.holds_given()) {
    throw ConfigError(
        fmt::format("{} holds networks that were trained here; judge others in another folder with --out", folder));
  }
}

void Store::write_study(const StoredStudy& study) {
  database_.execute("DELETE FROM study");
  io::Statement insert = database_.prepare("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?)");
  const std::string overrides = nlohmann::json(study.overrides).dump();
  insert.bind(1, study.name).bind(2, study.text).bind(3, study.source).bind(4, study.preset);
  insert.bind(5, overrides).bind(6, study.machine).bind(7, std::string_view(MODLAB_VERSION)).run();
  database_.execute(settings_view());
  study_ = study;
}

void Store::check_kind() {
  if (database_.integer("PRAGMA application_id") != kApplicationId) {
    throw FormatError(fmt::format("{}: is not a modlab store; choose another folder", database_.path()));
  }
  if (version() > kSchemaVersion) {
    throw FormatError(fmt::format("{}: was written by a newer modlab (schema {}, this one knows {}); update modlab",
                                  database_.path(), version(), kSchemaVersion));
  }
}

void Store::read_study() {
  io::Statement row = database_.prepare("SELECT name, text, source, preset, overrides, machine FROM study");
  if (!row.step()) {
    throw FormatError(fmt::format("{}: says nothing about its study; the store is damaged", database_.path()));
  }
  study_ = {};
  study_.name = row.text(0);
  study_.text = row.text(1);
  study_.source = row.text(2);
  study_.preset = row.text(3);
  const nlohmann::ordered_json overrides = io::parse_json(std::string(row.text(4)));
  if (overrides.is_array()) {
    for (const auto& text : overrides) {
      if (text.is_string()) {
        study_.overrides.push_back(text.get<std::string>());
      }
    }
  }
  study_.machine = row.text(5);
}

void Store::keep_task(const std::string& name, const tasks::TaskSuite& suite) {
  io::Transaction transaction(database_);
  io::Statement insert = database_.prepare("INSERT OR IGNORE INTO tasks VALUES (?, ?)");
  const std::string tables = tables_text(suite);
  insert.bind(1, name).bind(2, tables).run();
  check_task(name, suite);
  transaction.commit();
}

void Store::check_task(const std::string& name, const tasks::TaskSuite& suite) {
  io::Statement stored = database_.prepare("SELECT tables FROM tasks WHERE name = ?");
  stored.bind(1, name);
  if (stored.step() && stored.text(0) != tables_text(suite)) {
    throw ConfigError(
        fmt::format("the task {} is not the function it was when {} was begun; put it back or choose another folder",
                    name, database_.path()));
  }
}

std::unordered_set<std::string> Store::finished() {
  std::unordered_set<std::string> ids;
  io::Statement rows = database_.prepare("SELECT id FROM runs");
  while (rows.step()) {
    ids.emplace(rows.text(0));
  }
  return ids;
}

void Store::add(std::span<const FinishedRun> runs) {
  io::Transaction transaction(database_);
  io::Statement run_row = database_.prepare("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  io::Statement result_row = database_.prepare(
      "INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  io::Statement task_row =
      database_.prepare("INSERT OR IGNORE INTO task_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  io::Statement curve_row = database_.prepare("INSERT OR IGNORE INTO curves VALUES (?, ?)");
  io::Statement weights_row = database_.prepare("INSERT OR IGNORE INTO weights VALUES (?, ?, ?)");
  io::Statement details_row = database_.prepare("INSERT OR IGNORE INTO image_details VALUES (?, ?, ?)");
  io::Statement sculpted_row = database_.prepare("INSERT OR IGNORE INTO sculpted VALUES (?, ?, ?)");
  for (const FinishedRun& run : runs) {
    run_row.bind(1, run.id).bind(2, run.settings);
    const models::PartRows& rows = run.result.rows;
    run_row.bind(3, std::int64_t{rows.train}).bind(4, std::int64_t{rows.validation});
    run_row.bind(5, std::int64_t{rows.test}).bind(6, std::int64_t{rows.outputs});
    run_row.bind(7, std::int64_t{run.result.best.epoch}).bind(8, std::int64_t{run.result.diverged});
    run_row.bind(9, run.result.seconds).bind(10, std::int64_t{rows.seen}).run();
    for (const char* name : kSnapshots) {
      const SnapshotResult& snapshot = name == kSnapshots[0] ? run.result.best : run.result.last;
      result_row.bind(1, run.id).bind(2, std::string_view(name)).bind(3, std::int64_t{snapshot.epoch});
      int position = bind_parts(result_row, 4, snapshot.parts);
      for (const double value :
           {snapshot.measures.edit_distance, snapshot.measures.specialisation, snapshot.measures.specialisation_max,
            snapshot.measures.in_situ, snapshot.measures.module_reuse}) {
        result_row.bind(position++, value);
      }
      const PartResult& seen = snapshot.parts[static_cast<std::size_t>(engine::Part::kSeen)];
      for (const double value : {seen.accuracy, seen.row_accuracy, seen.loss}) {
        result_row.bind(position++, rows.seen > 0 ? value : measures::NetworkMeasures::kNone);
      }
      result_row.bind(position++, snapshot.measures.image_specialisation);
      result_row.run();
      for (std::size_t task = 0; task < snapshot.tasks.size(); ++task) {
        task_row.bind(1, run.id).bind(2, std::string_view(name)).bind(3, static_cast<std::int64_t>(task));
        bind_parts(task_row, 4, snapshot.tasks[task].data());
        task_row.run();
      }
    }
    if (!run.curve.empty()) {
      curve_row.bind(1, run.id).bind_blob(2, run.curve).run();
    }
    for (const auto& [snapshot, bytes] : run.weights) {
      weights_row.bind(1, run.id).bind(2, snapshot).bind_blob(3, bytes).run();
    }
    for (const auto& [snapshot, json] : run.details) {
      details_row.bind(1, run.id).bind(2, snapshot).bind(3, json).run();
    }
    if (!run.result.sculpted.empty()) {
      const std::string numbers = nlohmann::json(run.result.sculpted).dump();
      sculpted_row.bind(1, run.id).bind(2, numbers).bind(3, run.sculpt_details).run();
    }
  }
  transaction.commit();
}

void Store::close() {
  try {
    // Leaves one file that opens from a read-only folder too. There is no use in waiting for another process.
    database_.execute("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
  } catch (const FormatError&) {
    // Another process is still writing; it will do this.
  }
}

std::unordered_map<std::string, RunResult> Store::results() {
  std::unordered_map<std::string, RunResult> results;
  const bool has_images = version() >= kImageVersion;
  io::Statement runs = database_.prepare("SELECT * FROM runs");
  while (runs.step()) {
    RunResult& result = results[std::string(runs.text(0))];
    const auto number = [&](int column) { return static_cast<int>(runs.integer(column)); };
    result.rows = {.train = number(2),
                   .validation = number(3),
                   .test = number(4),
                   .seen = has_images ? number(9) : 0,
                   .outputs = number(5)};
    result.diverged = runs.integer(7) != 0;
    result.seconds = runs.real(8);
  }
  io::Statement rows = database_.prepare("SELECT * FROM results");
  while (rows.step()) {
    RunResult& result = results[std::string(rows.text(0))];
    SnapshotResult& snapshot = rows.text(1) == kSnapshots[0] ? result.best : result.last;
    snapshot.epoch = static_cast<int>(rows.integer(2));
    int column = read_parts(rows, 3, snapshot.parts);
    for (double* value :
         {&snapshot.measures.edit_distance, &snapshot.measures.specialisation, &snapshot.measures.specialisation_max,
          &snapshot.measures.in_situ, &snapshot.measures.module_reuse}) {
      *value = rows.real(column++);
    }
    if (has_images) {
      PartResult& seen = snapshot.parts[static_cast<std::size_t>(engine::Part::kSeen)];
      for (double* value : {&seen.accuracy, &seen.row_accuracy, &seen.loss, &snapshot.measures.image_specialisation}) {
        *value = rows.real(column++);
      }
    }
  }
  io::Statement tasks = database_.prepare("SELECT * FROM task_results ORDER BY run, snapshot, task");
  while (tasks.step()) {
    RunResult& result = results[std::string(tasks.text(0))];
    SnapshotResult& snapshot = tasks.text(1) == kSnapshots[0] ? result.best : result.last;
    read_parts(tasks, 3, snapshot.tasks.emplace_back().data());
  }
  if (version() >= kSculptVersion) {
    io::Statement sculpted = database_.prepare("SELECT run, measures FROM sculpted");
    while (sculpted.step()) {
      RunResult& result = results[std::string(sculpted.text(0))];
      const nlohmann::ordered_json numbers = io::parse_json(std::string(sculpted.text(1)));
      for (const auto& [name, value] : numbers.items()) {
        if (value.is_number()) {
          result.sculpted[name] = value.get<double>();
        }
      }
    }
  }
  return results;
}

std::optional<std::string> Store::settings(const std::string& id) {
  io::Statement row = database_.prepare("SELECT settings FROM runs WHERE id = ?");
  row.bind(1, id);
  return row.step() ? std::optional(std::string(row.text(0))) : std::nullopt;
}

std::optional<std::string> Store::curve(const std::string& id) {
  io::Statement row = database_.prepare("SELECT data FROM curves WHERE run = ?");
  row.bind(1, id);
  return row.step() ? std::optional(std::string(row.blob(0))) : std::nullopt;
}

std::optional<std::string> Store::details(const std::string& id, const std::string& snapshot) {
  if (version() < kImageVersion) {
    return std::nullopt;
  }
  io::Statement row = database_.prepare("SELECT details FROM image_details WHERE run = ? AND snapshot = ?");
  row.bind(1, id).bind(2, snapshot);
  return row.step() ? std::optional(std::string(row.text(0))) : std::nullopt;
}

std::optional<std::string> Store::sculpt_details(const std::string& id) {
  if (version() < kSculptVersion) {
    return std::nullopt;
  }
  io::Statement row = database_.prepare("SELECT details FROM sculpted WHERE run = ?");
  row.bind(1, id);
  return row.step() ? std::optional(std::string(row.text(0))) : std::nullopt;
}

std::optional<std::string> Store::weights(const std::string& id, const std::string& snapshot) {
  io::Statement row = database_.prepare("SELECT data FROM weights WHERE run = ? AND snapshot = ?");
  row.bind(1, id).bind(2, snapshot);
  return row.step() ? std::optional(std::string(row.blob(0))) : std::nullopt;
}

}  // namespace modlab::studies
