#pragma once

#include "models/blueprint.h"
#include "report/gallery.h"

namespace modlab::report {

// Networks on truth tables: their wiring, drawn over the truth.
nlohmann::ordered_json gallery_bits(const studies::Findings& findings, studies::Store& store);

// Of one network with modules, and of the first task of its suite: a WiringPicture.
nlohmann::ordered_json wiring_of_bits(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                                      const std::vector<float>& parameters);

}  // namespace modlab::report
