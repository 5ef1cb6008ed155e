#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// What the page shows of single runs, by the section of web/src/report.ts that it belongs to. Sections of kinds that
// the study does not have are empty or null.
nlohmann::ordered_json galleries(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
