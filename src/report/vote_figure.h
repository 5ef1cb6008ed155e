#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"

namespace modlab::report {

// Who wins contests, as shares that make 100 % with those that nobody won: studies/votes.h.
nlohmann::ordered_json vote_figure(const studies::Findings& findings, const studies::Figure& figure);

}  // namespace modlab::report
