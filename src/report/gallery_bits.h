#pragma once

#include "report/gallery.h"

namespace modlab::report {

// Networks on truth tables: their wiring, drawn over the truth.
nlohmann::ordered_json gallery_bits(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
