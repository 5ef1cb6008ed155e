#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// The best, the median and the worst network of each cell that the study's gallery names: what it reads, drawn over the
// truth, and its curves. web/src/report.ts describes the form.
nlohmann::ordered_json gallery(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
