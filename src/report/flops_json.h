#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "measures/flops.h"

namespace modlab::report {

// One count as `modlab flops --json` prints it: whole numbers, however large, with blanks between them.
std::string flops_json(const measures::FlopCount& count);

// The paper's Table 1: what the formulas give, and what is printed there.
nlohmann::ordered_json table_one_json();

}  // namespace modlab::report
