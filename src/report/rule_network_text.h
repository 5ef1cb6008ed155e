#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "measures/rule_network.h"

namespace modlab::report {

// A saved network on rules as `modlab show` and `modlab measure` print it: which module serves which rule, and whether
// modules specialise. Both say the same, since what it does is what is measured.
std::string network_text(const models::SavedRuleSnapshot& snapshot);
nlohmann::ordered_json network_json(const models::SavedRuleSnapshot& snapshot);

std::string measures_text(const models::SavedRuleSnapshot& snapshot, const measures::RuleNetworkMeasures& measured);
nlohmann::ordered_json measures_json(const models::SavedRuleSnapshot& snapshot,
                                     const measures::RuleNetworkMeasures& measured);

}  // namespace modlab::report
