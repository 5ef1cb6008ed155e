#include "studies/study_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/experiment.h"
#include "io/yaml_file.h"
#include "studies/study_plan.h"

namespace modlab::studies {
namespace {

using settings::Setting;

std::vector<const std::vector<Choices>*> all_parameters(const Study& study) {
  std::vector<const std::vector<Choices>*> lists = {&study.parameters};
  for (const Grid& grid : study.grids) {
    lists.push_back(&grid.parameters);
  }
  for (const Preset& preset : study.presets) {
    lists.push_back(&preset.parameters);
    for (const auto& [series, parameters] : preset.series) {
      lists.push_back(&parameters);
    }
  }
  return lists;
}

// The names of the grids. A grid without one has a series for each model, and a switch may make one model of another,
// such as modular with known inputs.
std::vector<std::string> series_of(const Study& study) {
  std::vector<std::string> names;
  for (const Grid& grid : study.grids) {
    if (!grid.series.empty()) {
      names.push_back(grid.series);
    }
  }
  if (!names.empty()) {
    return names;
  }
  bool has_switches = false;
  for (const std::vector<Choices>* parameters : all_parameters(study)) {
    for (const Choices& choice : *parameters) {
      if (experiments::find_setting(choice.name)->role == Setting::Role::kModel) {
        names.insert(names.end(), choice.values.begin(), choice.values.end());
      }
      has_switches = has_switches || std::ranges::find(choice.values, "true") != choice.values.end();
    }
  }
  for (const experiments::Experiment* kind : experiments::all()) {
    const std::vector<std::string> models = kind->models();
    if (names.empty() || has_switches) {
      names.insert(names.end(), models.begin(), models.end());
    }
  }
  return names;
}

void check_selector(const Study& study, const std::string& what, const Selector& selector,
                    const std::vector<std::string>& known) {
  const auto found = selector.find("series");
  for (const std::string& name : found == selector.end() ? std::vector<std::string>{} : found->second) {
    if (std::ranges::find(known, name) == known.end()) {
      const std::string nearest = did_you_mean(name, known);
      throw ConfigError(fmt::format("{}: {} names the series {}, which the study does not have{}", study.source, what,
                                    io::quote_for_message(name),
                                    nearest.empty() ? "; it has " + join_text(known, ", ") : nearest));
    }
  }
}

}  // namespace

void check_series(const Study& study) {
  const std::vector<std::string> known = series_of(study);
  for (const Figure& figure : study.figures) {
    check_selector(study, "figure " + figure.id, figure.where, known);
  }
  for (const Claim& claim : study.claims) {
    const std::string what = "claim " + claim.id;
    check_selector(study, what, claim.where, known);
    for (const Check& check : claim.checks) {
      for (const Selector& side : check.sides) {
        check_selector(study, what, side, known);
      }
      check_selector(study, what, check.best, known);
      check_selector(study, what, check.where, known);
    }
  }
  check_selector(study, "the gallery", study.gallery, known);
}

void check_settings(const Study& study) {
  std::set<std::string> of_any;
  const auto check = [&](const std::vector<Choices>& parameters, const std::set<std::string>& used,
                         const std::string& whose) {
    for (const Choices& choice : parameters) {
      if (!used.contains(choice.name)) {
        throw ConfigError(fmt::format("{}: {} means nothing to {}; leave it out", study.source, choice.name, whose));
      }
    }
  };
  for (const Grid& grid : study.grids) {
    const std::set<std::string> used = settings_used(study, grid);
    const std::string whose = fmt::format("the models of series '{}'", grid.series);
    check(grid.parameters, used, whose);
    for (const Preset& preset : study.presets) {
      if (const auto own = preset.series.find(grid.series); own != preset.series.end()) {
        check(own->second, used, whose);
      }
    }
    of_any.insert(used.begin(), used.end());
  }
  check(study.parameters, of_any, "the study's models");
  for (const Preset& preset : study.presets) {
    check(preset.parameters, of_any, "the study's models");
  }
}

void check_overrides(const Study& study, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const Setting* setting = experiments::find_setting(text.substr(0, text.find('=')));
    const bool is_used = setting == nullptr || std::ranges::any_of(study.grids, [&](const Grid& grid) {
                           return settings_used(study, grid).contains(setting->name);
                         });
    if (!is_used) {
      throw ConfigError(fmt::format("{} means nothing to the study's models; leave it out", setting->name));
    }
  }
}

}  // namespace modlab::studies
