#include "studies/older_store.h"

#include <fmt/format.h>

#include <array>

#include "core/errors.h"
#include "io/json_text.h"
#include "studies/store_tables.h"

namespace modlab::studies {
namespace {

using experiments::FinishedRun;
using experiments::Numbers;
using nlohmann::ordered_json;

constexpr const char* kOldTables[] = {"study",   "tasks",        "runs",          "results", "curves",
                                      "weights", "task_results", "image_details", "sculpted"};
constexpr std::string_view kGivenBegins = "networks of ";
constexpr std::string_view kGivenEnds = ", judged only";
// Columns that mean what a measure of the same name means now.
constexpr const char* kSameMeasures[] = {
    "train_accuracy",    "validation_accuracy", "test_accuracy",   "train_row_accuracy", "validation_row_accuracy",
    "test_row_accuracy", "train_loss",          "validation_loss", "test_loss",          "edit_distance",
    "specialisation",    "specialisation_max",  "in_situ",         "seen_accuracy",      "seen_row_accuracy",
    "seen_loss",         "image_specialisation"};
constexpr std::size_t kRunsAtOnce = 1000;

Origin origin_of(const std::string& machine) {
  if (!machine.starts_with(kGivenBegins)) {
    return {machine, ""};
  }
  std::string files = machine.substr(kGivenBegins.size());
  if (files.ends_with(kGivenEnds)) {
    files.resize(files.size() - kGivenEnds.size());
  }
  return {"", files};
}

// Reads the old tables, wherever they are, and writes the present ones.
class Upgrade {
 public:
  // `before` stands before the names of the old tables.
  Upgrade(io::Database& database, std::string before) : database_(database), before_(std::move(before)) {
    for (const char* name : kOldTables) {
      has_[name] = database.integer(fmt::format("SELECT count(*) FROM {}", pragma(name))).value_or(0) > 0;
    }
  }

  void run() {
    std::string machine;
    std::string version;
    {
      io::Statement study =
          database_.prepare("SELECT name, text, source, preset, overrides, machine, version FROM " + table("study"));
      if (study.step()) {
        machine = study.text(5);
        version = study.text(6);
      }
    }
    database_.execute("INSERT INTO study SELECT name, text, source, preset, overrides FROM " + table("study"));
    database_.execute("INSERT INTO tasks SELECT name, tables FROM " + table("tasks"));
    const Origin origin = origin_of(machine);
    origin_ = add_origin(database_, origin.machine, version, origin.networks);
    copy_runs();
  }

 private:
  std::string table(const char* name) const { return before_ + name; }
  std::string pragma(const char* name) const {
    return before_ == "old." ? fmt::format("pragma_table_info('{}', 'old')", name)
                             : fmt::format("pragma_table_info('{}{}')", before_, name);
  }

  void copy_runs() {
    std::vector<std::string> ids;
    {
      io::Statement rows = database_.prepare("SELECT id FROM " + table("runs"));
      while (rows.step()) {
        ids.emplace_back(rows.text(0));
      }
    }
    for (std::size_t first = 0; first < ids.size(); first += kRunsAtOnce) {
      const std::size_t count = std::min(kRunsAtOnce, ids.size() - first);
      std::vector<experiments::Run> runs;
      std::vector<FinishedRun> finished;
      runs.reserve(count);
      for (const std::string& id : std::span(ids).subspan(first, count)) {
        if (std::optional<FinishedRun> run = read_run(id, runs)) {
          finished.push_back(std::move(*run));
        }
      }
      write(finished);
    }
  }

  void write(const std::vector<FinishedRun>& finished) {
    add_measures(database_, finished, columns_);
    add_settings(database_, finished);
    insert_runs(database_, finished, columns_, origin_);
  }

  std::optional<FinishedRun> read_run(const std::string& id, std::vector<experiments::Run>& runs) {
    io::Statement row = database_.prepare("SELECT * FROM " + table("runs") + " WHERE id = ?");
    row.bind(1, id);
    if (!row.step()) {
      return std::nullopt;
    }
    const ordered_json values = io::parse_json(std::string(row.text(1)));
    const bool is_sculpted = values.is_object() && values.contains("prune_threshold");
    const bool is_image = values.is_object() && values.contains("samples");
    const std::string source = database_.path();
    experiments::Run run = experiments::run_from_json(is_sculpted ? "sculpt"
                                                      : is_image  ? "images"
                                                                  : "bits",
                                                      values, source);
    if (run.id() != id) {
      throw FormatError(fmt::format("{}: the settings of run {} are those of another run; the store is damaged", source,
                                    id.substr(0, 32)));
    }
    FinishedRun finished;
    finished.result.diverged = row.integer(7) != 0;
    finished.result.seconds = row.real(8);
    Numbers rows = {{"train_rows", row.real(2)}, {"validation_rows", row.real(3)}, {"test_rows", row.real(4)}};
    if (is_image) {
      rows["seen_rows"] = row.real(9);
    }
    is_sculpted ? read_sculpted(id, finished.result) : read_trained(id, rows, finished.result);
    if (finished.result.snapshots.empty()) {
      return std::nullopt;  // begun and not finished
    }
    read_blobs(id, finished.result);
    run.kind->upgrade(run.values, finished.result);
    runs.push_back(std::move(run));
    finished.run = &runs.back();
    return finished;
  }

  void read_trained(const std::string& id, const Numbers& rows, experiments::Result& result) {
    io::Statement row =
        database_.prepare("SELECT snapshot, epoch, module_reuse, * FROM " + table("results") + " WHERE run = ?");
    row.bind(1, id);
    while (row.step()) {
      Numbers& numbers = result.snapshots[std::string(row.text(0))];
      numbers = rows;
      numbers["best_epoch"] = row.real(1);
      put(numbers, "module_reuse", 100 * row.real(2));
      for (int column = 3; column < row.columns(); ++column) {
        const std::string name = row.name(column);
        if (std::ranges::find(kSameMeasures, name) != std::end(kSameMeasures)) {
          put(numbers, name, row.real(column));
        }
      }
    }
    io::Statement tasks =
        database_.prepare("SELECT snapshot, task, * FROM " + table("task_results") + " WHERE run = ?");
    tasks.bind(1, id);
    while (tasks.step()) {
      Numbers& numbers = result.snapshots[std::string(tasks.text(0))];
      for (int column = 2; column < tasks.columns(); ++column) {
        const std::string name = tasks.name(column);
        if (std::ranges::find(kSameMeasures, name) != std::end(kSameMeasures)) {
          put(numbers, fmt::format("{}_{}", name, tasks.integer(1) + 1), tasks.real(column));
        }
      }
    }
  }

  void read_sculpted(const std::string& id, experiments::Result& result) {
    io::Statement row = database_.prepare("SELECT measures, details FROM " + table("sculpted") + " WHERE run = ?");
    row.bind(1, id);
    if (!row.step()) {
      return;
    }
    const ordered_json measures = io::parse_json(std::string(row.text(0)));
    if (!measures.is_object()) {
      throw FormatError(fmt::format("{}: the measures of run {} are damaged; choose another folder or restore it",
                                    database_.path(), id));
    }
    Numbers& numbers = result.snapshots["best"];
    for (const auto& [name, value] : measures.items()) {
      if (value.is_number()) {
        numbers[name] = value.get<double>();
      }
    }
    io::Statement accuracy = database_.prepare("SELECT validation_accuracy FROM " + table("results") +
                                               " WHERE run = ? AND snapshot = 'best'");
    accuracy.bind(1, id);
    if (accuracy.step()) {
      put(numbers, "accuracy", accuracy.real(0));
    }
    result.blobs["details"] = row.text(1);
  }

  void read_blobs(const std::string& id, experiments::Result& result) {
    io::Statement curve = database_.prepare("SELECT data FROM " + table("curves") + " WHERE run = ?");
    curve.bind(1, id);
    if (curve.step()) {
      result.blobs["curve"] = curve.blob(0);
    }
    read_named_blobs("weights", "data", "weights/", id, result);
    if (has_["image_details"]) {
      read_named_blobs("image_details", "details", "details/", id, result);
    }
  }

  void read_named_blobs(const char* from, const char* column, const char* before, const std::string& id,
                        experiments::Result& result) {
    io::Statement row =
        database_.prepare(fmt::format("SELECT snapshot, {} FROM {} WHERE run = ?", column, table(from)));
    row.bind(1, id);
    while (row.step()) {
      result.blobs[before + std::string(row.text(0))] = row.blob(1);
    }
  }

  static void put(Numbers& numbers, const std::string& name, double value) {
    if (value == value) {
      numbers[name] = value;
    }
  }

  io::Database& database_;
  std::string before_;
  std::map<std::string, bool> has_;
  std::vector<std::string> columns_;
  std::int64_t origin_ = 0;
};

// Schema 4 noted the name of a setting also where it said nothing, or what another setting says.
void note_settings_again(io::Database& database) {
  std::vector<std::pair<std::string, std::string>> names;  // and what the view would show of them
  io::Statement rows = database.prepare("SELECT name FROM setting_names");
  while (rows.step()) {
    const std::string name(rows.text(0));
    if (const settings::Setting* setting = experiments::find_setting(name)) {
      names.emplace_back(name, setting->is_set_by);
    }
  }
  for (const auto& [name, set_by] : names) {
    const std::string value = fmt::format("json_extract(settings, '$.{}')", name);
    const std::string other = set_by.empty() ? "'[]'" : fmt::format("json_extract(settings, '$.{}')", set_by);
    database.execute(fmt::format(
        "DELETE FROM setting_names WHERE name = '{0}' AND NOT EXISTS (SELECT 1 FROM runs WHERE {1} IS NOT NULL AND {1} "
        "IS NOT {2})",
        name, value, other));
  }
}

}  // namespace

std::vector<Origin> older_origins(io::Database& database) {
  io::Statement study = database.prepare("SELECT machine FROM study WHERE EXISTS (SELECT 1 FROM runs)");
  std::vector<Origin> list;
  while (study.step()) {
    list.push_back(origin_of(std::string(study.text(0))));
  }
  return list;
}

void upgraded_copy(const std::string& path, io::Database& copy) {
  make_tables(copy);
  io::Statement attach = copy.prepare("ATTACH ? AS old");
  attach.bind(1, path);
  attach.run();
  Upgrade(copy, "old.").run();
  copy.execute("DETACH old");
}

void upgrade_in_place(io::Database& database, std::int64_t version) {
  if (version == kFirstReadAsItIs) {
    add_tables_of_five(database);
    note_settings_again(database);
    return;
  }
  database.execute("DROP VIEW IF EXISTS run_settings");
  for (const char* name : kOldTables) {
    if (database.integer(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", name)).value_or(0) > 0) {
      database.execute(fmt::format("ALTER TABLE {0} RENAME TO old_{0}", name));
    }
  }
  make_tables(database);
  Upgrade(database, "old_").run();
  for (const char* name : kOldTables) {
    database.execute(fmt::format("DROP TABLE IF EXISTS old_{}", name));
  }
}

}  // namespace modlab::studies
