#pragma once

#include <string>

#include "models/saved_snapshot.h"

namespace modlab::report {

// Which network it is, and its accuracies: two lines.
std::string snapshot_heading(const models::SavedSnapshot& snapshot);
std::string snapshot_heading(const models::SavedImageSnapshot& snapshot);

// One saved network for people, as `modlab show` prints it: what it reads and follows beside the truth. A network on
// images is run on its samples and on all test images.
std::string network_text(const models::SavedSnapshot& snapshot);
std::string network_text(const models::SavedImageSnapshot& snapshot);

}  // namespace modlab::report
