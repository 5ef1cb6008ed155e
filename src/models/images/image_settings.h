#pragma once

#include "models/images/shape.h"
#include "models/run_spec.h"
#include "tasks/image_data.h"
#include "tasks/task.h"

namespace modlab::models {

// The part of resolve() that is about images: sizes that follow from them, and whether they fit. Throws ConfigError.
void resolve_images(RunSpec& spec, const tasks::TaskSuite& suite);

// For a resolved spec.
ImageMlpShape image_mlp_shape(const RunSpec& spec, const tasks::TaskSuite& suite);
ImageModularShape image_modular_shape(const RunSpec& spec, const tasks::TaskSuite& suite, const ModularShape& bits);
tasks::ImageFiles image_files(const RunSpec& spec);

}  // namespace modlab::models
