#pragma once

#include <string>
#include <vector>

#include "models/images/image_spec.h"
#include "models/run_spec.h"
#include "settings/spec_table.h"

namespace modlab::models {

// The settings of networks that are trained, on truth tables and on images.
const settings::SpecTable<RunSpec>& bit_settings();
const settings::SpecTable<ImageSpec>& image_settings();

std::string model_name(ModelKind model);
// All of them.
std::vector<std::string> model_names();

}  // namespace modlab::models
