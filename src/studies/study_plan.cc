#include "studies/study_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "models/blueprint.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace modlab::studies {
namespace {

using models::Choices;

void merge(std::vector<Choices>& parameters, const std::vector<Choices>& above) {
  for (const Choices& choice : above) {
    const auto found = std::ranges::find(parameters, choice.setting, &Choices::setting);
    if (found != parameters.end()) {
      *found = choice;
    } else {
      parameters.push_back(choice);
    }
  }
}

// In the order in which a reader would list them: by the settings' table, splits and seeds varying fastest.
void sort_parameters(std::vector<Choices>& parameters) {
  const auto rank = [](const Choices& choice) {
    return choice.setting->name == "seed" ? 2 : choice.setting->name == "split_seed" ? 1 : 0;
  };
  std::stable_sort(parameters.begin(), parameters.end(), [&](const Choices& a, const Choices& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.setting < b.setting;
  });
}

// What a grid varies, each level above replacing the one below: the study, the grid, the preset, the preset's words on
// the series.
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

// The grids that a preset does not leave out.
std::vector<const Grid*> grids_of(const Study& study, const Preset* preset) {
  std::vector<const Grid*> grids;
  for (const Grid& grid : study.grids) {
    if (preset == nullptr || std::ranges::find(preset->without, grid.series) == preset->without.end()) {
      grids.push_back(&grid);
    }
  }
  return grids;
}

std::string shown(const models::Setting& setting, const models::RunSpec& spec) {
  return models::applies(setting, spec) ? value_text(setting, spec) : "";
}

std::string cell_text(const std::vector<Choices>& parameters, const models::RunSpec& spec) {
  std::vector<std::string> parts;
  for (const Choices& choice : parameters) {
    if (choice.values.size() > 1 || choice.setting->name == "task" || choice.setting->name == "model") {
      if (const std::string value = shown(*choice.setting, spec); !value.empty()) {
        parts.push_back(choice.setting->name + " " + value);
      }
    }
  }
  return join_text(parts, ", ");
}

}  // namespace

std::vector<std::string> derived_axes() { return {"outputs", "hidden_layers"}; }

std::string value_text(const models::Setting& setting, const models::RunSpec& spec) {
  return models::setting_text(setting.get(spec));
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

bool StudyPlan::varies(const std::string& axis) const {
  const auto found = std::ranges::find(axes, axis);
  if (found == axes.end()) {
    return false;
  }
  const auto at = static_cast<std::size_t>(found - axes.begin());
  return std::ranges::any_of(runs, [&](const PlannedRun& run) { return run.values[at] != runs.front().values[at]; });
}

std::string StudyPlan::value(const PlannedRun& run, const std::string& axis) const {
  if (axis == "series") {
    return series[run.series];
  }
  const auto found = std::ranges::find(axes, axis);
  if (found != axes.end()) {
    return run.values[static_cast<std::size_t>(found - axes.begin())];
  }
  if (axis == "outputs") {
    return std::to_string(suite_of(run.spec).outputs());
  }
  if (axis == "hidden_layers") {
    return std::to_string(run.spec.hidden.size());
  }
  return shown(*models::find_setting(axis), run.spec);
}

StudyPlan plan_study(const Study& study, const std::string& preset_name) {
  const Preset* preset = find_preset(study, preset_name);
  StudyPlan plan;
  plan.keep = preset != nullptr && preset->keep ? *preset->keep : study.keep;
  const std::vector<const Grid*> included = grids_of(study, preset);
  std::vector<std::vector<Choices>> grids;
  for (const Grid* grid : included) {
    grids.push_back(merged_parameters(study, *grid, preset));
    for (const Choices& choice : grids.back()) {
      if (std::ranges::find(plan.axes, choice.setting->name) == plan.axes.end()) {
        plan.axes.push_back(choice.setting->name);
      }
    }
  }
  std::vector<const models::Setting*> axes;
  for (const std::string& axis : plan.axes) {
    axes.push_back(models::find_setting(axis));
  }
  std::set<std::pair<std::size_t, std::string>> seen;  // series and id
  for (std::size_t at = 0; at < grids.size(); ++at) {
    for (const models::RunSpec& given : models::all_combinations(grids[at])) {
      PlannedRun run;
      auto suite = plan.suites.find(given.task);
      try {
        if (suite == plan.suites.end()) {
          suite = plan.suites.emplace(given.task, tasks::load_task(given.task)).first;
        }
        run.spec = models::resolve(given, suite->second);
      } catch (const ConfigError& error) {
        throw ConfigError(
            fmt::format("study {}, the cell {}: {}", study.name, cell_text(grids[at], given), error.what()));
      }
      const std::string name = included[at]->series.empty() ? models::model_name(run.spec.model) : included[at]->series;
      auto series = std::ranges::find(plan.series, name);
      if (series == plan.series.end()) {
        plan.series.push_back(name);
        series = plan.series.end() - 1;
      }
      run.series = static_cast<std::size_t>(series - plan.series.begin());
      run.id = models::run_id(run.spec);
      if (!seen.emplace(run.series, run.id).second) {
        continue;
      }
      for (const models::Setting* axis : axes) {
        run.values.push_back(shown(*axis, run.spec));
      }
      plan.runs.push_back(std::move(run));
    }
  }
  return plan;
}

std::size_t count_runs(const Study& study, const std::string& preset_name) {
  const Preset* preset = find_preset(study, preset_name);
  std::size_t total = 0;
  for (const Grid* grid : grids_of(study, preset)) {
    const std::vector<Choices> parameters = merged_parameters(study, *grid, preset);
    const models::Setting* model = models::find_setting("model");
    const auto given = std::ranges::find(parameters, model, &Choices::setting);
    const std::vector<std::string> kinds =
        given == parameters.end() ? std::vector{models::model_name(models::RunSpec{}.model)} : given->values;
    const models::Setting* task = models::find_setting("task");
    const auto given_tasks = std::ranges::find(parameters, task, &Choices::setting);
    const std::vector<std::string> tasks =
        given_tasks == parameters.end() ? std::vector{models::RunSpec{}.task} : given_tasks->values;
    // Which settings mean something depends on these two.
    for (const std::string& kind : kinds) {
      for (const std::string& name : tasks) {
        models::RunSpec named;
        model->set(named, kind);
        const models::RunSpec spec = models::starting_spec(name, named.model);
        std::size_t count = 1;
        for (const Choices& choice : parameters) {
          const bool counts = choice.setting != model && choice.setting != task;
          count *= counts && models::applies(*choice.setting, spec) ? choice.values.size() : 1;
        }
        total += count;
      }
    }
  }
  return total;
}

std::size_t different_runs(const StudyPlan& plan) {
  std::unordered_set<std::string> ids;
  for (const PlannedRun& run : plan.runs) {
    ids.insert(run.id);
  }
  return ids.size();
}

std::vector<models::RunSpec> missing_runs(const StudyPlan& plan, const std::unordered_set<std::string>& finished) {
  std::unordered_set<std::string> seen;
  std::vector<models::RunSpec> missing;
  for (const PlannedRun& run : plan.runs) {
    if (!finished.contains(run.id) && seen.insert(run.id).second) {
      missing.push_back(run.spec);
    }
  }
  return missing;
}

}  // namespace modlab::studies
