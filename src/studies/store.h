#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "experiments/experiment.h"
#include "io/sqlite.h"
#include "studies/run_rows.h"
#include "studies/shard.h"
#include "studies/study.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::studies {

struct StudyPlan;

using RunSet = std::unordered_set<std::uint64_t>;  // of Run::number

// Which study a store belongs to: enough to plan it again.
struct StoredStudy {
  std::string name;
  std::string text;    // YAML
  std::string source;  // where it came from, for messages
  std::string preset;
  std::vector<std::string> overrides;
  Shard shard = {};  // what of it was asked for

  friend bool operator==(const StoredStudy&, const StoredStudy&) = default;
};

// Where runs come from.
struct Origin {
  std::string machine;       // that trained them
  std::string networks;      // files that they were read from, where they were not trained; otherwise empty
  std::string version = {};  // of modlab; empty: this one
};

// A run that selection chose, to stand for its cell on a split.
struct ChosenRun {
  std::string series;
  std::uint64_t run = 0;
  int restarts = 0;  // as in Cell
};

// The measures of many runs in one snapshot, as a table.
class ResultTable {
 public:
  struct Row {
    bool diverged = false;
    double seconds = 0;  // of one thread
  };

  // Number of a run's row.
  std::optional<std::size_t> find(std::uint64_t run) const;
  // Number of a measure's column, if any run has the measure.
  std::optional<std::size_t> column(const std::string& measure) const;
  // Not a number where the run does not have the measure.
  double at(std::size_t row, std::size_t column) const { return values_[row * measures_.size() + column]; }
  const Row& row(std::size_t number) const { return rows_[number]; }
  const std::vector<std::string>& measures() const { return measures_; }
  std::size_t size() const { return rows_.size(); }

 private:
  friend class Store;
  std::vector<std::string> measures_;
  std::unordered_map<std::uint64_t, std::size_t> row_of_;
  std::vector<Row> rows_;
  std::vector<double> values_;  // [row][column]
};

// The results of a study: one SQLite file in a folder, written so that a process may die at any moment. It knows no
// kind of experiment. docs/formats.md describes the tables. Throws FormatError with the path and the way out. May come
// from anyone: what is read is checked, and nothing in it is executed.
class Store {
 public:
  // Opens the store of a folder for reading.
  static Store open(const std::string& folder);
  // The same; nothing where there is none.
  static std::optional<Store> open_if_any(const std::string& folder);
  // Opens it for writing, or makes it; from now on it is the store of this study with these runs. Throws before
  // anything is written if it does not fit: see check_fits().
  static Store open_or_create(const std::string& folder, const StoredStudy& study, const Origin& origin,
                              const StudyPlan* plan = nullptr);

  const StoredStudy& study() const { return study_; }
  // Of its runs, in the order in which they came.
  std::vector<Origin> origins();
  // The tasks whose text it has, and what it knows of other files. Stores of earlier schemas have neither.
  tasks::TasksAtHand tasks_at_hand();
  tasks::NamedTasks tasks();
  // Says what is wrong if the store belongs to another study, its runs come from elsewhere, or a task is not the one
  // that they learned.
  void check_fits(const StoredStudy& study, const Origin& origin,
                  const std::map<std::string, experiments::TaskFacts>& tasks);
  // Tasks must stay what they were: runs of different functions under one name cannot be told apart.
  void check_tasks(const std::map<std::string, experiments::TaskFacts>& tasks);

  // The runs that have results.
  RunSet finished();
  // All or none of them. A run that is there already stays as it is. Nothing is chosen any more. From any thread.
  void add(std::span<const experiments::FinishedRun> runs);
  // The same of runs that another machine has trained: see number_of().
  void add(std::span<const experiments::FinishedRun> runs, std::int64_t origin);
  // What selection chose in the snapshot under study, when `finished` runs had results; if others have come since then,
  // nothing is chosen.
  void keep_choices(const std::vector<ChosenRun>& chosen, const std::string& snapshot, std::size_t finished);
  // Ends all use of the store: everything lies in the one file.
  void close();
  // Whether the folder was deleted or moved meanwhile. What is in the store can then still be copied into another one.
  bool has_moved() const { return database_.has_moved(); }
  void copy_to(const std::string& folder);

  // The runs that have results, in their snapshot of that name, or in their only one.
  ResultTable results(const std::string& snapshot);
  // All measures of one run.
  std::map<std::string, experiments::Numbers> snapshots(const std::string& id);
  // A run by its name, to be carried out again.
  std::optional<experiments::Run> run(const std::string& id);
  std::optional<std::string> blob(const std::string& id, const std::string& name);

  // The number of an origin here; it is there from now on.
  std::int64_t number_of(const Origin& origin);

  // For merging, in store_rows.cc: what it has of its runs, unread.
  std::int64_t schema() { return version(); }
  std::vector<std::string> measures() { return result_columns(); }
  std::vector<std::string> settings();  // that some run has
  std::vector<Origin> all_origins();    // by their numbers from 1, also of no runs
  RunRowsReader rows(const std::vector<std::string>& measures, const std::string& only = "");
  // Makes room for such runs.
  void expect(const std::vector<std::string>& measures, const std::vector<std::string>& settings);
  // Runs that it does not have yet, all or none.
  void add_rows(std::span<const RunRows> runs, const std::vector<std::string>& measures);
  const std::string& path() const { return path_; }

 private:
  Store(std::string path, io::Database database) : path_(std::move(path)), database_(std::move(database)) {}
  bool is_empty();
  std::int64_t version();
  void check_kind();
  std::string folder() const;
  void read_study();
  void write_study(const StoredStudy& study);
  void write_task(const experiments::TaskFacts& task);
  std::map<std::string, tasks::TaskText> task_texts();
  tasks::TaskSuite stored_task(const std::string& name, const tasks::TaskText& text) const;
  std::vector<std::string> result_columns();
  void make_views();

  std::string path_;
  io::Database database_;
  StoredStudy study_;
  std::int64_t origin_ = 0;       // of the runs that are added
  std::size_t result_count_ = 0;  // columns that the views have, as far as this process knows
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

}  // namespace modlab::studies
