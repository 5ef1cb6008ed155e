#pragma once

#include <cstdint>
#include <optional>

#include "engine/training.h"
#include "methods/flat_optimizer.h"
#include "models/torch/image_batches.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// How a network on libtorch learns an image task as our own networks do (engine/solo/train_solo.h).
struct ImageTraining {
  FlatOptimizerSpec optimizer = {};
  int epochs = 200;
  int batch_size = 128;
  std::uint64_t seed = 0;
};

// The same batches in the same order as our networks of that seed have. Nothing if it was asked to stop.
std::optional<engine::LaneResult> train_images(models::ScriptedNetwork& network, models::ImageBatches& batches,
                                               const ImageTraining& training, engine::Progress& progress);

// How long it takes here to learn from a sample, and to be tested on one.
struct ImageSampleSeconds {
  double learned = 0;
  double tested = 0;
};
ImageSampleSeconds image_sample_seconds(models::ScriptedNetwork& network, models::ImageBatches& batches,
                                        const ImageTraining& training);

}  // namespace modlab::methods
