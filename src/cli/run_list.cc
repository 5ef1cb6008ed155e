#include "cli/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/published_flags.h"
#include "core/errors.h"
#include "models/settings.h"

namespace modlab::cli {
namespace {

constexpr std::size_t kMaxRuns = 5'000'000;

struct Choices {
  const models::Setting* setting;
  std::vector<std::string> values;
};

std::vector<Choices> choices_from(const Arguments& arguments) {
  std::map<std::string, std::vector<std::string>> words = translate_published(arguments);
  for (const models::Setting& setting : models::settings()) {
    if (arguments.has(setting.name)) {
      words[setting.name] = arguments.words(setting.name);
    }
  }
  std::vector<Choices> choices;
  for (const models::Setting& setting : models::settings()) {
    const auto found = words.find(setting.name);
    if (found == words.end()) {
      continue;
    }
    Choices choice{&setting, models::expand_values(setting, found->second)};
    if (setting.name == "model") {
      std::ranges::transform(choice.values, choice.values.begin(), &translate_model);
    }
    choices.push_back(std::move(choice));
  }
  // A published sparse network is an mlp with a pruning ratio.
  if (arguments.has("pruning_ratio") && words.contains("density")) {
    for (Choices& choice : choices) {
      if (choice.setting->name == "model") {
        std::ranges::replace(choice.values, std::string("dense"), std::string("sparse"));
      }
    }
  }
  std::stable_partition(choices.begin(), choices.end(),
                        [](const Choices& choice) { return choice.setting->name != "seed"; });
  return choices;
}

}  // namespace

std::vector<Option> setting_options() {
  std::vector<Option> options;
  for (const models::Setting& setting : models::settings()) {
    options.push_back({setting.name, Arity::kMany, setting.value, setting.help, {}});
  }
  return options;
}

std::vector<models::RunSpec> runs_from(const Arguments& arguments) {
  const std::vector<Choices> choices = choices_from(arguments);
  std::size_t count = 1;
  for (const Choices& choice : choices) {
    if (choice.values.size() > kMaxRuns / count) {
      throw ConfigError(fmt::format("these settings multiply to more than {} runs; split them up", kMaxRuns));
    }
    count *= choice.values.size();
  }
  // Settings that mean nothing to a model do not multiply its runs: equal names are equal runs.
  std::set<std::string> seen;
  std::vector<models::RunSpec> runs;
  std::vector<std::size_t> at(choices.size(), 0);
  for (std::size_t index = 0; index < count; ++index) {
    models::RunSpec spec;
    for (std::size_t choice = 0; choice < choices.size(); ++choice) {
      choices[choice].setting->set(spec, choices[choice].values[at[choice]]);
    }
    if (seen.insert(models::run_id(spec)).second) {
      runs.push_back(std::move(spec));
    }
    for (std::size_t choice = choices.size(); choice-- > 0;) {
      if (++at[choice] < choices[choice].values.size()) {
        break;
      }
      at[choice] = 0;
    }
  }
  return runs;
}

}  // namespace modlab::cli
