#pragma once

#include "experiments/experiment.h"
#include "models/images/image_spec.h"

namespace modlab::experiments {

// Networks that read images.
const Experiment& images();
models::ImageSpec image_spec(const Values& values);

}  // namespace modlab::experiments
