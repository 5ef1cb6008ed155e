#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "studies/claims.h"
#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// Everything that the page shows, as web/src/report.ts describes it.
nlohmann::ordered_json report_data(const studies::Findings& findings, const std::vector<studies::ClaimResult>& claims,
                                   studies::Store& store);

}  // namespace modlab::report
