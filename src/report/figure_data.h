#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// A study's figures as numbers: what the page and the figure files draw. web/src/report.ts describes the form. The
// store has what runs were while they were trained.
nlohmann::ordered_json figure_data(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
