#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "studies/store.h"
#include "studies/study.h"

namespace modlab::studies {

struct PlannedRun {
  std::size_t series = 0;  // index into StudyPlan::series
  experiments::Run run;

  std::uint64_t number() const { return run.number; }
  std::string id() const { return run.id(); }
};

// All runs of a study with one preset, in the order of its grids; a run that two series share stands twice, one that
// two grids of a series share once.
struct StudyPlan {
  std::vector<std::string> series;
  std::vector<std::string> axes;  // settings that the grids name, in the order of the list of settings
  std::vector<PlannedRun> runs;
  std::vector<const experiments::Experiment*> kinds;  // of its runs, in the order of the list of kinds
  Keep keep = Keep::kAll;

  // What a run has on an axis: "series", or the name of a setting or fact; empty where it means nothing to the run.
  std::string value(const PlannedRun& run, const std::string& axis) const;
  // Whether runs that have the axis differ on it.
  bool varies(const std::string& axis) const;
  // Of all tasks of its runs, by name.
  std::map<std::string, experiments::TaskFacts> tasks() const;
  // Of other files that planning looked at.
  tasks::FileFacts file_facts() const;
};

// The grids of a preset, each with the values of all its settings: what the study says, the grid itself, the preset,
// and the preset of its series, each replacing what stands before it. Throws ConfigError for an unknown preset.
std::vector<Grid> preset_grids(const Study& study, const std::string& preset);

// Throws ConfigError for an unknown preset, for a cell that is impossible, which it names, and for more runs than a
// machine can plan.
StudyPlan plan_study(const Study& study, const std::string& preset);

// All combinations of the choices as runs, the last choice varying fastest. Settings that mean nothing to a model do
// not multiply its runs. Throws ConfigError if there are too many, or a value is not allowed.
std::vector<experiments::Run> all_combinations(std::vector<Choices> choices);

// The settings that mean something to some run of a grid, with any preset or none.
std::set<std::string> settings_used(const Study& study, const Grid& grid);

// How many runs a preset has, without making them.
std::size_t count_runs(const Study& study, const std::string& preset);

// The number of different runs in a plan.
std::size_t different_runs(const StudyPlan& plan);

// The runs that are not among `finished`, each once.
std::vector<experiments::Run> missing_runs(const StudyPlan& plan, const RunSet& finished);

// All different runs of a plan, or of a part of it, by their numbers.
std::vector<std::uint64_t> run_numbers(const StudyPlan& plan, const Shard& shard);

// Axes that nobody sets, which follow from a run's settings.
std::vector<std::string> fact_names();

const Preset* find_preset(const Study& study, const std::string& name);

}  // namespace modlab::studies
