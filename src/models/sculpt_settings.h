#pragma once

#include <vector>

#include "models/settings.h"

namespace modlab::models {

// The rows of the settings' table that mean something to sculpted networks alone.
std::vector<Setting> sculpt_settings();

}  // namespace modlab::models
