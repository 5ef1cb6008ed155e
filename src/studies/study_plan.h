#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "models/run_spec.h"
#include "studies/study.h"
#include "tasks/task.h"

namespace modlab::studies {

struct PlannedRun {
  std::size_t series = 0;  // index into StudyPlan::series
  models::RunSpec spec;    // resolved
  std::string id;
  std::vector<std::string> values;  // of StudyPlan::axes; empty text where a setting means nothing to the model
};

// All runs of a study with one preset, in the order of its grids; a run that two series share stands twice, one that
// two grids of a series share once.
struct StudyPlan {
  std::vector<std::string> series;
  std::vector<std::string> axes;  // settings that the grids name
  std::vector<PlannedRun> runs;
  std::map<std::string, tasks::TaskSuite> suites;  // by task name
  Keep keep = Keep::kAll;

  const tasks::TaskSuite& suite_of(const models::RunSpec& spec) const { return suites.at(spec.task); }
  // Whether its networks are pruned as well as trained.
  bool is_sculpted() const { return !runs.empty() && runs.front().spec.is_sculpted(); }
  // Whether runs differ on that one of `axes`.
  bool varies(const std::string& axis) const;
  // What a run has on an axis: "series", the name of a setting, or one of derived_axes().
  std::string value(const PlannedRun& run, const std::string& axis) const;
};

// Throws ConfigError for an unknown preset and for a cell that is impossible, which it names.
StudyPlan plan_study(const Study& study, const std::string& preset);

// How many runs that would be, without making them.
std::size_t count_runs(const Study& study, const std::string& preset);

// The number of different runs in a plan.
std::size_t different_runs(const StudyPlan& plan);

// The runs whose ids are not among `finished`, each once.
std::vector<models::RunSpec> missing_runs(const StudyPlan& plan, const std::unordered_set<std::string>& finished);

// What follows from a run's settings and serves as an axis too: "outputs" of its task, and its "hidden_layers".
std::vector<std::string> derived_axes();

// A setting of a run as axes and selectors write it: "0.1", "3,2", "none".
std::string value_text(const models::Setting& setting, const models::RunSpec& spec);

const Preset* find_preset(const Study& study, const std::string& name);

}  // namespace modlab::studies
