#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/population.h"
#include "models/settings.h"
#include "studies/findings.h"
#include "studies/store.h"
#include "studies/study.h"
#include "studies/study_plan.h"
#include "temporary_folder.h"

namespace modlab::test {

// The result of a training that never happened.
inline studies::RunResult made_up(double train, double validation, double test, int best_epoch = 1) {
  studies::RunResult result;
  for (studies::SnapshotResult* snapshot : {&result.best, &result.last}) {
    snapshot->epoch = best_epoch;
    snapshot->parts[0] = {train, train, 0.1};
    snapshot->parts[1] = {validation, validation, 0.2};
    snapshot->parts[2] = {test, test, 0.3};
  }
  return result;
}

inline studies::FinishedRun finished(const studies::StudyPlan& plan, const studies::PlannedRun& run,
                                     const studies::RunResult& result) {
  studies::FinishedRun row;
  row.id = run.id;
  row.settings = models::settings_json(run.spec).dump();
  row.result = result;
  row.result.rows = models::part_rows(run.spec, plan.suite_of(run.spec));
  return row;
}

// A study whose results are made up, in a store of its own.
class MadeUpStudy {
 public:
  using Training = std::function<std::optional<studies::RunResult>(const studies::PlannedRun&)>;

  explicit MadeUpStudy(const std::string& yaml, const std::string& preset = "")
      : study(studies::parse_study(yaml, "made-up", "made-up.yaml")),
        plan(studies::plan_study(study, preset)),
        store(studies::Store::open_or_create(folder.file("out"),
                                             {study.name, yaml, study.source, preset, {}, "a machine"})) {}

  // Runs without a result stay missing.
  MadeUpStudy& train(const Training& training) {
    std::vector<studies::FinishedRun> rows;
    for (const studies::PlannedRun& run : plan.runs) {
      if (const std::optional<studies::RunResult> result = training(run); result) {
        rows.push_back(finished(plan, run, *result));
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
