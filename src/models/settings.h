#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "models/run_spec.h"

namespace modlab::models {

// One setting of a run. This table is the only place that knows a setting's name, form, check and explanation: the
// command line, the JSON output, run names and docs/settings.md are made from it.
struct Setting {
  // Which models, and which kind of task, it means something to.
  enum class Scope {
    kAll,
    kUnsculpted,
    kSculpted,
    kMlp,
    kSparse,
    kModular,
    kOwnModules,
    kPool,
    kBits,
    kImages,
    kImageModular,
    kImagePool
  };

  std::string name;   // with underscores; dashes are the same on the command line
  std::string value;  // the form of a value, for help
  std::string help;
  Scope scope = Scope::kAll;
  bool is_list = false;  // a value is a list of numbers or of files
  // Reads one value; throws ConfigError that says what is allowed.
  void (*set)(RunSpec& spec, const std::string& text);
  nlohmann::json (*get)(const RunSpec& spec);
  bool is_size = false;  // a number whose 0 means "as the task has it"
};

std::span<const Setting> settings();
// The setting of that name (dashes or underscores), or null.
const Setting* find_setting(const std::string& name);
bool applies(const Setting& setting, const RunSpec& spec);

// The values that a user wrote for one setting: "0..99" and "0.1,0.01" are many, "3,2" is one list for a list setting
// and "3,2;6,4" or the words "3,2" "6,4" are two.
std::vector<std::string> expand_values(const Setting& setting, const std::vector<std::string>& words);

// Settings of a run by name, in table order, leaving out those that mean nothing to its model.
nlohmann::ordered_json settings_json(const RunSpec& spec);

// A setting's value as the command line has it: "0.1", "3,2", "none".
std::string setting_text(const nlohmann::json& value);

std::string model_name(ModelKind model);

// The table as a page of documentation.
std::string settings_markdown();

}  // namespace modlab::models
