#include "cli/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/published_flags.h"
#include "core/text.h"
#include "studies/study_plan.h"

namespace modlab::cli {
namespace {

using settings::Setting;
using studies::Choices;

Option option_of(const Setting& setting) { return {setting.name, Arity::kMany, setting.value, setting.help, {}}; }

std::vector<Choices> choices_from(const Arguments& arguments) {
  std::map<std::string, std::vector<std::string>> words = translate_published(arguments);
  for (const std::string& name : experiments::setting_names()) {
    if (arguments.has(name)) {
      words[name] = arguments.words(name);
    }
  }
  std::vector<Choices> choices;
  for (const auto& [name, given] : words) {
    const Setting& setting = *experiments::find_setting(name);
    Choices choice{name, settings::expand_values(setting, given)};
    if (setting.role == Setting::Role::kModel) {
      std::ranges::transform(choice.values, choice.values.begin(), &translate_model);
    }
    choices.push_back(std::move(choice));
  }
  // A published sparse network is an mlp with a pruning ratio.
  if (arguments.has("pruning_ratio") && words.contains("density")) {
    for (Choices& choice : choices) {
      if (experiments::find_setting(choice.name)->role == Setting::Role::kModel) {
        std::ranges::replace(choice.values, std::string("dense"), std::string("sparse"));
      }
    }
  }
  return choices;
}

// The first value of each setting that chooses a kind.
settings::Given chosen_kind(const Arguments& arguments) {
  settings::Given given;
  for (const Choices& choice : choices_from(arguments)) {
    const Setting::Role role = experiments::find_setting(choice.name)->role;
    if ((role == Setting::Role::kTask || role == Setting::Role::kModel) && !choice.values.empty()) {
      given[choice.name] = choice.values.front();
    }
  }
  return given;
}

std::string section(std::string_view title, const std::vector<Option>& options) {
  return options.empty() ? "" : fmt::format("{}\n{}\n", title, describe_options(options));
}

}  // namespace

std::vector<Option> setting_options() {
  std::vector<Option> options;
  for (const std::string& name : experiments::setting_names()) {
    const Setting& setting = *experiments::find_setting(name);
    if (setting.role != Setting::Role::kFact) {
      options.push_back(option_of(setting));
    }
  }
  return options;
}

std::string describe_settings(const Arguments& arguments, bool all) {
  std::string text;
  if (!all) {
    const settings::Given given = chosen_kind(arguments);
    const experiments::Experiment& kind = experiments::kind_for(given);
    std::vector<Option> options;
    for (const Setting* setting : kind.settings_for(given)) {
      options.push_back(option_of(*setting));
    }
    return section(kind.title(), options);
  }
  // What a kind has in common with those before it has been said.
  std::set<std::string> said;
  for (const experiments::Experiment* kind : experiments::all()) {
    std::vector<Option> options;
    for (const Setting& setting : kind->settings()) {
      if (setting.role != Setting::Role::kFact && said.insert(setting.name).second) {
        options.push_back(option_of(setting));
      }
    }
    text += section(kind->title(), options);
  }
  return text;
}

std::vector<experiments::Run> runs_from(const Arguments& arguments) {
  return studies::all_combinations(choices_from(arguments));
}

std::vector<experiments::Run> runs_from(const Arguments& arguments, const std::string& model) {
  std::vector<Choices> choices = choices_from(arguments);
  for (const std::string& name : experiments::setting_names()) {
    if (experiments::find_setting(name)->role == Setting::Role::kModel) {
      choices.push_back({name, {model}});
    }
  }
  return studies::all_combinations(choices);
}

}  // namespace modlab::cli
