#include "methods/sculpt/sculpt.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "core/errors.h"
#include "methods/sculpt/epoch_search.h"

namespace modlab::methods {

TrialSettings trial_settings(const models::RunSpec& run, int epochs, const tasks::TaskSuite& suite) {
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
  std::map<std::string, TrialSettings> settings;
  std::vector<TrialSpec> specs;  // of each run
};

Trials make_trials(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                   const std::vector<int>& epochs) {
  Trials trials;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    models::RunSpec spec = runs[run];
    spec.seed = 0;
    spec.epochs = epochs[run];
    const auto place =
        trials.settings.try_emplace(models::run_id(spec), trial_settings(spec, epochs[run], suites.at(spec.task)))
            .first;
    trials.specs.push_back({&place->second, runs[run].seed});
  }
  return trials;
}

// The epochs of each run: as given, or found. Networks that never learn are trained for as long as was searched.
std::vector<int> epochs_of(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                           int threads, const engine::Kernels<float>& kernels, engine::Progress& progress) {
  std::vector<int> epochs;
  std::vector<std::size_t> searched;
  std::vector<models::RunSpec> open;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    epochs.push_back(runs[run].epochs);
    if (runs[run].sculpt.epoch_search) {
      searched.push_back(run);
      open.push_back(runs[run]);
    }
  }
  const Trials trials = make_trials(open, suites, std::vector<int>(open.size(), kLongestSearch));
  const std::vector<std::optional<int>> found = search_epochs(trials.specs, threads, kernels, progress);
  for (std::size_t at = 0; at < searched.size(); ++at) {
    epochs[searched[at]] = found[at].value_or(kLongestSearch);
  }
  return epochs;
}

}  // namespace

void sculpt_networks(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                     int threads, const engine::Kernels<float>& kernels, SculptProgress& progress,
                     const SculptSink& sink) {
  const std::vector<int> epochs = epochs_of(runs, suites, threads, kernels, progress.engine);
  const Trials trials = make_trials(runs, suites, epochs);
  sculpt_all(trials.specs, threads, kernels, progress, [&](std::size_t run, TrialOutcome outcome) {
    sink(run, {std::move(outcome), epochs[run]});
  });
}

SculptedNetwork carve_again(const models::RunSpec& run, int epochs, const tasks::TaskSuite& suite, double unit_step,
                            double edge_step, const engine::Kernels<float>& kernels) {
  TrialSettings settings = trial_settings(run, epochs, suite);
  settings.sculpt.unit_steps = {unit_step};
  settings.sculpt.edge_steps = {edge_step};
  settings.keep_networks = true;
  const TrialSpec spec{&settings, run.seed};
  SculptProgress progress;
  TrialOutcome outcome;
  sculpt_all(std::span(&spec, 1), 1, kernels, progress,
             [&](std::size_t, TrialOutcome result) { outcome = std::move(result); });
  if (outcome.winners.empty()) {
    throw ConfigError(fmt::format("the network of seed {} does not learn '{}' in {} epochs, so there is none to carve",
                                  run.seed, run.task, epochs));
  }
  return std::move(outcome.winners.front());
}

}  // namespace modlab::methods
