#pragma once

#include "experiments/experiment.h"
#include "models/rules/train_rules.h"

namespace modlab::experiments {

std::span<const Measure> rule_measures();

// Lengths at which a network on sequences is tested, and which of them the headline of out-of-distribution data has.
std::vector<int> test_lengths(const models::RuleSpec& spec);

// Numbers of both snapshots; `activation/best` and `activation/last`, rules by modules, and `curve` as JSON.
Result rule_result(const models::RuleSpec& spec, const tasks::RuleTask& task, const models::TrainedRules& trained,
                   const Resources& resources);

// The curve as a table. Throws FormatError, naming `source`, where it is damaged.
std::string rule_curve_csv(const std::string& curve, const std::string& source);

}  // namespace modlab::experiments
