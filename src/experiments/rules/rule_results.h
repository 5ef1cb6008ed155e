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
// The same of someone else's network, of which `shape` says how many outputs and modules it has.
Result rule_result(const models::RuleSpec& spec, const models::RuleShape& shape, const tasks::RuleTask& task,
                   const models::TrainedRules& trained, const Resources& resources,
                   models::JudgedRuleNetwork<float>& network, std::size_t parameters);
// "3 of 8 networks, 1200 steps/s".
std::string rule_status(double steps, std::size_t networks_done, std::size_t networks, double seconds);
// Takes out the curve where nobody wants it, and adds it as a table where someone does. `name`: the run.
void keep_wanted(const Wanted& wanted, const std::string& name, Result& result);

// The curve by the names of its measures, and as a table. Both throw FormatError, naming `source`, where it is damaged.
std::vector<Numbers> rule_curve_points(const std::string& curve, const std::string& source);
std::string rule_curve_csv(const std::string& curve, const std::string& source);

// What gates would measure that use every module equally often whatever the rule.
Numbers random_gates(int rules, int modules);

}  // namespace modlab::experiments
