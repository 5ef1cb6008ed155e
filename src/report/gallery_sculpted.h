#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// Sculpted networks one by one, for each cell that the study's gallery names, or for one cell of each task and series:
// a typical one, the best one, and one that failed, with their histories. web/src/report.ts describes the form
// (Sculpted).
nlohmann::ordered_json gallery_sculpted(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
