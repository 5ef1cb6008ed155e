#pragma once

#include <nlohmann/json.hpp>

#include "experiments/experiment.h"
#include "studies/findings.h"
#include "studies/store.h"

namespace modlab::report {

// Masked networks of one kind, for each cell that the study's gallery names: the one whose masks share least, the
// median and the one whose masks share most. web/src/report.ts describes the form (MaskedCell).
nlohmann::ordered_json gallery_masks(const experiments::Experiment& kind, const studies::Findings& findings,
                                     studies::Store& store);

}  // namespace modlab::report
