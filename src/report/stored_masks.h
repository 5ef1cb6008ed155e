#pragma once

#include <nlohmann/json.hpp>

#include "experiments/experiment.h"
#include "studies/store.h"

namespace modlab::report {

// What the store has of a network's masks, as the page shows it (MaskedNetwork in web/src/report.ts, from `beta` on).
// Null where nothing was masked, and pictures and histograms are null where the store has none. Throws FormatError that
// names the run where what is stored cannot be.
nlohmann::ordered_json stored_masks(const experiments::Run& run, studies::Store& store);

}  // namespace modlab::report
