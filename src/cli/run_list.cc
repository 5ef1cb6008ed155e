#include "cli/run_list.h"

#include <algorithm>
#include <map>

#include "cli/published_flags.h"
#include "models/grid.h"
#include "models/settings.h"

namespace modlab::cli {
namespace {

std::vector<models::Choices> choices_from(const Arguments& arguments) {
  std::map<std::string, std::vector<std::string>> words = translate_published(arguments);
  for (const models::Setting& setting : models::settings()) {
    if (arguments.has(setting.name)) {
      words[setting.name] = arguments.words(setting.name);
    }
  }
  std::vector<models::Choices> choices;
  for (const models::Setting& setting : models::settings()) {
    const auto found = words.find(setting.name);
    if (found == words.end()) {
      continue;
    }
    models::Choices choice{&setting, models::expand_values(setting, found->second)};
    if (setting.name == "model") {
      std::ranges::transform(choice.values, choice.values.begin(), &translate_model);
    }
    choices.push_back(std::move(choice));
  }
  // A published sparse network is an mlp with a pruning ratio.
  if (arguments.has("pruning_ratio") && words.contains("density")) {
    for (models::Choices& choice : choices) {
      if (choice.setting->name == "model") {
        std::ranges::replace(choice.values, std::string("dense"), std::string("sparse"));
      }
    }
  }
  std::stable_partition(choices.begin(), choices.end(),
                        [](const models::Choices& choice) { return choice.setting->name != "seed"; });
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
  return models::all_combinations(choices_from(arguments));
}

std::vector<models::RunSpec> runs_from(const Arguments& arguments, models::ModelKind model) {
  std::vector<models::Choices> choices = choices_from(arguments);
  choices.insert(choices.begin(), {models::find_setting("model"), {models::model_name(model)}});
  return models::all_combinations(choices);
}

}  // namespace modlab::cli
