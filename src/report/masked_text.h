#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace modlab::report {

// Networks of one kind that were masked for the same targets, as experiments::mask_json has them: what they do under
// each mask and without what it keeps, what masks keep and share, beside chance and controls. Means of several
// networks, and how much they differ.
std::string masked_text(std::span<const nlohmann::ordered_json> networks);

}  // namespace modlab::report
