#include "methods/sculpt/sculpt.h"

#include <optional>
#include <vector>

#include "methods/sculpt/epoch_search.h"
#include "methods/sculpt/sculpt_settings.h"
#include "tasks/task_cache.h"

namespace modlab::methods {

TrialSettings trial_settings(const SculptRun& run, int epochs, const tasks::TaskSuite& suite) {
  TrialSettings settings;
  settings.recipe = {.task = &suite.tasks.front(),
                     .batch = run.batch_size,
                     .epochs = epochs,
                     .lr = run.lr,
                     .weight_decay = run.weight_decay,
                     .noise = run.noise,
                     .optimizer = run.optimizer,
                     .loss = run.loss,
                     .init = run.init,
                     .checkpoint = run.sculpt.checkpoint};
  settings.hidden = run.hidden;
  settings.sculpt = run.sculpt;
  return settings;
}

namespace {

// The runs of equal settings but for their seeds share them.
struct Trials {
  std::map<std::string, std::shared_ptr<const tasks::TaskSuite>> suites;
  std::map<std::string, TrialSettings> settings;
  std::vector<TrialSpec> specs;  // of each run
};

Trials make_trials(std::span<const SculptRun> runs, const std::vector<int>& epochs) {
  Trials trials;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    SculptRun spec = runs[run];
    spec.seed = 0;
    spec.epochs = epochs[run];
    const std::shared_ptr<const tasks::TaskSuite>& suite =
        trials.suites.try_emplace(spec.task, tasks::cached_task(spec.task)).first->second;
    const auto place =
        trials.settings.try_emplace(sculpt_settings().id(spec), trial_settings(spec, epochs[run], *suite)).first;
    trials.specs.push_back({&place->second, runs[run].seed});
  }
  return trials;
}

// The epochs of each run: as given, or found. Networks that never learn are trained for as long as was searched.
std::vector<int> epochs_of(std::span<const SculptRun> runs, int threads, const engine::Kernels<float>& kernels,
                           engine::Progress& progress) {
  std::vector<int> epochs;
  std::vector<std::size_t> searched;
  std::vector<SculptRun> open;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    epochs.push_back(runs[run].epochs);
    if (runs[run].sculpt.epoch_search) {
      searched.push_back(run);
      open.push_back(runs[run]);
    }
  }
  const Trials trials = make_trials(open, std::vector<int>(open.size(), kLongestSearch));
  const std::vector<std::optional<int>> found = search_epochs(trials.specs, threads, kernels, progress);
  for (std::size_t at = 0; at < searched.size(); ++at) {
    epochs[searched[at]] = found[at].value_or(kLongestSearch);
  }
  return epochs;
}

}  // namespace

void sculpt_networks(std::span<const SculptRun> runs, int threads, const engine::Kernels<float>& kernels,
                     SculptProgress& progress, const SculptSink& sink) {
  const std::vector<int> epochs = epochs_of(runs, threads, kernels, progress.engine);
  const Trials trials = make_trials(runs, epochs);
  sculpt_all(trials.specs, threads, kernels, progress, [&](std::size_t run, TrialOutcome outcome) {
    sink(run, {std::move(outcome), epochs[run]});
  });
}

}  // namespace modlab::methods
