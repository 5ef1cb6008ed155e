#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// Networks on rules side by side: for each task and its rules the typical network of each model, and how its modules
// came to serve the rules. web/src/report.ts describes the form (MixtureCell).
nlohmann::ordered_json gallery_rules(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
