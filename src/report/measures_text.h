#pragma once

#include <string>

#include "measures/snapshot_measures.h"

namespace modlab::report {

// One measured network for people, as `modlab measure` prints it.
std::string measures_text(const models::SavedSnapshot& snapshot, const measures::SnapshotMeasures& measured);
std::string measures_text(const models::SavedImageSnapshot& snapshot, const measures::SnapshotMeasures& measured);

}  // namespace modlab::report
