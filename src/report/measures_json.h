#pragma once

#include <nlohmann/json.hpp>

#include "measures/snapshot_measures.h"

namespace modlab::report {

// One measured network as `modlab measure --json` prints it: its settings, then every measure, null where it means
// nothing.
nlohmann::ordered_json measures_json(const models::SavedSnapshot& snapshot, const measures::SnapshotMeasures& measured);
nlohmann::ordered_json measures_json(const models::SavedImageSnapshot& snapshot,
                                     const measures::SnapshotMeasures& measured);

}  // namespace modlab::report
