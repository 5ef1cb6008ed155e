#include "experiments/sculpt/sculpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/errors.h"
#include "core/text.h"
#include "core/thread_seconds.h"
#include "experiments/sculpt/given_networks.h"
#include "experiments/sculpt/sculpt_measures.h"
#include "experiments/sculpt/trial_record.h"
#include "experiments/sculpt/trials.h"
#include "experiments/task_facts.h"
#include "methods/sculpt/sculpt_settings.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using methods::SculptRun;

// Runs that differ only in how modules are looked for share one training and pruning.
class SculptWork : public Work {
 public:
  SculptWork(const Experiment& kind, std::span<const Run> runs, Resources resources)
      : runs_(runs), resources_(std::move(resources)) {
    std::unordered_map<std::uint64_t, std::size_t> known;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const auto [found, is_new] = known.emplace(kind.share_key(runs[run]), trials_.size());
      if (is_new) {
        trials_.push_back(sculpt_run(runs[run].values));
        runs_of_.emplace_back();
      }
      runs_of_[found->second].push_back(run);
    }
  }

  // Trials by what a pass over their table costs, cut into strata of which the middle one speaks for all.
  double estimate_seconds() override {
    constexpr std::size_t kStrata = 5;
    std::vector<std::pair<double, const SculptRun*>> by_cost;
    for (const SculptRun& trial : trials_) {
      by_cost.emplace_back(trial_effort(trial), &trial);
    }
    std::ranges::sort(by_cost, {}, [](const auto& pair) { return pair.first; });
    const std::size_t strata = std::min(kStrata, by_cost.size());
    double total = 0;
    for (std::size_t stratum = 0; stratum < strata; ++stratum) {
      const std::size_t first = stratum * by_cost.size() / strata;
      const std::size_t last = (stratum + 1) * by_cost.size() / strata;
      methods::SculptProgress progress;
      const double begin = thread_seconds();
      methods::sculpt_networks(std::span(by_cost[(first + last) / 2].second, 1), 1, *resources_.kernels, progress,
                               [](std::size_t, const methods::SculptResult&) {});
      total += static_cast<double>(last - first) * (thread_seconds() - begin);
    }
    return total / resources_.threads;
  }

  void execute(const Sink& sink) override {
    methods::sculpt_networks(
        trials_, resources_.threads, *resources_.kernels, progress_,
        [&](std::size_t trial, const methods::SculptResult& outcome) {
          const auto suite = tasks::cached_task(trials_[trial].task);
          std::vector<FinishedRun> finished;
          for (const std::size_t run : runs_of_[trial]) {
            finished.push_back(
                {&runs_[run], record_trial(runs_[run], sculpt_run(runs_[run].values), suite->tasks.front(), outcome)});
          }
          sink(std::move(finished));
        });
  }

  Status status(double /*seconds*/) const override { return trials_status(progress_, trials_.size()); }
  void stop() override { progress_.engine.stop = true; }

 private:
  std::span<const Run> runs_;
  Resources resources_;
  std::vector<SculptRun> trials_;
  std::vector<std::vector<std::size_t>> runs_of_;  // [trial]
  methods::SculptProgress progress_;
};

class Sculpt : public Experiment {
 public:
  std::string_view name() const override { return "sculpt"; }
  std::string_view title() const override { return "Networks that are pruned (model sculpted)"; }
  std::span<const settings::Setting> settings() const override { return methods::sculpt_settings().settings(); }
  std::span<const Measure> measures() const override { return sculpt_measures(); }
  Parts parts() const override { return {"true_modules", "accuracy", "", "", "trainings"}; }
  std::vector<Column> columns() const override {
    return {{"true modules %", "true_modules", Column::Show::kMeanAndError},
            {"edges", "edges", Column::Show::kMean},
            {"learned %", "learned", Column::Show::kMean}};
  }
  std::string footnote(std::span<const Run> /*runs*/) const override {
    return "Tied networks with the true modules; `modlab sculpt` says more of each.";
  }
  std::string table_title() const override {
    return "Tied networks with the true modules in %, mean over trials ± standard error";
  }
  std::vector<std::string> models() const override { return {methods::kSculptedModel}; }
  std::vector<const settings::Setting*> settings_for(const Given& /*given*/) const override {
    return methods::sculpt_settings().settings_for(methods::published_sculpt_run());
  }
  Values resolve(const Given& given) const override {
    SculptRun run = methods::published_sculpt_run();
    methods::sculpt_settings().apply(given, run);
    return methods::sculpt_settings().values(methods::resolve(run, *tasks::cached_task(run.task)));
  }
  std::map<std::string, nlohmann::json> defaults() const override {
    return methods::sculpt_settings().by_name(methods::published_sculpt_run());
  }
  const std::map<std::string, nlohmann::json>& name_defaults() const override {
    static const std::map<std::string, nlohmann::json> kDefaults = [] {
      auto defaults = methods::sculpt_settings().by_name(SculptRun{});
      defaults.erase("model");  // which no other kind of run leaves out either
      return defaults;
    }();
    return kDefaults;
  }
  std::uint64_t share_key(const Run& run) const override {
    SculptRun spec = sculpt_run(run.values);
    spec.detect = {};
    return *settings::id_number(methods::sculpt_settings().id(spec));
  }
  double effort(const Run& run) const override { return trial_effort(sculpt_run(run.values)); }
  std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                const Wanted& /*wanted*/) const override {
    return std::make_unique<SculptWork>(*this, runs, resources);
  }
  std::unique_ptr<Work> judge(std::span<const Run> runs, const std::vector<std::string>& files) const override {
    return judge_given(runs, files);
  }
  std::optional<TaskFacts> task_facts(const std::string& task) const override { return facts_of_task(task, true); }
  void upgrade(const Values& /*values*/, Result& result) const override { upgrade_trial(result); }
};

}  // namespace

std::string sculpt_id(const SculptRun& run) {
  const Values values = methods::sculpt_settings().values(run);
  return settings::id_text(settings::RunNames(*values.row(), sculpt().name_defaults()).number(values));
}

const Experiment& sculpt() {
  static const Sculpt kKind;
  return kKind;
}

SculptRun sculpt_run(const Values& values) {
  SculptRun run = methods::published_sculpt_run();
  methods::sculpt_settings().read(values, run);
  return run;
}

}  // namespace modlab::experiments
