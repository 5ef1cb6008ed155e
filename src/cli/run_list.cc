#include "cli/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/published_flags.h"
#include "core/errors.h"
#include "core/text.h"
#include "experiments/settings_page.h"
#include "studies/asked_runs.h"

namespace modlab::cli {
namespace {

using settings::Setting;
using studies::Choices;

Option option_of(const Setting& setting) { return {setting.name, Arity::kMany, setting.value, setting.help, {}}; }

// With what docs/settings.md says of it too: its default, and the models that have it where a verb has several.
Option explained_option(const experiments::Experiment& kind, const Setting& setting, const std::string& model = "") {
  Option option = option_of(setting);
  option.help += fmt::format(" (default {}{})", experiments::default_text(kind, setting),
                             setting.of == "all" || setting.of == model ? "" : "; " + setting.of);
  return option;
}

std::vector<Choices> choices_from(const Arguments& arguments) {
  std::map<std::string, std::vector<std::string>> words = translate_published(arguments);
  for (const std::string& name : experiments::setting_names()) {
    if (arguments.has(name)) {
      words[name] = arguments.words(name);
    }
  }
  experiments::Asked asked;
  for (const auto& [name, given] : words) {
    asked[name] = settings::expand_values(*experiments::find_setting(name), given);
  }
  std::vector<Choices> choices;
  for (auto& [name, values] : translate_for_kind(arguments, std::move(asked))) {
    Choices choice{name, std::move(values)};
    if (experiments::find_setting(name)->role == Setting::Role::kModel) {
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
    if (experiments::find_setting(choice.name)->chooses() && !choice.values.empty()) {
      given[choice.name] = choice.values.front();
    }
  }
  return given;
}

// The runs of all choices. Flags of the published script may mean nothing to any of them: its commands carry those of
// all models. What such a flag has in common with a setting is its name alone.
std::vector<experiments::Run> runs_of(const Arguments& arguments, const std::vector<Choices>& choices) {
  std::vector<std::string> asked;
  for (const std::string& name : experiments::setting_names()) {
    if (arguments.has(name) && std::ranges::find(choices, name, &Choices::name) != choices.end()) {
      asked.push_back(name);
    }
  }
  return studies::asked_runs(choices, asked, [&](const std::string& name) { return "--" + arguments.given_as(name); });
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

std::string describe_settings(const Arguments& arguments, bool all, const std::string& model) {
  const auto is_shown = [&](const Setting& setting) {
    return setting.role != Setting::Role::kFact && (model.empty() || setting.role != Setting::Role::kModel);
  };
  if (!all) {
    settings::Given given = chosen_kind(arguments);
    const auto task = given.find("task");
    const experiments::Experiment* owner = task == given.end() ? nullptr : experiments::owner_of(task->second);
    std::vector<Option> options;
    if (owner != nullptr && !given.contains("model")) {
      for (const Setting& setting : owner->settings()) {  // for any of its models
        if (is_shown(setting)) {
          options.push_back(explained_option(*owner, setting, model));
        }
      }
      return section(owner->title(), options);
    }
    if (!model.empty()) {
      given["model"] = model;
    }
    const experiments::Experiment& kind = experiments::kind_for(given);
    for (const Setting* setting : kind.settings_for(given)) {
      if (is_shown(*setting)) {
        options.push_back(explained_option(kind, *setting, model));
      }
    }
    return section(kind.title(), options);
  }
  std::string text;
  // What a kind has as one before it has it need not be said again.
  std::set<std::pair<std::string, std::string>> said;
  for (const experiments::Experiment* kind : experiments::all()) {
    if (!model.empty() && !kind->has_model(model)) {
      continue;
    }
    std::vector<Option> options;
    for (const Setting& setting : kind->settings()) {
      if (is_shown(setting) &&
          said.emplace(setting.name + setting.help + setting.of, experiments::default_text(*kind, setting)).second) {
        options.push_back(explained_option(*kind, setting, model));
      }
    }
    text += section(kind->title(), options);
  }
  return text;
}

std::string describe_settings(const experiments::Experiment& kind) {
  std::vector<Option> options;
  for (const Setting& setting : kind.settings()) {
    if (setting.role != Setting::Role::kModel && setting.role != Setting::Role::kFact) {
      options.push_back(explained_option(kind, setting));
    }
  }
  return describe_options(options);
}

std::vector<experiments::Run> runs_from(const Arguments& arguments) {
  return runs_of(arguments, choices_from(arguments));
}

std::vector<experiments::Run> runs_from(const Arguments& arguments, const std::string& model) {
  std::vector<Choices> choices = choices_from(arguments);
  for (const std::string& name : experiments::setting_names()) {
    if (experiments::find_setting(name)->role == Setting::Role::kModel) {
      choices.push_back({name, {model}});
    }
  }
  return runs_of(arguments, choices);
}

}  // namespace modlab::cli
