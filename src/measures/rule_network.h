#pragma once

#include <optional>
#include <vector>

#include "measures/module_use.h"
#include "models/saved_snapshot.h"

namespace modlab::measures {

// Gates as they were found, [rule][module]. Nothing where a rule was followed by no sample or gates are no numbers.
std::optional<ModuleUse> rule_use(int rules, int modules, const std::vector<double>& activation);

// What `modlab measure` says of a saved network on rules, from the test samples of its training.
struct RuleNetworkMeasures {
  double loss = 0;
  std::optional<double> error;   // of classes, in percent
  std::optional<ModuleUse> use;  // of mixtures
};
RuleNetworkMeasures measure_snapshot(const models::SavedRuleSnapshot& snapshot);

}  // namespace modlab::measures
