#include "studies/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <thread>

#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/json_text.h"
#include "studies/older_store.h"
#include "studies/store_tables.h"
#include "studies/study_plan.h"
#include "tasks/task_difference.h"
#include "tasks/task_file.h"

namespace modlab::studies {
namespace {

using experiments::FinishedRun;
using experiments::Numbers;

constexpr auto kFileName = "study.sqlite";
constexpr auto kBest = "best";

std::string file_in(const std::string& folder) { return (std::filesystem::path(folder) / kFileName).string(); }

FormatError damaged(const std::string& path, const std::string& what) {
  return FormatError(
      fmt::format("{}: {}; the store is damaged, choose another folder or restore it from a copy", path, what));
}

// Names that come from a file stand in statements only where they can be nothing but names.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  });
}

// A measure as a store has it: a number within its bounds, or nothing.
double checked_number(const io::Statement& row, int column, const std::string& measure, const std::string& path) {
  if (row.is_null(column)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const experiments::Measure* known = experiments::find_measure(measure);
  const double value = row.is_number(column) ? row.real(column) : std::numeric_limits<double>::quiet_NaN();
  constexpr double kSlack = 1e-5;  // small constants in published formulas lead a little over bounds
  const bool is_possible =
      value == value && (known == nullptr || !known->domain ||
                         (value >= known->domain->first - kSlack && value <= known->domain->second + kSlack));
  if (!is_possible) {
    throw damaged(path, fmt::format("the {} of run {} cannot be {}", measure, row.text(0).substr(0, 32),
                                    row.is_number(column) ? fmt::format("{}", value) : "anything but a number"));
  }
  return value;
}

}  // namespace

std::optional<std::size_t> ResultTable::find(std::uint64_t run) const {
  const auto found = row_of_.find(run);
  return found == row_of_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> ResultTable::column(const std::string& measure) const {
  const auto found = std::ranges::find(measures_, measure);
  return found == measures_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - measures_.begin()));
}

Store Store::open(const std::string& folder) {
  if (std::optional<Store> store = open_if_any(folder)) {
    return std::move(*store);
  }
  throw FormatError(
      fmt::format("{}: there is no study here; `modlab study run NAME --out {}` makes one", folder, folder));
}

std::optional<Store> Store::open_if_any(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(file_in(folder), ignored)) {
    return std::nullopt;
  }
  // Writable, where it can be: what a killed process left in its journal has to be put in order first.
  Store store(file_in(folder), io::Database(file_in(folder), io::Database::Mode::kWrite));
  store.database_.distrust_schema();
  store.database_.execute("PRAGMA query_only = ON");
  if (store.is_empty()) {
    return std::nullopt;  // whoever made it was killed at once
  }
  store.check_kind();
  if (store.version() < kFirstReadAsItIs) {
    // Reading changes nothing: an older store is brought up to date in memory.
    store.database_ = io::Database();
    upgraded_copy(store.path_, store.database_);
    store.make_views();
  }
  store.read_study();
  return store;
}

Store Store::open_or_create(const std::string& folder, const StoredStudy& study, const Origin& origin,
                            const StudyPlan* plan) {
  const auto tasks = plan != nullptr ? plan->tasks() : std::map<std::string, experiments::TaskFacts>();
  io::prepare_folder(folder);
  Store store(file_in(folder), io::Database(file_in(folder), io::Database::Mode::kCreate));
  store.database_.distrust_schema();
  // Before anything is written: what is not ours stays as it is.
  if (!store.is_empty()) {
    store.check_fits(study, origin, tasks);
  }
  // Readers do not wait for writers, and a block costs no wait for the disk. A kill loses nothing that was committed.
  store.database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  io::Transaction transaction(store.database_);
  if (store.is_empty()) {
    make_tables(store.database_);
  } else {
    store.check_fits(study, origin, tasks);  // again: another process may have made it meanwhile
    if (store.version() < kSchemaVersion) {
      upgrade_in_place(store.database_, store.version());
    }
  }
  const bool is_same = store.study_ == study;
  store.write_study(study);
  for (const auto& [name, facts] : tasks) {
    store.write_task(facts);
  }
  if (plan != nullptr) {
    write_grid(store.database_, *plan, is_same);
  }
  store.origin_ = store.number_of(origin);
  store.make_views();
  transaction.commit();
  return store;
}

std::int64_t Store::number_of(const Origin& origin) {
  const std::lock_guard lock(*mutex_);
  return add_origin(database_, origin.machine, origin.version.empty() ? MODLAB_VERSION : origin.version,
                    origin.networks);
}

std::string Store::folder() const { return std::filesystem::path(path_).parent_path().string(); }

bool Store::is_empty() { return database_.integer("SELECT count(*) FROM sqlite_master") == 0; }

std::int64_t Store::version() { return database_.integer("PRAGMA user_version").value_or(0); }

void Store::check_kind() {
  if (database_.integer("PRAGMA application_id") != kApplicationId) {
    throw FormatError(fmt::format("{}: is not a modlab store; choose another folder", path_));
  }
  if (version() > kSchemaVersion) {
    throw FormatError(fmt::format("{}: was written by a newer modlab (schema {}, this one knows {}); update modlab",
                                  path_, version(), kSchemaVersion));
  }
  // A view or a virtual table in the place of a table could do anything, and without end.
  for (const std::string& name : tables_of(version())) {
    io::Statement row = database_.prepare(
        "SELECT count(*), max(type = 'table' AND sql LIKE 'CREATE TABLE%') "
        "FROM sqlite_master WHERE name = ?");
    row.bind(1, name);
    if (!row.step() || row.integer(0) != 1 || row.integer(1) != 1) {
      throw damaged(path_, fmt::format("it has no table '{}'", name));
    }
  }
}

void Store::check_fits(const StoredStudy& study, const Origin& origin,
                       const std::map<std::string, experiments::TaskFacts>& tasks) {
  check_kind();
  read_study();
  if (study_.name != study.name) {
    throw ConfigError(
        fmt::format("{} holds the study {}; choose another folder for {}", folder(), study_.name, study.name));
  }
  if (study_.shard != study.shard) {
    const auto words = [](const Shard& shard) {
      return shard.is_whole() ? "the whole study" : shard.text() + " of it";
    };
    throw ConfigError(
        fmt::format("{} holds {}; choose another folder for {}, or put finished ones together with "
                    "`modlab study merge OUT DIR...`",
                    folder(), words(study_.shard), words(study.shard)));
  }
  const std::vector<Origin> there = version() < kFirstReadAsItIs ? older_origins(database_) : origins();
  const auto given = std::ranges::find_if(there, [](const Origin& each) { return !each.networks.empty(); });
  if (given != there.end() && origin.networks.empty()) {
    throw ConfigError(fmt::format(
        "{} holds networks of {}, judged only; name them with --networks, or train in another folder with --out",
        folder(), given->networks));
  }
  if (!origin.networks.empty() && !there.empty() && given == there.end()) {
    throw ConfigError(
        fmt::format("{} holds networks that were trained here; judge others in another folder with --out", folder()));
  }
  check_tasks(tasks);
}

std::vector<Origin> Store::origins() {
  std::vector<Origin> list;
  io::Statement rows = database_.prepare(
      "SELECT machine, networks FROM origins WHERE number IN (SELECT origin FROM runs) ORDER BY number");
  while (rows.step()) {
    list.push_back({on_one_line(rows.text(0)), on_one_line(rows.text(1))});
  }
  return list;
}

void Store::write_study(const StoredStudy& study) {
  database_.execute("DELETE FROM study");
  io::Statement insert = database_.prepare("INSERT INTO study VALUES (?, ?, ?, ?, ?)");
  const std::string overrides = nlohmann::json(study.overrides).dump();
  insert.bind(1, study.name).bind(2, study.text).bind(3, study.source).bind(4, study.preset).bind(5, overrides).run();
  write_shard(database_, study.shard);
  study_ = study;
}

void Store::read_study() {
  io::Statement row = database_.prepare("SELECT name, text, source, preset, overrides FROM study");
  if (!row.step()) {
    throw FormatError(fmt::format("{}: says nothing about its study; the store is damaged", path_));
  }
  study_ = {};
  study_.name = on_one_line(row.text(0));
  study_.text = row.text(1);
  study_.source = on_one_line(row.text(2));
  study_.preset = on_one_line(row.text(3));
  const nlohmann::ordered_json overrides = io::parse_json(std::string(row.text(4)));
  if (overrides.is_array()) {
    for (const auto& text : overrides) {
      if (text.is_string()) {
        study_.overrides.push_back(text.get<std::string>());
      }
    }
  }
  study_.shard = read_shard(database_, path_);
}

void Store::write_task(const experiments::TaskFacts& task) {
  io::Statement insert = database_.prepare("INSERT OR REPLACE INTO tasks VALUES (?, ?)");
  insert.bind(1, task.name).bind(2, task.fingerprint).run();
  io::Statement clear = database_.prepare("DELETE FROM task_texts WHERE task = ?");
  clear.bind(1, task.name).run();
  io::Statement text = database_.prepare("INSERT INTO task_texts VALUES (?, ?, ?)");
  text.bind(1, task.name).bind(2, "").bind(3, task.text.text).run();
  for (const auto& [member, member_text] : task.text.members) {
    text.bind(1, task.name).bind(2, member).bind(3, member_text).run();
  }
}

std::map<std::string, tasks::TaskText> Store::task_texts() {
  std::map<std::string, tasks::TaskText> texts;
  if (version() < kSchemaVersion) {
    return texts;
  }
  io::Statement rows = database_.prepare("SELECT task, member, text FROM task_texts");
  while (rows.step()) {
    tasks::TaskText& text = texts[std::string(rows.text(0))];
    (rows.text(1).empty() ? text.text : text.members[std::string(rows.text(1))]) = rows.text(2);
  }
  return texts;
}

tasks::TaskSuite Store::stored_task(const std::string& name, const tasks::TaskText& text) const {
  try {
    return tasks::parse_task(text, name);
  } catch (const UserError& error) {
    throw damaged(path_, fmt::format("the text of a task cannot be read: {}", error.what()));
  }
}

tasks::NamedTasks Store::tasks() {
  tasks::NamedTasks found;
  for (const auto& [name, text] : task_texts()) {
    found[name] = std::make_shared<const tasks::TaskSuite>(stored_task(name, text));
  }
  return found;
}

tasks::TasksAtHand Store::tasks_at_hand() {
  tasks::FileFacts facts;
  if (version() >= kSchemaVersion) {
    io::Statement rows = database_.prepare("SELECT name, text FROM file_facts");
    while (rows.step()) {
      facts[std::string(rows.text(0))] = rows.text(1);
    }
  }
  return tasks::TasksAtHand(tasks(), std::move(facts));
}

void Store::check_tasks(const std::map<std::string, experiments::TaskFacts>& tasks) {
  const std::map<std::string, tasks::TaskText> texts = task_texts();
  const char* column = version() < kFirstReadAsItIs ? "tables" : "fingerprint";
  io::Statement stored = database_.prepare(fmt::format("SELECT {} FROM tasks WHERE name = ?", column));
  for (const auto& [name, task] : tasks) {
    stored.bind(1, name);
    const bool is_other = stored.step() && stored.text(0) != task.fingerprint;
    stored.run();
    const auto was = texts.find(name);
    const std::string difference =
        was == texts.end() || was->second == task.text
            ? ""
            : tasks::task_difference(stored_task(name, was->second), tasks::parse_task(task.text, name));
    if (is_other || !difference.empty()) {
      throw ConfigError(fmt::format(
          "the task {} is not the one that the networks in {} learned{}{}; put it back, or train on the changed one in "
          "another folder with --out",
          name, folder(), difference.empty() ? "" : ": ", difference));
    }
  }
}

RunSet Store::finished() {
  RunSet runs;
  io::Statement rows = database_.prepare("SELECT id FROM runs WHERE id IN (SELECT run FROM results)");
  while (rows.step()) {
    if (const std::optional<std::uint64_t> number = settings::id_number(rows.text(0))) {
      runs.insert(*number);
    }
  }
  return runs;
}

std::vector<std::string> Store::result_columns() {
  std::vector<std::string> names;
  io::Statement rows = database_.prepare("SELECT name FROM pragma_table_info('results')");
  while (rows.step()) {
    if (const std::string_view name = rows.text(0); name != "run" && name != "snapshot") {
      if (!is_plain_name(name)) {
        throw damaged(path_, "a measure has no name");
      }
      names.emplace_back(name);
    }
  }
  return names;
}

void Store::add(std::span<const FinishedRun> runs) { add(runs, origin_); }

void Store::add(std::span<const FinishedRun> runs, std::int64_t origin) {
  const std::lock_guard lock(*mutex_);
  io::Transaction transaction(database_);
  database_.execute("DELETE FROM chosen_runs");
  const std::size_t before = result_count_;
  std::vector<std::string> columns = result_columns();
  add_measures(database_, runs, columns);
  const bool has_new_settings = add_settings(database_, runs);
  insert_runs(database_, runs, columns, origin);
  if (columns.size() != before || has_new_settings) {
    update_views(database_, columns);
  }
  transaction.commit();
  result_count_ = columns.size();
}

void Store::keep_choices(const std::vector<ChosenRun>& chosen, const std::string& snapshot, std::size_t finished) {
  io::Transaction transaction(database_);
  database_.execute("DELETE FROM chosen_runs");
  if (database_.integer("SELECT count(DISTINCT run) FROM results") == static_cast<std::int64_t>(finished)) {
    // A run with one snapshot has it under any name.
    io::Statement insert = database_.prepare(
        "INSERT OR IGNORE INTO chosen_runs SELECT ?1, run, ?4, snapshot FROM results WHERE run = ?2 "
        "ORDER BY snapshot = ?3 DESC, snapshot = 'best' DESC LIMIT 1");
    for (const ChosenRun& run : chosen) {
      const std::string id = settings::id_text(run.run);
      insert.bind(1, run.series).bind(2, id).bind(3, snapshot).bind(4, std::int64_t{run.restarts}).run();
    }
  }
  make_views();
  transaction.commit();
}

void Store::make_views() { update_views(database_, result_columns()); }

void Store::close() {
  // Leaves one file that opens from a read-only folder too. Processes that end together stand in each other's way: each
  // lets go and looks again. One that goes on will do this itself in the end.
  constexpr int kTries = 10;
  for (int tries = 1; tries <= kTries; ++tries) {
    try {
      database_.execute("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      return;
    } catch (const FormatError&) {
      database_ = io::Database();
      std::this_thread::sleep_for(std::chrono::milliseconds(::getpid() % 17 + tries));
      if (!std::filesystem::exists(path_)) {
        return;
      }
      database_ = io::Database(path_, io::Database::Mode::kWrite);
    }
  }
  database_ = io::Database();
}

void Store::copy_to(const std::string& folder) { database_.copy_to(file_in(folder)); }

ResultTable Store::results(const std::string& snapshot) {
  ResultTable table;
  table.measures_ = result_columns();
  std::string columns;
  for (const std::string& name : table.measures_) {
    columns += fmt::format(", \"{}\"", name);
  }
  io::Statement runs = database_.prepare("SELECT id, diverged, seconds FROM runs");
  std::unordered_map<std::uint64_t, ResultTable::Row> facts;
  while (runs.step()) {
    if (const std::optional<std::uint64_t> number = settings::id_number(runs.text(0))) {
      facts[*number] = {runs.integer(1) != 0, runs.is_number(2) ? runs.real(2) : 0};
    }
  }
  // A run with one snapshot has it under any name.
  const auto read = [&](const std::string& name) {
    io::Statement rows = database_.prepare("SELECT run" + columns + " FROM results WHERE snapshot = ?");
    rows.bind(1, name);
    while (rows.step()) {
      const std::optional<std::uint64_t> number = settings::id_number(rows.text(0));
      const auto fact = number ? facts.find(*number) : facts.end();
      if (fact == facts.end() || table.row_of_.contains(*number)) {
        continue;
      }
      table.row_of_[*number] = table.rows_.size();
      table.rows_.push_back(fact->second);
      for (std::size_t column = 0; column < table.measures_.size(); ++column) {
        table.values_.push_back(checked_number(rows, static_cast<int>(column) + 1, table.measures_[column], path_));
      }
    }
  };
  read(snapshot);
  read(kBest);
  return table;
}

std::map<std::string, Numbers> Store::snapshots(const std::string& id) {
  const std::vector<std::string> names = result_columns();
  std::string columns;
  for (const std::string& name : names) {
    columns += fmt::format(", \"{}\"", name);
  }
  io::Statement rows = database_.prepare("SELECT run, snapshot" + columns + " FROM results WHERE run = ?");
  rows.bind(1, id);
  std::map<std::string, Numbers> found;
  while (rows.step()) {
    Numbers& numbers = found[std::string(rows.text(1))];
    for (std::size_t column = 0; column < names.size(); ++column) {
      const double value = checked_number(rows, static_cast<int>(column) + 2, names[column], path_);
      if (value == value) {
        numbers[names[column]] = value;
      }
    }
  }
  return found;
}

std::optional<experiments::Run> Store::run(const std::string& id) {
  io::Statement row = database_.prepare("SELECT kind, settings FROM runs WHERE id = ?");
  row.bind(1, id);
  if (!row.step()) {
    return std::nullopt;
  }
  experiments::Run run =
      experiments::run_from_json(std::string(row.text(0)), io::parse_json(std::string(row.text(1))), path_);
  if (run.id() != id) {
    throw damaged(path_, fmt::format("the settings of run {} are those of another run", id));
  }
  return run;
}

std::optional<std::string> Store::blob(const std::string& id, const std::string& name) {
  io::Statement row = database_.prepare("SELECT data FROM blobs WHERE run = ? AND name = ?");
  row.bind(1, id).bind(2, name);
  return row.step() ? std::optional(std::string(row.blob(0))) : std::nullopt;
}

}  // namespace modlab::studies
