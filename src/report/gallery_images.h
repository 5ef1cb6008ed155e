#pragma once

#include "report/gallery.h"

namespace modlab::report {

// Networks on images: their wiring, what image modules say of each digit, combinations, and samples with their pixels.
nlohmann::ordered_json gallery_images(const studies::Findings& findings, studies::Store& store);

}  // namespace modlab::report
