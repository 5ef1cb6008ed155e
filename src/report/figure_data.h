#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"

namespace modlab::report {

// A study's figures as numbers: what the page and the figure files draw. web/src/report.ts describes the form.
nlohmann::ordered_json figure_data(const studies::Findings& findings);

}  // namespace modlab::report
