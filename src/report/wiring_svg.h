#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace modlab::report {

// A WiringPicture as SVG by itself, for those who have no page to draw it: inputs on the left, outputs on the right,
// modules of a shared pool in a colour for each of its members.
std::string wiring_svg(const nlohmann::ordered_json& picture, const std::string& title);

}  // namespace modlab::report
