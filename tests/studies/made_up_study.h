#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bits/bits.h"
#include "experiments/images/images.h"
#include "models/population.h"
#include "studies/findings.h"
#include "studies/store.h"
#include "studies/study.h"
#include "studies/study_plan.h"
#include "tasks/task_cache.h"
#include "temporary_folder.h"

namespace modlab::test {

// The settings of a planned run on truth tables.
inline models::RunSpec spec_of(const studies::PlannedRun& run) { return experiments::bit_spec(run.run.values); }

// The result of a training that never happened: what it measured, without what follows from that.
inline experiments::Result made_up(double train, double validation, double test, int best_epoch = 1) {
  experiments::Result result;
  for (const char* snapshot : {"best", "last"}) {
    experiments::Numbers& numbers = result.snapshots[snapshot];
    numbers["best_epoch"] = best_epoch;
    const std::pair<const char*, double> parts[] = {{"train", train}, {"validation", validation}, {"test", test}};
    double loss = 0;
    for (const auto& [part, accuracy] : parts) {
      numbers[std::string(part) + "_accuracy"] = accuracy;
      numbers[std::string(part) + "_row_accuracy"] = accuracy;
      numbers[std::string(part) + "_loss"] = loss += 0.1;
    }
  }
  return result;
}

// The same with everything that follows from it and from the run's settings.
inline experiments::Result completed(const experiments::Run& run, experiments::Result result) {
  const bool on_bits = run.kind == &experiments::bits();
  if (on_bits || run.kind == &experiments::images()) {
    const auto suite = tasks::cached_task(run.values.text("task"));
    const models::PartRows rows = on_bits ? models::part_rows(experiments::bit_spec(run.values), *suite)
                                          : models::part_rows(experiments::image_spec(run.values), *suite);
    for (auto& [snapshot, numbers] : result.snapshots) {
      for (std::size_t part = 0; part < engine::kScoreParts; ++part) {
        if (rows[part] > 0) {
          numbers[std::string(models::part_name(part, rows)) + "_rows"] = rows[part];
        }
      }
    }
  }
  run.kind->upgrade(run.values, result);
  return result;
}

// A study whose results are made up, in a store of its own.
class MadeUpStudy {
 public:
  using Training = std::function<std::optional<experiments::Result>(const studies::PlannedRun&)>;

  explicit MadeUpStudy(const std::string& yaml, const std::string& preset = "")
      : study(studies::parse_study(yaml, "made-up", "made-up.yaml")),
        plan(studies::plan_study(study, preset)),
        store(studies::Store::open_or_create(folder.file("out"), {study.name, yaml, study.source, preset, {}},
                                             {"a machine", ""})) {}

  // Runs without a result stay missing.
  MadeUpStudy& train(const Training& training) {
    std::vector<experiments::FinishedRun> rows;
    for (const studies::PlannedRun& run : plan.runs) {
      if (const std::optional<experiments::Result> result = training(run); result) {
        rows.push_back({&run.run, completed(run.run, *result)});
      }
    }
    store.add(rows);
    return *this;
  }
  studies::Findings findings() { return {study, plan, store}; }
  const std::string& series(const studies::PlannedRun& run) const { return plan.series[run.series]; }

  TemporaryFolder folder;
  studies::Study study;
  studies::StudyPlan plan;
  studies::Store store;
};

}  // namespace modlab::test
