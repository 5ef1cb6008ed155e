#include "cli/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/published_flags.h"
#include "core/errors.h"
#include "core/text.h"
#include "experiments/settings_page.h"
#include "studies/study_plan.h"

namespace modlab::cli {
namespace {

using settings::Setting;
using studies::Choices;

Option option_of(const Setting& setting) { return {setting.name, Arity::kMany, setting.value, setting.help, {}}; }

// With what docs/settings.md says of it too: its default, and the models that have it.
Option explained_option(const experiments::Experiment& kind, const Setting& setting) {
  Option option = option_of(setting);
  option.help += fmt::format(" (default {}{})", experiments::default_text(kind, setting),
                             setting.of == "all" ? "" : "; " + setting.of);
  return option;
}

// All that a run of the kind may have.
std::vector<Option> explained_options(const experiments::Experiment& kind) {
  std::vector<Option> options;
  for (const Setting& setting : kind.settings()) {
    if (setting.role != Setting::Role::kFact) {
      options.push_back(explained_option(kind, setting));
    }
  }
  return options;
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

// A setting that none of the runs has would change nothing without a word. Flags of the published script may: its
// commands carry those of all models. What such a flag has in common with a setting is its name alone.
void check_used(const Arguments& arguments, const std::vector<Choices>& choices,
                const std::vector<experiments::Run>& runs) {
  std::vector<const settings::Values*> rows;
  for (const experiments::Run& run : runs) {
    if (rows.empty() || rows.back()->row() != run.values.row()) {
      rows.push_back(&run.values);
    }
  }
  const auto names_of = [&](Setting::Role role) {
    std::vector<std::string> names;
    for (const settings::Values* values : rows) {
      for (std::size_t at = 0; at < values->size(); ++at) {
        if (values->setting_at(at).role == role && std::ranges::find(names, values->text_at(at)) == names.end()) {
          names.push_back(values->text_at(at));
        }
      }
    }
    return join_text(names, " and ");
  };
  for (const std::string& name : experiments::setting_names()) {
    const bool is_used = std::ranges::any_of(rows, [&](const settings::Values* values) { return values->has(name); });
    const bool is_setting = std::ranges::find(choices, name, &Choices::name) != choices.end();
    if (!arguments.has(name) || !is_setting || is_used || runs.empty()) {
      continue;
    }
    const std::span<const Setting> own = runs.front().kind->settings();
    const auto found = std::ranges::find(own, name, &Setting::name);
    throw ConfigError(found == own.end()
                          ? fmt::format("--{} means nothing to task {}; leave it out", arguments.given_as(name),
                                        names_of(Setting::Role::kTask))
                          : fmt::format("--{} means nothing to model {} ({} have it); leave it out",
                                        arguments.given_as(name), names_of(Setting::Role::kModel), found->of));
  }
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
    const auto task = given.find("task");
    const experiments::Experiment* owner = task == given.end() ? nullptr : experiments::owner_of(task->second);
    if (owner != nullptr && !given.contains("model")) {
      return section(owner->title(), explained_options(*owner));  // for any of its models
    }
    const experiments::Experiment& kind = experiments::kind_for(given);
    std::vector<Option> options;
    for (const Setting* setting : kind.settings_for(given)) {
      options.push_back(explained_option(kind, *setting));
    }
    return section(kind.title(), options);
  }
  // What a kind has as one before it has it need not be said again.
  std::set<std::pair<std::string, std::string>> said;
  for (const experiments::Experiment* kind : experiments::all()) {
    std::vector<Option> options;
    for (const Setting& setting : kind->settings()) {
      if (setting.role != Setting::Role::kFact &&
          said.emplace(setting.name + setting.help, experiments::default_text(*kind, setting)).second) {
        options.push_back(explained_option(*kind, setting));
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
  const std::vector<Choices> choices = choices_from(arguments);
  std::vector<experiments::Run> runs = studies::all_combinations(choices);
  check_used(arguments, choices, runs);
  return runs;
}

std::vector<experiments::Run> runs_from(const Arguments& arguments, const std::string& model) {
  std::vector<Choices> choices = choices_from(arguments);
  for (const std::string& name : experiments::setting_names()) {
    if (experiments::find_setting(name)->role == Setting::Role::kModel) {
      choices.push_back({name, {model}});
    }
  }
  std::vector<experiments::Run> runs = studies::all_combinations(choices);
  check_used(arguments, choices, runs);
  return runs;
}

}  // namespace modlab::cli
