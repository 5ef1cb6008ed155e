#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/batch.h"
#include "studies/findings.h"
#include "studies/store.h"
#include "studies/study_lock.h"
#include "studies/study_plan.h"

// What the program and other front ends do with studies.
namespace modlab::studies {

// What a study trains, with everything that was said about it: "lr=0.1", "series=dense".
Study study_with(const std::string& name_or_path, const std::vector<std::string>& overrides);

// A study to run: its file, a preset of it, and where the results go. While it lives, the names of its tasks mean those
// that it names: files are looked for beside its own.
struct StudyRequest {
  Study study;
  std::string preset;
  std::string folder;
  std::vector<std::string> overrides;
  tasks::TasksAtHand tasks;
  Shard shard = {};  // the part of it that is to be run
};
// An empty preset is the study's own, an empty folder results/STUDY-PRESET, or of a part results/STUDY-PRESET-PART.
// Throws ConfigError.
StudyRequest make_request(const std::string& name_or_path, const std::vector<std::string>& overrides,
                          const std::string& preset, const std::string& folder, const Shard& shard = {});

// The same for a study that is no file, and with tasks that are none: what it names and `given` has is that.
StudyRequest make_request(Study study, const tasks::NamedTasks& given, const std::vector<std::string>& overrides,
                          const std::string& preset, const std::string& folder, const Shard& shard = {});

// The runs that the store of a folder has; none where there is no store.
RunSet finished_in(const std::string& folder);

// A study on its way into its store.
class StudyInWork {
 public:
  // Plans and opens the store, or makes it. With `network_files` networks of others take the place of runs, and nothing
  // is trained. If the study cannot be run there, or another process is at it, it throws and has changed nothing.
  StudyInWork(const StudyRequest& request, const experiments::Resources& resources,
              const std::vector<std::string>& network_files = {});
  // However it ends, the store is left as one file.
  ~StudyInWork();
  StudyInWork(const StudyInWork&) = delete;
  StudyInWork& operator=(const StudyInWork&) = delete;

  const StudyPlan& plan() const { return plan_; }
  Store& store() { return *store_; }
  // Where the folder held the study in another form: what differs, and what becomes of the runs; otherwise empty.
  const std::string& changes() const { return changes_; }
  // What `modlab study status` says of this process besides.
  void note_who_trains(const std::string& what) { lock_->note(what); }
  // How many runs the study has, or the part of it that is run.
  std::size_t planned() const { return planned_; }
  // What is still to do: nothing, one batch, or what is left of it after execute() was stopped.
  std::size_t missing();
  Batch& batch() { return *batch_; }
  // Carries out what is missing; finished runs are committed as they finish. If the folder is deleted or moved
  // meanwhile, a notice says so at the next commit, and everything goes to another one beside it.
  void execute();
  // Runs that were carried out otherwise, committed the same way. From any thread; `origin` as Store numbers them.
  void take(std::span<const experiments::FinishedRun> finished, std::optional<std::int64_t> origin = std::nullopt);
  // What was found; from now on the store says which runs were chosen.
  const Findings& finish();
  const std::string& folder() const { return folder_; }

 private:
  void leave_if_moved();

  std::string folder_;
  std::optional<StudyLock> lock_;
  StudyRequest request_;
  tasks::TasksAtHand tasks_;
  Origin origin_;
  StudyPlan plan_;
  std::size_t planned_ = 0;
  std::string changes_;
  std::optional<Batch> batch_;
  std::optional<Store> store_;
  std::optional<Findings> findings_;
  std::mutex mutex_;
};

// The machine that runs come from, in words.
std::string machine_text(const experiments::Resources& resources);

// Writes into the store which runs were chosen.
void keep_choices(const Findings& findings, Store& store);

// A study as its folder has it: read again from the store, planned again, and what it has found. Needs no other file.
class OpenedStudy {
 public:
  explicit OpenedStudy(const std::string& folder);
  OpenedStudy(const OpenedStudy&) = delete;
  OpenedStudy& operator=(const OpenedStudy&) = delete;

  Store& store() { return store_; }
  const Study& study() const { return study_; }
  const StudyPlan& plan() const { return plan_; }
  // Reads all results at the first call.
  const Findings& findings();
  // How many finished runs the store has besides those of the study as it is now.
  std::size_t other_runs();

 private:
  Store store_;
  tasks::TasksAtHand tasks_;
  Study study_;
  StudyPlan plan_;
  std::optional<Findings> findings_;
};

// Runs of a folder's store by their names, to be carried out again, with the tasks that they name.
struct StoredRuns {
  tasks::TasksAtHand tasks;
  std::vector<experiments::Run> runs;
};
// Throws ConfigError if there is no such run.
StoredRuns stored_runs(const std::string& folder, const std::vector<std::string>& ids);

}  // namespace modlab::studies
