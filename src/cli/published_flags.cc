#include "cli/published_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

// Noise that the published flag switches on.
constexpr auto kPublishedNoise = "0.1";

// A flag with another name for one of our settings and the same values.
struct Renamed {
  const char* flag;
  const char* setting;
};
constexpr Renamed kRenamed[] = {
    {"dataset_split", "ratio"},
    {"dataset_split_seed", "split_seed"},
    {"num_modules", "modules"},
    {"num_slots", "slots"},
    {"num_shared_modules", "pool"},
    {"module_arch", "module_widths"},
    {"topk", "fan_in"},
    {"lr_module_input", "lr_input"},
    {"lr_module_location", "lr_module"},
    {"scheduler", "schedule"},
    {"num_samples_per_combination_train", "samples"},
    {"num_samples_per_combination_test", "test_samples"},
    {"num_img_modules", "image_slots"},
    {"num_img_slots", "image_slots"},
    {"num_img_shared_modules", "image_pool"},
    {"img_module_arch", "image_widths"},
};

// Understood, and without effect on a result here: where files lie, and how the script was run.
constexpr const char* kIgnored[] = {"experiment", "dataset_path", "result_path", "gpu", "workers"};

// Switches, with and without a value.
constexpr Renamed kSwitches[] = {{"known_module_inputs", "known_inputs"},
                                 {"known_module_locations", "known_modules"},
                                 {"known_func_outputs", "known_outputs"},
                                 {"normalize_img", "normalize"}};

const std::map<std::string, std::string>& tasks_by_modularity() {
  static const std::map<std::string, std::string> kTasks = {{"6 2", "random62"},
                                                            {"6 2 2", "depth1"},
                                                            {"6 3 2 2", "depth2"},
                                                            {"6 3 3 2 2", "depth3"},
                                                            {"2 2 3 2 2", "mnist-xor-and"}};
  return kTasks;
}

std::string task_of(const std::vector<std::string>& modularity) {
  const std::string text = join_text(modularity, " ");
  const auto found = tasks_by_modularity().find(text);
  if (found == tasks_by_modularity().end()) {
    throw ConfigError(fmt::format("--modularity {} names no published task; use --task with a name or a file", text));
  }
  return found->second;
}

// "6 36 36 36 2" without its first and last width.
std::vector<std::string> hidden_of(const std::vector<std::string>& widths) {
  const std::vector<std::string> parts = widths.size() == 1 ? split_text(widths.front(), ',') : widths;
  if (parts.size() < 3) {
    throw ConfigError("--arch needs input, hidden and output widths, such as 6 36 36 36 2");
  }
  return {join_text(std::vector<std::string>(parts.begin() + 1, parts.end() - 1), ",")};
}

// The kind whose own tasks all of them are, or null.
const experiments::Experiment* owner_of_all(const experiments::Asked& asked) {
  const auto tasks = asked.find("task");
  if (tasks == asked.end()) {
    return nullptr;
  }
  const experiments::Experiment* owner = experiments::owner_of(tasks->second.front());
  return std::ranges::all_of(tasks->second,
                             [&](const std::string& task) { return experiments::owner_of(task) == owner; })
             ? owner
             : nullptr;
}

}  // namespace

std::vector<Option> published_options() {
  std::vector<Option> options;
  for (const Renamed& renamed : kRenamed) {
    options.push_back({renamed.flag, Arity::kMany, "", "", {}});
  }
  for (const char* ignored : kIgnored) {
    options.push_back({ignored, Arity::kMany, "", "", {}});
  }
  for (const Renamed& renamed : kSwitches) {
    options.push_back({renamed.flag, Arity::kSwitch, "", "", {}});
  }
  // The published README writes it without the s.
  options[options.size() - std::size(kSwitches)].aliases = {"known_module_input"};
  for (const char* flag : {"dataset_noise", "use_gumbel", "per_sample_routing"}) {
    options.push_back({flag, Arity::kSwitch, "", "", {}});
  }
  for (const char* flag : {"num_tasks", "num_digits", "modularity", "arch", "pruning_ratio"}) {
    options.push_back({flag, Arity::kMany, "", "", {}});
  }
  for (const experiments::Experiment* kind : experiments::all()) {
    for (const experiments::PublishedFlag& flag : kind->published_flags()) {
      options.push_back({flag.name, flag.is_switch ? Arity::kSwitch : Arity::kMany, "", "", {}});
    }
  }
  return options;
}

std::map<std::string, std::vector<std::string>> translate_published(const Arguments& arguments) {
  std::map<std::string, std::vector<std::string>> settings;
  for (const Renamed& renamed : kRenamed) {
    if (arguments.has(renamed.flag)) {
      settings[renamed.setting] = arguments.words(renamed.flag);
    }
  }
  for (const Renamed& renamed : kSwitches) {
    if (arguments.has(renamed.flag)) {
      settings[renamed.setting] = {arguments.is_on(renamed.flag) ? "true" : "false"};
    }
  }
  if (arguments.has("dataset_noise")) {
    settings["noise"] = {arguments.is_on("dataset_noise") ? kPublishedNoise : "0"};
  }
  if (arguments.is_on("use_gumbel")) {
    settings["gumbel"] = {arguments.is_on("per_sample_routing") ? "sample" : "batch"};
  }
  if (arguments.has("modularity")) {
    settings["task"] = {task_of(arguments.words("modularity"))};
  }
  if (arguments.has("num_tasks") && arguments.text("num_tasks") != "1") {
    throw ConfigError("--num_tasks other than 1 is a suite here; use --task A+B, A+B+C or A+C");
  }
  if (arguments.has("num_digits") && arguments.text("num_digits") != "8") {
    throw ConfigError(
        fmt::format("--num_digits {}: the published image task has 3 bits for a digit, so the digits 0 to 7 and 64 "
                    "combinations; write a task file with `digits: {}` and give it with --task",
                    arguments.text("num_digits"), arguments.text("num_digits")));
  }
  if (arguments.has("model") && arguments.text("model").ends_with("_cnn")) {
    settings["image_module"] = {"conv"};
  }
  if (arguments.has("arch")) {
    settings["hidden"] = hidden_of(arguments.words("arch"));
  }
  if (arguments.has("pruning_ratio")) {
    // In percent, as published: 75 keeps a quarter.
    const std::optional<double> percent = parse_real(arguments.text("pruning_ratio"));
    if (!percent || !(*percent >= 0 && *percent < 100)) {
      throw ConfigError(
          fmt::format("--pruning_ratio is the percentage of weights to prune, from 0 to below 100, not '{}'",
                      arguments.text("pruning_ratio")));
    }
    if (*percent > 0) {
      settings["density"] = {fmt::format("{}", 1.0 - *percent / 100.0)};
    }
  }
  return settings;
}

std::string translate_model(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {
      {"mlp", "dense"},
      {"hierarchically_modular", "modular"},
      {"hierarchically_modular_shared_modules", "modular-shared"},
      {"hierarchically_modular_mlp", "modular"},
      {"hierarchically_modular_cnn", "modular"},
      {"hierarchically_modular_shared_modules_mlp", "modular-shared"},
      {"hierarchically_modular_shared_modules_cnn", "modular-shared"},
  };
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

experiments::Asked translate_for_kind(const Arguments& arguments, experiments::Asked asked) {
  const experiments::Experiment* owner = owner_of_all(asked);
  for (const experiments::Experiment* kind : experiments::all()) {
    for (const experiments::PublishedFlag& flag : kind->published_flags()) {
      if (!arguments.has(flag.name)) {
        continue;
      }
      if (kind != owner) {
        throw ConfigError(fmt::format("--{} is a flag for the tasks {}; name one of them with --task",
                                      arguments.given_as(flag.name), join_text(own_task_names(*kind), ", ")));
      }
      settings::Setting setting;
      setting.name = flag.name;
      asked[flag.name] = flag.is_switch ? std::vector<std::string>{arguments.is_on(flag.name) ? "true" : "false"}
                                        : settings::expand_values(setting, arguments.words(flag.name));
    }
  }
  return owner == nullptr ? asked : owner->in_our_words(std::move(asked));
}

}  // namespace modlab::cli
