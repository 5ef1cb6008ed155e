#include "experiments/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::experiments {
namespace {

// What is trained where nothing is said: the first command of the README.
constexpr auto kDefaultTask = "depth2";
constexpr auto kDefaultModel = "modular-shared";

std::string given_or(const Given& given, const char* name, const char* otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : found->second;
}

// A task that a kind cannot read may be another's.
bool takes(const Experiment& kind, const std::string& task) {
  try {
    return kind.takes(task);
  } catch (const UserError&) {
    return false;
  }
}

// Whoever reads tasks from files knows nothing of those that kinds have for themselves.
void check_spelling(const std::string& task) {
  std::vector<std::string> known;
  for (const Experiment* kind : all()) {
    std::ranges::copy(own_task_names(*kind), std::back_inserter(known));
  }
  if (const std::string nearest = did_you_mean(task, known); !nearest.empty()) {
    throw ConfigError(fmt::format("unknown task '{}'{}", task, nearest));
  }
}

}  // namespace

std::unique_ptr<Work> Experiment::judge(std::span<const Run> /*runs*/,
                                        const std::vector<std::string>& /*files*/) const {
  throw ConfigError("--networks is for studies of sculpted networks; this study is none");
}

bool Experiment::has_model(const std::string& model) const {
  const std::vector<std::string> names = models();
  return std::ranges::find(names, model) != names.end();
}

nlohmann::ordered_json Experiment::run_json(const Run& run, const Result& result) const {
  nlohmann::ordered_json json = run.values.to_json();
  json["id"] = run.id();
  for (const auto& [snapshot, numbers] : result.snapshots) {
    json[snapshot] = numbers;
  }
  json["diverged"] = result.diverged;
  return json;
}

const Experiment* find_kind(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Experiment::name);
  return found == all().end() ? nullptr : *found;
}

const Experiment* owner_of(const std::string& task) {
  const auto owner = std::ranges::find_if(all(), [&](const Experiment* kind) {
    const std::vector<std::string> names = own_task_names(*kind);
    return std::ranges::find(names, task) != names.end();
  });
  return owner == all().end() ? nullptr : *owner;
}

std::vector<std::string> own_task_names(const Experiment& kind) {
  std::vector<std::string> names;
  for (const OwnTask& task : kind.own_tasks()) {
    names.push_back(task.name);
  }
  return names;
}

const Experiment& kind_for(const Given& given) {
  const std::string model = given_or(given, "model", kDefaultModel);
  const std::string task = given_or(given, "task", kDefaultTask);
  if (const Experiment* owner = owner_of(task); owner != nullptr && !given.contains("model")) {
    return *owner;  // whose default it is
  }
  std::vector<std::string> known;
  const Experiment* with_model = nullptr;
  for (const Experiment* kind : all()) {
    const std::vector<std::string> models = kind->models();
    if (kind->has_model(model)) {
      if (takes(*kind, task)) {
        return *kind;
      }
      with_model = with_model == nullptr ? kind : with_model;
    }
    std::ranges::copy_if(models, std::back_inserter(known),
                         [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  }
  if (with_model != nullptr) {
    if (const Experiment* owner = owner_of(task)) {
      throw ConfigError(
          fmt::format("{} is a task for the models {}, not for {}", task, join_text(owner->models(), ", "), model));
    }
    check_spelling(task);
    return *with_model;  // says itself why the two do not go together
  }
  const std::string nearest = did_you_mean(model, known);
  throw ConfigError(fmt::format("unknown model '{}'{}", model,
                                nearest.empty() ? "; it is one of " + join_text(known, ", ") : nearest));
}

Run make_run(const Given& given) {
  const Experiment& kind = kind_for(given);
  Run run{&kind, kind.resolve(given), 0};
  run.number = settings::RunNames(*run.values.row(), kind.name_defaults()).number(run.values);
  return run;
}

Run run_from_json(const std::string& kind_name, const nlohmann::ordered_json& object, const std::string& source) {
  const Experiment* kind = find_kind(kind_name);
  if (kind == nullptr) {
    throw FormatError(fmt::format("{}: there is no kind of experiment '{}'; update modlab", source, kind_name));
  }
  if (!object.is_object()) {
    throw FormatError(fmt::format("{}: the settings of a run are not JSON; the file is damaged", source));
  }
  const Given given = settings::given_from_json(object, kind->settings());
  try {
    if (&kind_for(given) != kind) {
      throw ConfigError(fmt::format("its settings are not those of the kind {}", kind_name));
    }
    return make_run(given);
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}; the file is damaged", source, error.what()));
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: a run cannot be made again: {}", source, error.what()));
  }
}

std::vector<const Setting*> find_settings(const std::string& name) {
  std::string wanted = name;
  std::ranges::replace(wanted, '-', '_');
  std::vector<const Setting*> found;
  for (const Experiment* kind : all()) {
    for (const Setting& setting : kind->settings()) {
      if (setting.name == wanted) {
        found.push_back(&setting);
      }
    }
  }
  return found;
}

const Setting* find_setting(const std::string& name) {
  const std::vector<const Setting*> found = find_settings(name);
  return found.empty() ? nullptr : found.front();
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Experiment* kind : all()) {
    for (const Setting& setting : kind->settings()) {
      if (seen.insert(setting.name).second) {
        names.push_back(setting.name);
      }
    }
  }
  return names;
}

std::string canonical_value(const std::string& name, const std::string& text) {
  std::exception_ptr first;
  for (const Setting* setting : find_settings(name)) {
    if (setting->role == Setting::Role::kModel) {
      kind_for({{setting->name, text}});  // a kind by itself knows its own models alone
      return text;
    }
    if (!setting->read) {
      return text;
    }
    try {
      return settings::setting_text(setting->read(text));
    } catch (const ConfigError&) {
      first = first ? first : std::current_exception();
    }
  }
  if (first) {
    std::rethrow_exception(first);
  }
  return text;
}

std::span<const Measure> all_measures() {
  static const std::vector<Measure> kMeasures = [] {
    std::vector<Measure> measures;
    std::set<std::string> seen;
    for (const Experiment* kind : all()) {
      for (const Measure& measure : kind->measures()) {
        if (seen.insert(measure.name).second) {
          measures.push_back(measure);
        }
      }
    }
    return measures;
  }();
  return kMeasures;
}

const Measure* find_measure(std::string_view name) {
  const auto found = std::ranges::find(all_measures(), name, &Measure::name);
  return found == all_measures().end() ? nullptr : &*found;
}

const Measure* find_curve_measure(std::string_view name) {
  for (const Experiment* kind : all()) {
    const auto found = std::ranges::find(kind->curve_measures(), name, &Measure::name);
    if (found != kind->curve_measures().end()) {
      return &*found;
    }
  }
  return nullptr;
}

std::vector<std::string> curve_measure_names() {
  std::vector<std::string> names;
  for (const Experiment* kind : all()) {
    for (const Measure& measure : kind->curve_measures()) {
      if (std::ranges::find(names, measure.name) == names.end()) {
        names.push_back(measure.name);
      }
    }
  }
  return names;
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const Measure& measure : all_measures()) {
    names.push_back(measure.name);
  }
  return names;
}

}  // namespace modlab::experiments
