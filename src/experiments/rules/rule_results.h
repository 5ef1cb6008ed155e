#pragma once

#include "experiments/experiment.h"
#include "models/rules/train_rules.h"

namespace modlab::experiments {

std::span<const Measure> rule_measures();
// Of a point of the curve, the training step first.
std::span<const Measure> rule_curve_measures();

// Lengths at which a network on sequences is tested, and which of them the headline of out-of-distribution data has.
std::vector<int> test_lengths(const models::RuleSpec& spec);

// Tokens on which a network is judged, while it is trained and after that.
double judged_tokens(const models::RuleSpec& spec);

// Numbers of both snapshots; `activation/best` and `activation/last`, rules by modules, and `curve` as JSON.
Result rule_result(const models::RuleSpec& spec, const tasks::RuleTask& task, const models::TrainedRules& trained,
                   const Resources& resources);

// The curve by the names of its measures, and as a table. Both throw FormatError, naming `source`, where it is damaged.
std::vector<Numbers> rule_curve_points(const std::string& curve, const std::string& source);
std::string rule_curve_csv(const std::string& curve, const std::string& source);

// What gates would measure that use every module equally often whatever the rule.
Numbers random_gates(int rules, int modules);

}  // namespace modlab::experiments
