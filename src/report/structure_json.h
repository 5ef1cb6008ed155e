#pragma once

#include <nlohmann/json.hpp>

#include "measures/structure.h"
#include "models/layered_network_file.h"

namespace modlab::report {

// One network as `modlab structure --json` prints it. Units of groups count from 1, as a person gives them.
nlohmann::ordered_json structure_json(const models::NamedNetwork& named, const measures::Structure& structure);

}  // namespace modlab::report
