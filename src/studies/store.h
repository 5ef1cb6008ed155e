#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/sqlite.h"
#include "measures/network_measures.h"
#include "models/blueprint.h"
#include "models/population.h"
#include "studies/study.h"

namespace modlab::studies {

// Results of one part of the data, in percent.
struct PartResult {
  double accuracy = 0;
  double row_accuracy = 0;
  double loss = 0;
};

// What a network was after one epoch.
struct SnapshotResult {
  int epoch = 0;
  PartResult parts[engine::kScoreParts];
  measures::NetworkMeasures measures;
  std::vector<std::array<PartResult, engine::kParts>> tasks;  // where there are several
};

struct RunResult {
  SnapshotResult best;
  SnapshotResult last;
  bool diverged = false;
  double seconds = 0;  // of one thread
  models::PartRows rows;
  std::map<std::string, double> sculpted;  // of sculpted networks: methods::trial_measures

  const SnapshotResult& at(SnapshotKind kind) const { return kind == SnapshotKind::kBest ? best : last; }
};

// A run ready to be written.
struct FinishedRun {
  std::string id;
  std::string settings;  // as JSON
  RunResult result;
  std::string curve;                           // encoded; empty: not kept
  std::map<std::string, std::string> weights;  // by snapshot name, compressed
  std::map<std::string, std::string> details;  // on images: by snapshot name, JSON
  std::string sculpt_details;                  // of sculpted networks: JSON
};

// Which study a store belongs to: enough to plan it again.
struct StoredStudy {
  std::string name;
  std::string text;    // YAML
  std::string source;  // where it came from, for messages
  std::string preset;
  std::vector<std::string> overrides;
  std::string machine;  // that trained it; given_machine() where networks came from files

  bool holds_given() const;
};
// A store holds networks that were trained here or that were given, never both.
std::string given_machine(const std::string& files);

// The results of a study: one SQLite file in a folder, written so that a process may die at any moment. docs/formats.md
// describes the tables. Throws FormatError with the path and the way out.
class Store {
 public:
  // Opens the store of a folder for reading.
  static Store open(const std::string& folder);
  // Opens it for writing, or makes it. Says what is wrong if the store belongs to another study.
  static Store open_or_create(const std::string& folder, const StoredStudy& study);
  static bool exists(const std::string& folder);

  const StoredStudy& study() const { return study_; }
  // A task must stay what it was: runs of different functions under one name cannot be told apart.
  void check_task(const std::string& name, const tasks::TaskSuite& suite);
  // The same, and from now on it is known.
  void keep_task(const std::string& name, const tasks::TaskSuite& suite);

  std::unordered_set<std::string> finished();
  // All or none of them. A run that is there already stays as it is.
  void add(std::span<const FinishedRun> runs);
  // Ends writing: everything lies in the one file.
  void close();

  std::unordered_map<std::string, RunResult> results();
  // As JSON.
  std::optional<std::string> settings(const std::string& id);
  std::optional<std::string> curve(const std::string& id);
  std::optional<std::string> weights(const std::string& id, const std::string& snapshot);
  // On images: what docs/formats.md says of image_details, as JSON.
  std::optional<std::string> details(const std::string& id, const std::string& snapshot);
  // Of sculpted networks: what docs/formats.md says of the table `sculpted`, as JSON.
  std::optional<std::string> sculpt_details(const std::string& id);
  const std::string& path() const { return database_.path(); }

 private:
  Store(const std::string& folder, io::Database::Mode mode);
  bool is_empty();
  void make_tables();
  // Brings the tables of an older store up to date.
  void upgrade();
  std::int64_t version();
  void check_kind();
  // That this is a store, and of that study.
  void check_study(const std::string& folder, const StoredStudy& study);
  void read_study();
  void write_study(const StoredStudy& study);

  io::Database database_;
  StoredStudy study_;
};

}  // namespace modlab::studies
