#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "studies/study_lock.h"
#include "studies/workbench.h"

namespace modlab::studies {

// Stores of parts of one study, put together into one. What is there already stays, so that a merge that was stopped or
// killed goes on when it is asked for again.
class StudyMerge {
 public:
  struct Source {
    std::string folder;
    Shard shard;
    RunSet runs;  // finished
  };

  // Checks that everything fits and that runs which two stores have are the same to the bit; throws ConfigError if not,
  // and has changed nothing.
  StudyMerge(const std::string& folder, const std::vector<std::string>& sources);
  ~StudyMerge();
  StudyMerge(const StudyMerge&) = delete;
  StudyMerge& operator=(const StudyMerge&) = delete;

  // Copies what the folder does not have yet, a block of runs in one transaction.
  void execute();
  // The next two from any thread.
  experiments::Status status(double seconds) const;
  void stop() { stopped_ = true; }
  bool is_stopped() const { return stopped_; }

  const std::vector<Source>& sources() const { return sources_; }
  std::size_t copied() const { return copied_; }
  std::size_t to_copy() const { return to_copy_; }
  const StudyPlan& plan() const { return opened_->plan(); }
  const Study& study() const { return opened_->study(); }
  const std::string& folder() const { return folder_; }
  Store& store() { return *store_; }
  // Runs of the study that no store has.
  std::vector<experiments::Run> missing();
  // What was found; from now on the store says which runs were chosen.
  const Findings& finish();

 private:
  void check_fits(Store& other, const std::string& folder);
  static void check_equal(const std::string& folder, const std::string& other_folder, const RunSet& shared);
  void copy(Store& from, const RunSet& wanted, const std::vector<std::string>& measures);

  std::string folder_;
  std::vector<Source> sources_;
  std::unique_ptr<OpenedStudy> opened_;  // the first source, whose words count
  std::vector<RunSet> wanted_;           // by source: what is copied from it
  std::optional<StudyLock> lock_;
  std::optional<Store> store_;
  std::optional<Findings> findings_;
  std::size_t to_copy_ = 0;
  std::atomic<std::size_t> copied_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace modlab::studies
