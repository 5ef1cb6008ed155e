#include "studies/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "core/embedded_file.h"
#include "core/errors.h"
#include "core/text.h"
#include "experiments/experiment.h"
#include "io/file.h"
#include "io/yaml_file.h"
#include "studies/claim_file.h"
#include "studies/study_check.h"
#include "studies/study_plan.h"
#include "studies/yaml_map.h"

namespace modlab {
extern const EmbeddedFile kBuiltinStudies[];
extern const std::size_t kBuiltinStudiesCount;
}  // namespace modlab

namespace modlab::studies {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
// Named after W&B's sweep files: a file of theirs that lists values works as it is.
constexpr auto kOnlyGrids = "a parameter has 'values: [...]' or 'value: ...'; studies are grids";

// A setting that one can give a value.
const settings::Setting* settable(const std::string& name) {
  const settings::Setting* setting = experiments::find_setting(name);
  return setting != nullptr && setting->role != settings::Setting::Role::kFact ? setting : nullptr;
}

const settings::Setting& setting_named(const YamlMap& map, const YAML::Node& node, const std::string& name) {
  const settings::Setting* setting = settable(name);
  if (setting == nullptr) {
    map.fail(node, fmt::format("there is no setting {}{}", io::quote_for_message(name),
                               did_you_mean(name, experiments::setting_names())));
  }
  return *setting;
}

std::vector<std::string> values_of(const settings::Setting& setting, const YAML::Node& node, bool is_one) {
  std::vector<std::string> words;
  if (!node.IsSequence() || (setting.is_list && is_one)) {
    words.push_back(scalar_text(node));
  } else {
    for (const YAML::Node& item : node) {
      words.push_back(scalar_text(item));
    }
  }
  if (setting.is_list) {
    return words;  // each is one list, "3,2"
  }
  return settings::expand_values(setting, words);
}

Choices read_parameter(const YamlMap& map, const std::string& name, const YAML::Node& node) {
  const settings::Setting& setting = setting_named(map, node, name);
  YAML::Node values = node;
  bool is_one = false;
  if (node.IsMap()) {
    YamlMap parameter(node, map.source(), fmt::format("parameter '{}'", name));
    is_one = !parameter.has("values");
    values.reset(parameter.get(is_one ? "value" : "values"));
    parameter.get("value");
    parameter.get("values");
    if (!values.IsDefined()) {
      map.fail(node, fmt::format("'{}' has no values: {}", name, kOnlyGrids));
    }
    parameter.done();
  }
  Choices choices{setting.name, {}};
  try {
    choices.values = values_of(setting, values, is_one);
    for (const std::string& value : choices.values) {
      experiments::canonical_value(setting.name, value);
    }
  } catch (const ConfigError& error) {
    map.fail(node, error.what());
  }
  if (choices.values.empty()) {
    map.fail(node, fmt::format("'{}' has an empty list of values: the grid would have no runs", name));
  }
  return choices;
}

std::vector<Choices> read_parameters(YamlMap& map, const std::string& key) {
  std::vector<Choices> parameters;
  const YAML::Node node = map.get(key);
  if (node.IsDefined()) {
    const YamlMap entries(node, map.source(), "'" + key + "'");
    for (const auto& entry : node) {
      if (entry.second.IsNull()) {
        entries.fail(entry.first, fmt::format("'{}' has no values: {}", scalar_text(entry.first), kOnlyGrids));
      }
      Choices choices = read_parameter(entries, scalar_text(entry.first), entry.second);
      if (std::ranges::find(parameters, choices.name, &Choices::name) != parameters.end()) {
        entries.fail(entry.first, fmt::format("'{}' stands here twice", choices.name));
      }
      parameters.push_back(std::move(choices));
    }
  }
  return parameters;
}

Keep read_keep(const std::string& text) {
  if (text == "results") {
    return Keep::kResults;
  }
  if (text == "curves") {
    return Keep::kCurves;
  }
  if (text == "best") {
    return Keep::kBest;
  }
  if (text == "all") {
    return Keep::kAll;
  }
  throw ConfigError(fmt::format(
      "keep must be results, curves, best (curves and best weights) or all (both snapshots), not '{}'", text));
}

Ties read_ties(const std::string& text) {
  if (text == "loss") {
    return Ties::kLoss;
  }
  if (text == "updates") {
    return Ties::kUpdates;
  }
  if (text == "first") {
    return Ties::kFirst;
  }
  throw ConfigError(fmt::format("ties must be loss, updates or first, not '{}'", text));
}

std::string read_snapshot(const std::string& text) {
  if (text != "best" && text != "last") {
    throw ConfigError(fmt::format("snapshot must be best or last, not '{}'", text));
  }
  return text;
}

// What selection chooses where a study does not say it.
std::vector<std::string> usually_tuned() {
  std::vector<std::string> names;
  for (const std::string& name : experiments::setting_names()) {
    const std::vector<const settings::Setting*> found = experiments::find_settings(name);
    if (std::ranges::any_of(found, &settings::Setting::is_tuned)) {
      names.push_back(name);
    }
  }
  return names;
}

// The word under a key, read by `read`; a mistake gets its line.
template <typename Value>
Value read_word_at(YamlMap& map, const char* key, const char* otherwise, Value (*read)(const std::string& text)) {
  const std::string text = map.text(key, otherwise);
  try {
    return read(text);
  } catch (const ConfigError& error) {
    map.fail(map.get(key), error.what());
  }
}

// Whole numbers from 1 on, each once.
std::vector<int> read_restarts(YamlMap& map) {
  std::vector<int> counts;
  for (const std::string& text : map.texts("restarts")) {
    const std::optional<long long> count = parse_integer(text);
    if (!count || *count < 1 || *count > 1'000'000 || std::ranges::find(counts, *count) != counts.end()) {
      map.fail(map.get("restarts"),
               fmt::format("'restarts' lists numbers of runs to choose from, such as [1, 10, 100], "
                           "each once; not '{}'",
                           text));
    }
    counts.push_back(static_cast<int>(*count));
  }
  std::ranges::sort(counts);
  return counts;
}

// Studies and presets give the folders of their results the name.
void check_folder_name(const YamlMap& map, const YAML::Node& node, const std::string& name) {
  // What a file had in the place of U+FFFD is no letter.
  const bool has_controls = on_one_line(name) != name || name.find("\xEF\xBF\xBD") != std::string::npos;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos || has_controls) {
    map.fail(node, fmt::format("{} cannot be the name of a folder; use letters, digits and dashes",
                               io::quote_for_message(name)));
  }
}

Preset read_preset(const std::string& name, const YAML::Node& node, const std::string& source,
                   const std::vector<Grid>& grids) {
  YamlMap map(node, source, fmt::format("preset '{}'", name));
  Preset preset{name, map.text("about"), read_parameters(map, "parameters"), {}, std::nullopt, {}};
  if (map.has("keep")) {
    preset.keep = read_word_at(map, "keep", "", &read_keep);
  }
  const auto check_series = [&](const YAML::Node& place, const std::string& name_of_series) {
    std::vector<std::string> known;
    std::ranges::transform(grids, std::back_inserter(known), &Grid::series);
    if (std::ranges::find(known, name_of_series) == known.end()) {
      map.fail(place, fmt::format("there is no grid with the series {}{}", io::quote_for_message(name_of_series),
                                  did_you_mean(name_of_series, known)));
    }
  };
  const YAML::Node series = map.get("series");
  if (series.IsDefined()) {
    YamlMap by_series(series, source, "'series' of a preset");
    for (const std::string& key : by_series.keys()) {
      check_series(by_series.get(key), key);
      preset.series[key] = read_parameters(by_series, key);
    }
  }
  if (map.has("without")) {
    preset.without = map.texts("without");
    for (const std::string& left_out : preset.without) {
      check_series(map.get("without"), left_out);
    }
  }
  map.done();
  return preset;
}

void erase_setting(std::vector<Choices>& parameters, const std::string& name) {
  std::erase_if(parameters, [&](const Choices& each) { return each.name == name; });
}

// A grid's own task or model is what the grid is about: values from outside choose among grids and replace nothing.
bool is_identity(const std::string& name) {
  const settings::Setting::Role role = experiments::find_setting(name)->role;
  return role == settings::Setting::Role::kTask || role == settings::Setting::Role::kModel;
}

void override_setting(Study& study, const Choices& choices) {
  const std::string& setting = choices.name;
  for (Preset& preset : study.presets) {
    erase_setting(preset.parameters, setting);
    for (auto& [series, parameters] : preset.series) {
      erase_setting(parameters, setting);
    }
  }
  std::vector<Grid> kept;
  for (Grid& grid : study.grids) {
    const auto own = std::ranges::find(grid.parameters, setting, &Choices::name);
    if (own != grid.parameters.end() && is_identity(setting)) {
      std::erase_if(own->values, [&](const std::string& value) {
        return std::ranges::find(choices.values, value) == choices.values.end();
      });
      if (own->values.empty()) {
        continue;
      }
    } else {
      erase_setting(grid.parameters, setting);
    }
    kept.push_back(std::move(grid));
  }
  if (kept.empty()) {
    throw ConfigError(fmt::format("no grid of the study has {}={}", setting, join_text(choices.values, ",")));
  }
  study.grids = std::move(kept);
  const auto found = std::ranges::find(study.parameters, setting, &Choices::name);
  if (found != study.parameters.end()) {
    *found = choices;
  } else {
    study.parameters.push_back(choices);
  }
}

// "dense,modular, top-k": names of series, which may have commas in them. The longest name that fits counts.
std::vector<std::string> series_names(const Study& study, const std::string& text) {
  const std::vector<std::string> parts = split_text(text, ',');
  std::vector<std::string> names;
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t last = parts.size();
    std::string name;
    do {
      name = join_text(std::span(parts).subspan(first, last - first), ",");
    } while (std::ranges::find(study.grids, name, &Grid::series) == study.grids.end() && --last > first);
    if (last == first) {
      std::vector<std::string> known;
      for (const Grid& grid : study.grids) {
        known.push_back(grid.series);
      }
      throw ConfigError(
          fmt::format("the study has no series {}{}", io::quote_for_message(name), did_you_mean(name, known)));
    }
    names.push_back(name);
    first = last;
  }
  return names;
}

void keep_series(Study& study, const std::vector<std::string>& names) {
  std::erase_if(study.grids, [&](const Grid& grid) { return std::ranges::find(names, grid.series) == names.end(); });
}

}  // namespace

Study parse_study(const std::string& text, const std::string& name, const std::string& source) {
  const YAML::Node root = io::parse_yaml(text, source, "studies/README.md");
  YamlMap map(root, source, "a study");
  Study study;
  study.text = text;
  study.source = source;
  study.name = map.text("name", name);
  check_folder_name(map, map.get("name"), study.name);
  study.title = map.text("title", study.name);
  study.about = map.text("about");
  study.paper = map.text("paper");
  if (const std::string method = map.text("method", "grid"); method != "grid") {
    map.fail(map.get("method"), fmt::format("method must be grid, not '{}'", method));
  }
  try {
    study.parameters = read_parameters(map, "parameters");
    for (const YAML::Node& node : map.maps("grids")) {
      YamlMap grid(node, source, "a grid");
      study.grids.push_back({grid.required_text("series"), read_parameters(grid, "parameters")});
      grid.done();
    }
    if (study.grids.empty()) {
      if (study.parameters.empty()) {
        map.fail(root, "a study needs 'parameters', such as  task: {values: [depth2]}");
      }
      study.grids.push_back({"", {}});  // named after the model
    }
    study.analysis.tune = usually_tuned();
    if (map.has("tune")) {
      study.analysis.tune = read_tune(map);
    }
    study.analysis.ties = read_word_at(map, "ties", "loss", &read_ties);
    study.analysis.snapshot = read_word_at(map, "snapshot", "best", &read_snapshot);
    if (map.has("restarts")) {
      study.analysis.restarts = read_restarts(map);
    }
    study.keep = read_word_at(map, "keep", "all", &read_keep);
    const YAML::Node presets = map.get("presets");
    if (presets.IsDefined()) {
      const YamlMap entries(presets, source, "'presets'");
      for (const auto& entry : presets) {
        check_folder_name(entries, entry.first, scalar_text(entry.first));
        study.presets.push_back(read_preset(scalar_text(entry.first), entry.second, source, study.grids));
      }
    }
    study.default_preset = map.text("preset", study.presets.empty() ? "" : study.presets.front().name);
    try {
      find_preset(study, study.default_preset);
    } catch (const ConfigError& error) {
      map.fail(map.get("preset"), error.what());
    }
    for (const YAML::Node& node : map.maps("figures")) {
      study.figures.push_back(read_figure(node, source));
    }
    for (const YAML::Node& node : map.maps("claims")) {
      study.claims.push_back(read_claim(node, source));
    }
    study.gallery = read_selector(map.get("gallery"), source);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    throw ConfigError(message.starts_with(source) ? message : source + ": " + message);
  }
  // What W&B's own files also carry and a grid has no use for.
  for (const char* ignored : {"program", "metric", "project", "entity", "command", "early_terminate", "description"}) {
    map.get(ignored);
  }
  map.done();
  return study;
}

Study load_study(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".yaml") || name_or_path.ends_with(".yml");
  const auto checked = [](Study study) {
    check_series(study);
    return study;
  };
  if (is_path) {
    const std::filesystem::path path = name_or_path;
    Study study = parse_study(io::read_file(name_or_path, kMaxBytes), path.stem().string(), name_or_path);
    study.folder = path.parent_path().string();
    return checked(std::move(study));
  }
  for (const EmbeddedFile& file : std::span(kBuiltinStudies, kBuiltinStudiesCount)) {
    if (name_or_path == file.name) {
      return checked(parse_study(file.text, file.name, fmt::format("studies/{}.yaml", file.name)));
    }
  }
  const std::vector<std::string> known = builtin_study_names();
  const std::string nearest = did_you_mean(name_or_path, known);
  throw ConfigError(
      fmt::format("there is no study {}{}", io::quote_for_message(name_or_path),
                  nearest.empty() ? "; `modlab study list` shows them, a file's name ends in .yaml" : nearest));
}

std::vector<std::string> builtin_study_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : std::span(kBuiltinStudies, kBuiltinStudiesCount)) {
    names.emplace_back(file.name);
  }
  return names;
}

void apply_override(Study& study, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (value.empty()) {
    throw ConfigError(fmt::format("{} is not of the form setting=value, such as epochs=100 or ratio=0.3,0.5",
                                  io::quote_for_message(text)));
  }
  if (name == "keep") {
    study.keep = read_keep(value);
    for (Preset& preset : study.presets) {
      preset.keep.reset();
    }
  } else if (name == "ties") {
    study.analysis.ties = read_ties(value);
  } else if (name == "snapshot") {
    study.analysis.snapshot = read_snapshot(value);
  } else if (name == "tune") {
    study.analysis.tune = tune_names(split_text(value, ','));
  } else if (name == "series") {
    keep_series(study, series_names(study, value));
  } else {
    const settings::Setting* setting = settable(name);
    if (setting == nullptr) {
      std::vector<std::string> known = experiments::setting_names();
      known.insert(known.end(), {"keep", "ties", "snapshot", "tune", "series"});
      throw ConfigError(
          fmt::format("there is no setting {}{}", io::quote_for_message(name), did_you_mean(name, known)));
    }
    Choices choices{setting->name, settings::expand_values(*setting, {value})};
    for (const std::string& each : choices.values) {
      experiments::canonical_value(setting->name, each);
    }
    override_setting(study, choices);
  }
}

}  // namespace modlab::studies
