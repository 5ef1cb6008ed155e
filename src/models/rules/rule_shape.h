#pragma once

#include "engine/network.h"
#include "models/rules/gate_settings.h"
#include "tasks/rule_task.h"

namespace modlab::models {

// Who decides which module answers.
enum class RuleModel {
  kMonolithic,  // nobody: there is one
  kModular,     // each module says how well it fits, from the whole input
  kModularOp,   // a gate that sees the rule alone
  kGtModular,   // the rule itself
  kScorer,      // one small network that looks at each module's output; of sums only
};

struct RuleShape {
  tasks::RuleFamily family = tasks::RuleFamily::kMlp;
  RuleModel model = RuleModel::kMonolithic;
  int rules = 2;
  int modules = 2;
  int width = 32;  // E, of the encoder; the second width is kSecondWidth times as large
  int data_columns = 2;
  int outputs = 1;
  GateSettings gates;  // which have no part in how many parameters there are

  bool has_modules() const { return model != RuleModel::kMonolithic; }
  int second_width() const;
};

inline constexpr int kSecondWidth = 4;

// Throws ConfigError where modules would be left without units.
RuleShape rule_shape(const tasks::RuleTaskSettings& task, RuleModel model, int modules, int width);

// Hidden units of a module of the family kMlp, an attention head's width, a module's units behind its heads, and the
// size of the state that modules share in place of the monolithic network's: so that all models have about as many
// weights.
int module_units(const RuleShape& shape);
int head_width(const RuleShape& shape);
int module_units_behind_heads(const RuleShape& shape);
int shared_state(const RuleShape& shape);

// All parameters. Modules stand side by side in one tensor wherever they read the same or are summed up: the first
// layers of all of them are one layer, and second layers, which a gate weighs, are one layer whose inputs are all
// modules' hidden units and, for their biases, the gate.
engine::Layout rule_layout(const RuleShape& shape);

}  // namespace modlab::models
