#pragma once

#include <string>

#include "models/saved_snapshot.h"

namespace modlab::report {

// A saved network as a picture by itself: the wiring of one with modules, drawn over that of its task; the layers of
// one without, with the modules that are found in them; which module of a mixture serves which rule. Throws ConfigError
// where there is nothing to draw, or too much.
std::string network_svg(const models::SavedSnapshot& snapshot);
std::string network_svg(const models::SavedImageSnapshot& snapshot);
std::string network_svg(const models::SavedRuleSnapshot& snapshot);

}  // namespace modlab::report
