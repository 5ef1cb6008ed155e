#include "experiments/sculpt/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/sculpt/sculpt.h"
#include "methods/detect/criteria.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {

namespace {

constexpr double kTrainingsOfTrial = 1200;

}  // namespace

double trial_effort(const methods::SculptRun& trial) {
  constexpr int kEpochsOfSearch = 10;
  constexpr double kOperations = 6;  // of a weight forward and backward
  const double widest = std::accumulate(trial.hidden.begin(), trial.hidden.end(), 0.0);
  const double rows = 1 << tasks::cached_task(trial.task)->inputs();
  return kOperations * kTrainingsOfTrial * (trial.epochs > 0 ? trial.epochs : kEpochsOfSearch) * widest * widest * rows;
}

Status trials_status(const methods::SculptProgress& progress, std::size_t trials) {
  const int done = progress.trials_done;
  const auto all = static_cast<double>(trials);
  // A trial under way counts by its trainings, of which most have about a thousand.
  const double share = std::min(0.999, static_cast<double>(progress.trainings) / (kTrainingsOfTrial * all));
  return {std::max(share, done / all), fmt::format("{} of {} trials, {} trainings, {} edges left", done, trials,
                                                   progress.trainings.load(), progress.edges_left.load())};
}

Trials::Trials(const std::vector<Run>& runs) : results_(runs.size()) {
  for (const Run& run : runs) {
    runs_.push_back(sculpt_run(run.values));
    suites_.push_back(tasks::cached_task(runs_.back().task));
  }
}

void Trials::execute(const Resources& resources) {
  methods::sculpt_networks(
      runs_, resources.threads, *resources.kernels, progress_,
      [this](std::size_t trial, methods::SculptResult result) { results_[trial] = std::move(result); });
}

std::size_t Trials::finished() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(results_, [](const auto& result) { return result.has_value(); }));
}

nlohmann::ordered_json grow_all(const BranchRequest& request, const methods::SculptRun& run, int epochs,
                                const tasks::TaskSuite& suite, const methods::SculptedNetwork& carved,
                                const engine::Kernels<float>& kernels) {
  const std::vector<const methods::PruneStep*> steps = methods::accepted_steps(carved);
  const std::size_t level = request.level.value_or(steps.size() - 1);
  const std::vector<methods::BranchResult> results =
      methods::grow_branches(run, epochs, suite, carved, level, request.branches, request.seeds, kernels);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const methods::Branch branch : request.branches) {
    int learned = 0;
    int expected = 0;
    double accuracy = 0;
    double edges = 0;
    int count = 0;
    for (const methods::BranchResult& result : results) {
      if (result.branch != branch) {
        continue;
      }
      ++count;
      accuracy += result.accuracy;
      edges += result.network.edge_count();
      learned += result.accuracy >= run.sculpt.threshold ? 1 : 0;
      const methods::Detection detection = methods::detect(methods::to_layered(result.network), run.detect);
      expected += methods::is_success(detection, suite.tasks.front()).value_or(false) ? 1 : 0;
    }
    rows.push_back({{"branch", methods::branch_name(branch)},
                    {"level", level},
                    {"edges_of_level", steps[level]->edges},
                    {"networks", count},
                    {"mean_edges", edges / count},
                    {"mean_accuracy", accuracy / count},
                    {"meet_threshold", learned},
                    {"true_modules", expected},
                    {"same_mask", methods::keeps_mask(branch)}});
  }
  return rows;
}

}  // namespace modlab::experiments
