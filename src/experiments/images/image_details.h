#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "measures/image_measures.h"
#include "models/learned_routing.h"

namespace modlab::experiments {

// What a store keeps of a look at a network on images; docs/formats.md describes it.
nlohmann::ordered_json image_details(const measures::ImageView& view, const tasks::TaskSuite& suite);
// What a network with modules selects, from such details; nothing of one without modules. Throws FormatError if it
// selects what a network on such images does not have.
std::optional<models::ImageRouting> routing_of_details(const nlohmann::ordered_json& details,
                                                       const tasks::TaskSuite& suite);
// Such details, if every list in them is as long as the task wants it and every number is one that can be. Throws
// FormatError otherwise.
const nlohmann::ordered_json& checked_details(const nlohmann::ordered_json& details, const tasks::TaskSuite& suite);

}  // namespace modlab::experiments
