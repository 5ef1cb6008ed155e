#pragma once

#include <string>
#include <vector>

#include "models/rules/rule_spec.h"
#include "settings/spec_table.h"

namespace modlab::models {

const settings::SpecTable<RuleSpec>& rule_settings();

// "modular" and so on.
std::vector<std::string> rule_model_names();

}  // namespace modlab::models
