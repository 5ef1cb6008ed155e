#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "studies/comparison.h"

namespace modlab::report {

nlohmann::ordered_json comparison_json(const studies::Comparison& comparison);
// "+12.3 points ([8.1, 16], 90 % over 10 splits; [9, 15.6], 90 % on these 10 splits)".
std::string comparison_text(const studies::Comparison& comparison);

}  // namespace modlab::report
