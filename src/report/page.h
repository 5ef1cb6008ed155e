#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace modlab::report {

// The report as one HTML file that needs nothing beside itself. What `report` holds is described in web/src/report.ts.
std::string page(const nlohmann::ordered_json& report);

}  // namespace modlab::report
