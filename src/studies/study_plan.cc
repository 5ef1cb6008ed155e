#include "studies/study_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <unordered_set>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::studies {
namespace {

using experiments::Run;
using settings::Given;
using settings::Setting;

// A plan takes about 200 bytes a run, and what is done with it as much again.
constexpr std::size_t kMaxRuns = 5'000'000;
constexpr double kBytesOfPlan = 400;
// Of the results of a run, without curves and weights.
constexpr double kBytesOfResults = 900;

void merge(std::vector<Choices>& parameters, const std::vector<Choices>& above) {
  for (const Choices& choice : above) {
    const auto found = std::ranges::find(parameters, choice.name, &Choices::name);
    if (found != parameters.end()) {
      *found = choice;
    } else {
      parameters.push_back(choice);
    }
  }
}

// In the order in which a reader would list them: by the list of settings, splits and seeds varying fastest.
void sort_parameters(std::vector<Choices>& parameters) {
  const std::vector<std::string> names = experiments::setting_names();
  const auto rank = [&](const Choices& choice) {
    const Setting::Role role = experiments::find_setting(choice.name)->role;
    const int fast = role == Setting::Role::kSeed ? 2 : role == Setting::Role::kSplit ? 1 : 0;
    return std::pair(fast, std::ranges::find(names, choice.name) - names.begin());
  };
  std::ranges::stable_sort(parameters, {}, rank);
}

// The part of a grid that has one kind: task and model, and what else means something to such runs.
struct Patch {
  const experiments::Experiment* kind = nullptr;
  Given chosen;                     // what chooses the kind, and which settings it has
  std::vector<Choices> cells;       // what makes one run differ from another
  std::vector<Choices> replicates;  // splits and seeds

  std::size_t size() const {
    std::size_t count = 1;
    for (const std::vector<Choices>* list : {&cells, &replicates}) {
      for (const Choices& choice : *list) {
        if (choice.values.size() > std::numeric_limits<std::size_t>::max() / count) {
          return std::numeric_limits<std::size_t>::max();
        }
        count *= choice.values.size();
      }
    }
    return count;
  }
};

// Calls `visit` with every combination of values, the last list varying fastest.
template <typename Visit>
void for_each_combination(const std::vector<Choices>& choices, const Visit& visit) {
  std::vector<std::size_t> at(choices.size(), 0);
  if (std::ranges::any_of(choices, [](const Choices& choice) { return choice.values.empty(); })) {
    return;
  }
  while (true) {
    visit(at);
    std::size_t choice = choices.size();
    while (choice > 0 && ++at[choice - 1] == choices[choice - 1].values.size()) {
      at[--choice] = 0;
    }
    if (choice == 0) {
      return;
    }
  }
}

// `parameters` are sorted: what chooses the kind comes first.
std::vector<Patch> patches_of(const std::vector<Choices>& parameters) {
  std::vector<Choices> choosers;
  for (const Choices& choice : parameters) {
    if (experiments::find_setting(choice.name)->chooses()) {
      choosers.push_back(choice);
    }
  }
  std::vector<Patch> patches;
  for_each_combination(choosers, [&](const std::vector<std::size_t>& at) {
    Patch patch;
    for (std::size_t choice = 0; choice < choosers.size(); ++choice) {
      patch.chosen[choosers[choice].name] = choosers[choice].values[at[choice]];
    }
    patch.kind = &experiments::kind_for(patch.chosen);
    const std::vector<const Setting*> own = patch.kind->settings_for(patch.chosen);
    for (const Choices& choice : parameters) {
      const auto found = std::ranges::find(own, choice.name, &Setting::name);
      if (found != own.end() && !(*found)->chooses()) {
        ((*found)->is_replicate() ? patch.replicates : patch.cells).push_back(choice);
      }
    }
    patches.push_back(std::move(patch));
  });
  return patches;
}

std::size_t total_size(const std::vector<Patch>& patches) {
  std::size_t total = 0;
  for (const Patch& patch : patches) {
    total = std::max(total, total + patch.size());  // not beyond the largest number there is
  }
  return total;
}

void check_size(std::size_t runs) {
  if (runs > kMaxRuns) {
    throw ConfigError(fmt::format(
        "these settings multiply to {} runs, which need {:.0f} GB of memory to plan and {:.0f} GB of disk for their "
        "results; at most {} can be planned at once, so split them up",
        runs, static_cast<double>(runs) * kBytesOfPlan / 1e9, static_cast<double>(runs) * kBytesOfResults / 1e9,
        kMaxRuns));
  }
}

// "task depth2, model dense, lr 0.1": the cell that a mistake is about.
std::string cell_text(const std::vector<Choices>& parameters, const Given& given) {
  std::vector<std::string> parts;
  for (const Choices& choice : parameters) {
    const auto found = given.find(choice.name);
    if (found != given.end() && (choice.values.size() > 1 || experiments::find_setting(choice.name)->chooses())) {
      parts.push_back(choice.name + " " + found->second);
    }
  }
  return join_text(parts, ", ");
}

// Replicates as values, read once for all cells.
struct Replicates {
  std::vector<std::vector<nlohmann::json>> values;  // [setting][value]

  Replicates(const Patch& patch) {
    for (const Choices& choice : patch.replicates) {
      const auto setting = std::ranges::find(patch.kind->settings(), choice.name, &Setting::name);
      std::vector<nlohmann::json>& list = values.emplace_back();
      for (const std::string& text : choice.values) {
        list.push_back(setting->read(text));
      }
    }
  }
};

using TakeRun = std::function<void(Run&& run)>;

// All runs of a patch. Its cells are resolved once each: splits and seeds change nothing in that.
void expand(const Patch& patch, const std::vector<Choices>& parameters, const std::string& heading,
            const TakeRun& take) {
  const Replicates replicates(patch);
  for_each_combination(patch.cells, [&](const std::vector<std::size_t>& at) {
    Given given = patch.chosen;
    for (std::size_t choice = 0; choice < patch.cells.size(); ++choice) {
      given[patch.cells[choice].name] = patch.cells[choice].values[at[choice]];
    }
    settings::Values cell;
    try {
      cell = patch.kind->resolve(given);
    } catch (const ConfigError& error) {
      if (heading.empty()) {
        throw;
      }
      throw ConfigError(fmt::format("{}, the cell {}: {}", heading, cell_text(parameters, given), error.what()));
    }
    const settings::RunNames names(*cell.row(), patch.kind->name_defaults());
    std::vector<std::uint32_t> places;
    for (const Choices& choice : patch.replicates) {
      places.push_back(static_cast<std::uint32_t>(cell.place(choice.name).value()));
    }
    for_each_combination(patch.replicates, [&](const std::vector<std::size_t>& of) {
      std::vector<std::pair<std::uint32_t, nlohmann::json>> own;
      own.reserve(places.size());
      for (std::size_t replicate = 0; replicate < places.size(); ++replicate) {
        own.emplace_back(places[replicate], replicates.values[replicate][of[replicate]]);
      }
      Run run{patch.kind, cell.with(std::move(own)), 0};
      run.number = names.number(run.values);
      take(std::move(run));
    });
  });
}

}  // namespace

std::vector<std::uint64_t> run_numbers(const StudyPlan& plan, const Shard& shard) {
  std::vector<std::uint64_t> numbers;
  for (const Run& run : runs_of(shard, missing_runs(plan, {}))) {
    numbers.push_back(run.number);
  }
  return numbers;
}

std::vector<std::string> fact_names() {
  std::vector<std::string> names;
  for (const experiments::Experiment* kind : experiments::all()) {
    for (const Setting& setting : kind->settings()) {
      if (setting.role == Setting::Role::kFact && std::ranges::find(names, setting.name) == names.end()) {
        names.push_back(setting.name);
      }
    }
  }
  return names;
}

const Preset* find_preset(const Study& study, const std::string& name) {
  if (name.empty()) {
    return nullptr;
  }
  const auto found = std::ranges::find(study.presets, name, &Preset::name);
  if (found == study.presets.end()) {
    std::vector<std::string> known;
    for (const Preset& preset : study.presets) {
      known.push_back(preset.name);
    }
    throw ConfigError(known.empty() ? fmt::format("the study {} has no presets; leave --preset out", study.name)
                                    : fmt::format("the study {} has no preset '{}'; it has {}", study.name, name,
                                                  join_text(known, ", ")));
  }
  return &*found;
}

std::string StudyPlan::value(const PlannedRun& run, const std::string& axis) const {
  return axis == "series" ? series[run.series] : run.run.values.text(axis);
}

bool StudyPlan::varies(const std::string& axis) const {
  std::optional<std::string> first;
  return std::ranges::any_of(runs, [&](const PlannedRun& run) {
    const std::string here = value(run, axis);
    first = first || here.empty() ? first : std::optional(here);
    return first && !here.empty() && here != *first;
  });
}

std::map<std::string, experiments::TaskFacts> StudyPlan::tasks() const {
  std::map<std::string, experiments::TaskFacts> facts;
  const settings::Values::Row* last = nullptr;
  std::set<std::pair<const experiments::Experiment*, std::string>> seen;
  for (const PlannedRun& run : runs) {
    if (run.run.values.row() == last) {
      continue;
    }
    last = run.run.values.row();
    const std::string task = run.run.values.text("task");
    if (task.empty() || !seen.emplace(run.run.kind, task).second) {
      continue;
    }
    if (std::optional<experiments::TaskFacts> found = run.run.kind->task_facts(task)) {
      const auto [place, is_new] = facts.emplace(task, *found);
      // A kind may know more of a task than another.
      if (!is_new && place->second.page.value("picture", nlohmann::ordered_json()).is_null()) {
        place->second = std::move(*found);
      }
    }
  }
  return facts;
}

tasks::FileFacts StudyPlan::file_facts() const {
  tasks::FileFacts facts;
  const settings::Values::Row* last = nullptr;
  for (const PlannedRun& run : runs) {
    if (run.run.values.row() != last) {
      last = run.run.values.row();
      facts.merge(run.run.kind->file_facts(run.run.values));
    }
  }
  return facts;
}

namespace {

// What the file, the grid and the preset say together.
std::vector<Choices> merged_parameters(const Study& study, const Grid& grid, const Preset* preset) {
  std::vector<Choices> parameters = study.parameters;
  merge(parameters, grid.parameters);
  if (preset != nullptr) {
    merge(parameters, preset->parameters);
    if (const auto own = preset->series.find(grid.series); own != preset->series.end()) {
      merge(parameters, own->second);
    }
  }
  sort_parameters(parameters);
  return parameters;
}

}  // namespace

std::vector<Grid> preset_grids(const Study& study, const std::string& preset_name) {
  const Preset* preset = find_preset(study, preset_name);
  std::vector<Grid> grids;
  for (const Grid& grid : study.grids) {
    if (preset != nullptr && std::ranges::find(preset->without, grid.series) != preset->without.end()) {
      continue;
    }
    grids.push_back({grid.series, merged_parameters(study, grid, preset)});
  }
  return grids;
}

StudyPlan plan_study(const Study& study, const std::string& preset_name) {
  const Preset* preset = find_preset(study, preset_name);
  StudyPlan plan;
  plan.keep = preset != nullptr && preset->keep ? *preset->keep : study.keep;
  const std::size_t count = count_runs(study, preset_name);
  check_size(count);
  plan.runs.reserve(count);
  std::unordered_set<std::uint64_t> seen(count);  // run and series
  std::set<const experiments::Experiment*> used;
  for (const Grid& grid : preset_grids(study, preset_name)) {
    for (const Choices& choice : grid.parameters) {
      if (std::ranges::find(plan.axes, choice.name) == plan.axes.end()) {
        plan.axes.push_back(choice.name);
      }
    }
    for (const Patch& patch : patches_of(grid.parameters)) {
      used.insert(patch.kind);
      const settings::Values::Row* last = nullptr;
      std::size_t series = 0;
      expand(patch, grid.parameters, "study " + study.name, [&](Run&& run) {
        if (run.values.row() != last) {
          last = run.values.row();
          const std::string name = grid.series.empty() ? run.values.text("model") : grid.series;
          const auto found = std::ranges::find(plan.series, name);
          series = static_cast<std::size_t>(found - plan.series.begin());
          if (found == plan.series.end()) {
            plan.series.push_back(name);
          }
        }
        // Series are few, and numbers are spread evenly over all there are.
        constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15ULL;
        if (seen.insert(run.number ^ (kSpread * (series + 1))).second) {
          plan.runs.push_back({series, std::move(run)});
        }
      });
    }
  }
  std::ranges::copy_if(experiments::all(), std::back_inserter(plan.kinds),
                       [&](const experiments::Experiment* kind) { return used.contains(kind); });
  return plan;
}

std::vector<Run> all_combinations(std::vector<Choices> choices) {
  sort_parameters(choices);
  const std::vector<Patch> patches = patches_of(choices);
  check_size(total_size(patches));
  std::unordered_set<std::uint64_t> seen;
  std::vector<Run> runs;
  for (const Patch& patch : patches) {
    expand(patch, choices, "", [&](Run&& run) {
      if (seen.insert(run.number).second) {
        runs.push_back(std::move(run));
      }
    });
  }
  return runs;
}

std::set<std::string> settings_used(const Study& study, const Grid& grid) {
  std::vector<const Preset*> presets = {nullptr};
  std::ranges::transform(study.presets, std::back_inserter(presets), [](const Preset& preset) { return &preset; });
  std::set<std::string> names;
  for (const Preset* preset : presets) {
    for (const Patch& patch : patches_of(merged_parameters(study, grid, preset))) {
      for (const Setting* setting : patch.kind->settings_for(patch.chosen)) {
        names.insert(setting->name);
      }
    }
  }
  return names;
}

std::size_t count_runs(const Study& study, const std::string& preset_name) {
  std::size_t total = 0;
  for (const Grid& grid : preset_grids(study, preset_name)) {
    total = std::max(total, total + total_size(patches_of(grid.parameters)));
  }
  return total;
}

std::size_t different_runs(const StudyPlan& plan) {
  RunSet runs(plan.runs.size());
  for (const PlannedRun& run : plan.runs) {
    runs.insert(run.number());
  }
  return runs.size();
}

std::vector<Run> missing_runs(const StudyPlan& plan, const RunSet& finished) {
  RunSet seen(plan.runs.size());
  std::vector<Run> missing;
  for (const PlannedRun& run : plan.runs) {
    if (!finished.contains(run.number()) && seen.insert(run.number()).second) {
      missing.push_back(run.run);
    }
  }
  return missing;
}

}  // namespace modlab::studies
