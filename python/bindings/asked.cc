#include "asked.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "core/text.h"
#include "studies/asked_runs.h"

namespace modlab::python {

std::vector<experiments::Run> runs_of(const Asked& asked, const std::optional<std::string>& model) {
  using Role = settings::Setting::Role;
  std::vector<studies::Choices> choices;
  std::vector<std::string> names;
  for (const auto& [name, words] : asked) {
    const settings::Setting* setting = experiments::find_setting(name);
    if (setting == nullptr || setting->role == Role::kFact) {
      const std::string nearest = did_you_mean(name, experiments::setting_names());
      throw ConfigError(
          fmt::format("there is no setting '{}'{}", name, nearest.empty() ? "; docs/settings.md lists them" : nearest));
    }
    if (model && setting->role == Role::kModel) {
      throw ConfigError(fmt::format("{} is {} here; leave it out", name, *model));
    }
    if (words.empty()) {
      throw ConfigError(fmt::format("{} has an empty list of values: there would be no runs", name));
    }
    names.push_back(setting->name);
    choices.push_back({setting->name, settings::expand_values(*setting, words)});
  }
  if (model) {
    choices.push_back({"model", {*model}});
  }
  return studies::asked_runs(choices, names, [](const std::string& name) { return name; });
}

}  // namespace modlab::python
