#pragma once

#include <nlohmann/json.hpp>

#include "cli/snapshot.h"
#include "measures/image_measures.h"

namespace modlab::cli {

// Runs a saved network on its own samples and on all test images.
measures::ImageView look_at_images(const Snapshot& snapshot);

// What it reads, what its image modules say of each digit, and where it is right: for `modlab show`.
std::string image_text(const measures::ImageView& view, const tasks::ImageInputs& inputs);
nlohmann::ordered_json images_json(const Snapshot& snapshot, const measures::ImageView& view);

}  // namespace modlab::cli
