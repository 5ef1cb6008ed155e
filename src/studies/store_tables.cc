#include "studies/store_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_set>

#include "core/errors.h"

namespace modlab::studies {
namespace {

using experiments::FinishedRun;

// Measures are columns of `results`, added when the first run has them.
constexpr auto kTables = R"(
CREATE TABLE study (name TEXT, text TEXT, source TEXT, preset TEXT, overrides TEXT);
CREATE TABLE tasks (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE origins (number INTEGER PRIMARY KEY, machine TEXT NOT NULL, version TEXT NOT NULL,
  networks TEXT NOT NULL, UNIQUE (machine, version, networks));
CREATE TABLE runs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, settings TEXT NOT NULL, diverged INTEGER, seconds REAL,
  origin INTEGER REFERENCES origins (number)) WITHOUT ROWID;
CREATE TABLE results (run TEXT NOT NULL REFERENCES runs (id), snapshot TEXT NOT NULL, PRIMARY KEY (run, snapshot))
  WITHOUT ROWID;
CREATE TABLE blobs (run TEXT NOT NULL REFERENCES runs (id), name TEXT NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (run, name));
CREATE TABLE setting_names (name TEXT PRIMARY KEY);
)";

// What a study was about when it was run last: the text of its tasks and of those that they list, its runs, and which
// of them selection chose.
constexpr auto kTablesOfFive = R"(
CREATE TABLE task_texts (task TEXT NOT NULL, member TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (task, member))
  WITHOUT ROWID;
CREATE TABLE file_facts (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE grid (run TEXT NOT NULL, series TEXT NOT NULL, PRIMARY KEY (run, series)) WITHOUT ROWID;
CREATE TABLE chosen_runs (series TEXT NOT NULL, run TEXT NOT NULL, restarts INTEGER NOT NULL, snapshot TEXT NOT NULL,
  PRIMARY KEY (series, run, restarts)) WITHOUT ROWID;
)";

bool is_ours(const std::string& name) { return experiments::find_setting(name) != nullptr; }

}  // namespace

std::vector<std::string> noted_settings(io::Database& database) {
  std::vector<std::string> names;
  io::Statement rows = database.prepare("SELECT name FROM setting_names ORDER BY rowid");
  while (rows.step()) {
    names.emplace_back(rows.text(0));
  }
  return names;
}

void write_shard(io::Database& database, const Shard& shard) {
  if (shard.is_whole()) {
    return;
  }
  database.execute("CREATE TABLE IF NOT EXISTS shard (number INTEGER NOT NULL, count INTEGER NOT NULL)");
  database.execute(fmt::format("DELETE FROM shard; INSERT INTO shard VALUES ({}, {})", shard.number, shard.count));
}

Shard read_shard(io::Database& database, const std::string& source) {
  if (database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'shard'") == 0) {
    return {};
  }
  if (database.integer("SELECT type = 'table' AND sql LIKE 'CREATE TABLE%' FROM sqlite_master WHERE name = 'shard'") ==
      1) {
    io::Statement row = database.prepare("SELECT number, count FROM shard");
    if (row.step()) {
      const std::int64_t number = row.integer(0);
      const std::int64_t count = row.integer(1);
      if (number >= 1 && number <= count && count <= Shard::kMost) {
        return {static_cast<int>(number), static_cast<int>(count)};
      }
    }
  }
  throw FormatError(fmt::format(
      "{}: does not say which part of its study it has; the store is damaged, restore it from a copy", source));
}

void make_tables(io::Database& database) {
  database.execute(kTables);
  add_tables_of_five(database);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
}

void add_tables_of_five(io::Database& database) {
  database.execute(kTablesOfFive);
  database.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
}

std::vector<std::string> tables_of(std::int64_t version) {
  if (version >= 4) {
    std::vector<std::string> names = {"study", "tasks", "origins", "runs", "results", "blobs", "setting_names"};
    if (version >= 5) {
      names.insert(names.end(), {"task_texts", "file_facts", "grid", "chosen_runs"});
    }
    return names;
  }
  std::vector<std::string> names = {"study", "tasks", "runs", "results", "task_results", "curves", "weights"};
  if (version >= 2) {
    names.emplace_back("image_details");
  }
  if (version >= 3) {
    names.emplace_back("sculpted");
  }
  return names;
}

std::int64_t add_origin(io::Database& database, std::string_view machine, std::string_view version,
                        std::string_view networks) {
  io::Statement insert =
      database.prepare("INSERT OR IGNORE INTO origins (machine, version, networks) VALUES (?, ?, ?)");
  insert.bind(1, machine).bind(2, version).bind(3, networks).run();
  io::Statement row = database.prepare("SELECT number FROM origins WHERE machine = ? AND version = ? AND networks = ?");
  row.bind(1, machine).bind(2, version).bind(3, networks);
  return row.step() ? row.integer(0) : 0;
}

void add_measures(io::Database& database, std::span<const FinishedRun> runs, std::vector<std::string>& columns) {
  std::set<std::string> wanted;
  for (const FinishedRun& run : runs) {
    for (const auto& [snapshot, numbers] : run.result.snapshots) {
      for (const auto& [name, value] : numbers) {
        wanted.insert(name);
      }
    }
  }
  add_columns(database, std::move(wanted), columns);
}

void add_columns(io::Database& database, std::set<std::string> wanted, std::vector<std::string>& columns) {
  for (const std::string& name : columns) {
    wanted.erase(name);
  }
  if (wanted.empty()) {
    return;
  }
  // In the order of the list of measures.
  for (const experiments::Measure& measure : experiments::all_measures()) {
    if (wanted.contains(measure.name)) {
      database.execute(fmt::format("ALTER TABLE results ADD COLUMN \"{}\" REAL", measure.name));
      columns.push_back(measure.name);
    }
  }
}

bool add_settings(io::Database& database, std::span<const FinishedRun> runs) {
  std::unordered_set<const settings::Values::Row*> seen;
  std::set<std::string> found;
  for (const FinishedRun& run : runs) {
    const settings::Values& values = run.run->values;
    if (!seen.insert(values.row()).second) {
      continue;
    }
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (values.speaks_at(at)) {
        found.insert(values.setting_at(at).name);
      }
    }
  }
  return note_settings(database, std::move(found));
}

bool note_settings(io::Database& database, std::set<std::string> names) {
  for (const std::string& name : noted_settings(database)) {
    names.erase(name);
  }
  io::Statement insert = database.prepare("INSERT OR IGNORE INTO setting_names VALUES (?)");
  // In the order of the list of settings.
  for (const std::string& name : experiments::setting_names()) {
    if (names.contains(name)) {
      insert.bind(1, name).run();
    }
  }
  return !names.empty();
}

void insert_runs(io::Database& database, std::span<const FinishedRun> runs, const std::vector<std::string>& measures,
                 std::int64_t origin) {
  io::Statement find = database.prepare("SELECT 1 FROM results WHERE run = ?");
  io::Statement run_row = database.prepare("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)");
  std::string columns;
  std::string places;
  for (const std::string& name : measures) {
    columns += fmt::format(", \"{}\"", name);
    places += ", ?";
  }
  io::Statement result_row =
      database.prepare(fmt::format("INSERT INTO results (run, snapshot{}) VALUES (?, ?{})", columns, places));
  io::Statement blob_row = database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)");
  for (const FinishedRun& run : runs) {
    const std::string id = run.run->id();
    find.bind(1, id);
    const bool is_there = find.step();
    find.run();
    if (is_there) {
      continue;
    }
    const std::string values = run.run->values.to_json().dump();
    run_row.bind(1, id).bind(2, run.run->kind->name()).bind(3, values);
    run_row.bind(4, std::int64_t{run.result.diverged}).bind(5, run.result.seconds).bind(6, origin).run();
    for (const auto& [snapshot, numbers] : run.result.snapshots) {
      result_row.bind(1, id).bind(2, snapshot);
      for (std::size_t measure = 0; measure < measures.size(); ++measure) {
        const auto found = numbers.find(measures[measure]);
        result_row.bind(static_cast<int>(measure) + 3,
                        found == numbers.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
      }
      result_row.run();
    }
    for (const auto& [name, bytes] : run.result.blobs) {
      blob_row.bind(1, id).bind(2, name).bind_blob(3, bytes).run();
    }
  }
}

void write_grid(io::Database& database, const StudyPlan& plan, bool is_same_study) {
  io::Statement fact = database.prepare("INSERT OR REPLACE INTO file_facts VALUES (?, ?)");
  for (const auto& [name, text] : plan.file_facts()) {
    fact.bind(1, name).bind(2, text).run();
  }
  database.execute("DELETE FROM chosen_runs");
  const auto count = static_cast<std::int64_t>(plan.runs.size());
  if (is_same_study && database.integer("SELECT count(*) FROM grid") == count) {
    return;
  }
  database.execute("DELETE FROM grid");
  // In the order of the table, which is that of the numbers.
  std::vector<const PlannedRun*> runs;
  std::ranges::transform(plan.runs, std::back_inserter(runs), [](const PlannedRun& run) { return &run; });
  std::ranges::sort(runs, {}, [](const PlannedRun* run) { return std::pair(run->number(), run->series); });
  io::Statement insert = database.prepare("INSERT OR IGNORE INTO grid VALUES (?, ?)");
  for (const PlannedRun* run : runs) {
    const std::string id = run->id();
    insert.bind(1, id).bind(2, plan.series[run->series]).run();
  }
}

void update_views(io::Database& database, const std::vector<std::string>& measures) {
  std::string settings_sql;
  std::string names_sql;
  std::string measures_sql;
  for (const std::string& name : noted_settings(database)) {
    // A name from a file stands in a statement only if it is one of ours.
    if (is_ours(name)) {
      settings_sql += fmt::format(", json_extract(settings, '$.{0}') AS \"{0}\"", name);
      names_sql += fmt::format(", \"{}\"", name);
    }
  }
  for (const std::string& name : measures) {
    measures_sql += fmt::format(", results.\"{}\"", name);
  }
  const bool has_restarts = database.integer("SELECT 1 FROM chosen_runs WHERE restarts > 0").has_value();
  const std::string wanted[][2] = {
      {"run_settings",
       fmt::format("CREATE VIEW run_settings AS SELECT id, kind, EXISTS (SELECT 1 FROM grid WHERE grid.run = id) AS "
                   "in_grid{}, diverged, seconds, machine, version, networks FROM runs LEFT JOIN origins ON origin = "
                   "number",
                   settings_sql)},
      {"run_results", fmt::format("CREATE VIEW run_results AS SELECT id, kind, in_grid{}, snapshot{} FROM run_settings "
                                  "JOIN results ON run = id",
                                  names_sql, measures_sql)},
      {"chosen",
       fmt::format("CREATE VIEW chosen AS SELECT series, id, kind{}{}, chosen_runs.snapshot{} FROM chosen_runs "
                   "JOIN run_settings ON id = chosen_runs.run JOIN results ON results.run = chosen_runs.run "
                   "AND results.snapshot = chosen_runs.snapshot",
                   names_sql, has_restarts ? ", restarts" : "", measures_sql)}};
  for (const auto& [name, sql] : wanted) {
    io::Statement row = database.prepare("SELECT sql FROM sqlite_master WHERE name = ?");
    row.bind(1, name);
    if (row.step() && row.text(0) == sql) {
      continue;
    }
    row.run();
    database.execute(fmt::format("DROP VIEW IF EXISTS {}; {}", name, sql));
  }
}

}  // namespace modlab::studies
