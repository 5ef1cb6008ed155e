#pragma once

#include <memory>

#include "engine/solo/train_solo.h"
#include "models/images/image_spec.h"
#include "tasks/image_data.h"
#include "tasks/image_samples.h"
#include "tasks/task.h"

namespace modlab::models {

// Images, and the same as the kernels read them.
struct ImagePixels {
  std::shared_ptr<const tasks::ImageData> data;
  engine::solo::PixelImages train;
  engine::solo::PixelImages test;
};

// Read once in a process and shared by all runs; fetches MNIST if need be. Throws ConfigError or FormatError.
std::shared_ptr<const ImagePixels> load_pixels(const ImageSpec& resolved);

// The samples of a run, by combination.
tasks::ImageSamples draw_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                       const tasks::ImageData& data);

// What a run learns from and is tested on, as the engine reads it. The test part holds the unseen combinations.
engine::solo::Data make_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                      const ImagePixels& pixels);

// How many samples of each part that is.
std::array<int, engine::kScoreParts> count_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                                         const tasks::ImageData& data);

}  // namespace modlab::models
