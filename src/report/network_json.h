#pragma once

#include <nlohmann/json.hpp>

#include "models/saved_snapshot.h"

namespace modlab::report {

// One saved network as `modlab show --json` prints it: its settings, and what it reads and follows. A network on images
// is run on its samples and on all test images.
nlohmann::ordered_json network_json(const models::SavedSnapshot& snapshot);
nlohmann::ordered_json network_json(const models::SavedImageSnapshot& snapshot);

}  // namespace modlab::report
