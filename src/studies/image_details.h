#pragma once

#include <nlohmann/json.hpp>

#include "measures/image_measures.h"

namespace modlab::studies {

// What a store keeps of a look at a network on images; docs/formats.md describes it.
nlohmann::ordered_json image_details(const measures::ImageView& view, const tasks::TaskSuite& suite);

}  // namespace modlab::studies
