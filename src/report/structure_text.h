#pragma once

#include <string>

#include "measures/structure.h"
#include "models/layered_network_file.h"

namespace modlab::report {

// Whether a person could read the table of its path products.
bool fits_a_page(const models::LayeredNetwork& network);

// One network for people, as `modlab structure` prints it. Path products that are not there, or too many for a page,
// are left to --json.
std::string structure_text(const models::NamedNetwork& named, const measures::Structure& structure);

}  // namespace modlab::report
