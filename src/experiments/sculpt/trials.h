#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/sculpt.h"

// Trials one by one, with everything that came of them: what `modlab sculpt` does.
namespace modlab::experiments {

// How much work a trial is (Experiment::effort): a thousand trainings or so.
double trial_effort(const methods::SculptRun& trial);

Status trials_status(const methods::SculptProgress& progress, std::size_t trials);

class Trials {
 public:
  explicit Trials(const std::vector<Run>& runs);

  const std::vector<methods::SculptRun>& runs() const { return runs_; }
  const tasks::Task& task_of(std::size_t trial) const { return suites_[trial]->tasks.front(); }
  const tasks::TaskSuite& suite_of(std::size_t trial) const { return *suites_[trial]; }

  void execute(const Resources& resources);
  // The next two from any thread.
  Status status(double /*seconds*/) const { return trials_status(progress_, runs_.size()); }
  void stop() { progress_.engine.stop = true; }

  std::size_t finished() const;
  const methods::SculptResult& result(std::size_t trial) const { return *results_[trial]; }
  std::int64_t trainings() const { return progress_.trainings; }

 private:
  std::vector<methods::SculptRun> runs_;
  std::vector<std::shared_ptr<const tasks::TaskSuite>> suites_;
  std::vector<std::optional<methods::SculptResult>> results_;
  methods::SculptProgress progress_;
};

// What to grow from the history of each trial's first network.
struct BranchRequest {
  std::vector<methods::Branch> branches;
  std::optional<std::size_t> level;  // of the history; none: the last
  std::vector<std::uint64_t> seeds;
};
// What each branch came to, over its seeds: an array.
nlohmann::ordered_json grow_all(const BranchRequest& request, const methods::SculptRun& run, int epochs,
                                const tasks::TaskSuite& suite, const methods::SculptedNetwork& carved,
                                const engine::Kernels<float>& kernels);

}  // namespace modlab::experiments
