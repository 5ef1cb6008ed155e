#pragma once

#include "models/learned_routing.h"
#include "report/gallery.h"

namespace modlab::report {

// Networks on images: their wiring, what image modules say of each digit, combinations, and samples with their pixels.
nlohmann::ordered_json gallery_images(const studies::Findings& findings, studies::Store& store);

// Images, the values of image slots and modules of one network: a WiringPicture.
nlohmann::ordered_json wiring_of_images(models::ImageRouting learned, const tasks::TaskSuite& suite);

}  // namespace modlab::report
