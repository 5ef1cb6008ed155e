#pragma once

#include <nlohmann/json.hpp>

#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// "best" or "last": the state of the networks that figures and claims look at.
const char* snapshot_name(const studies::Findings& findings);

// What the gallery shows of a network on images besides its wiring: image modules, combinations, and samples with their
// pixels. web/src/report.ts describes it (ImageDetails). Null where the store has nothing of it; without pixels where
// the images are not at hand.
nlohmann::ordered_json gallery_images(const studies::Findings& findings, studies::Store& store,
                                      const studies::PlannedRun& run);

// The wiring of such a network, drawn over the truth (RoutingGraph): images, the values of image slots, modules. Null
// for a network without modules.
nlohmann::ordered_json image_graph(const studies::Findings& findings, studies::Store& store,
                                   const studies::PlannedRun& run);

}  // namespace modlab::report
