#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/images/image_samples.h"
#include "models/torch/given_samples.h"

namespace modlab::models {

// The samples of an image task as networks on libtorch take them. A batch is made of the images' bytes when it is asked
// for: all of them as numbers would be hundreds of megabytes.
class ImageBatches {
 public:
  // `is_flat`: all pixels of a sample as one list; otherwise images, rows and columns.
  ImageBatches(const ImageSpec& spec, const tasks::TaskSuite& suite, bool is_flat);

  int count(engine::Part part) const { return data_[part].count(); }
  // Some samples of a part, which are there until the next call.
  std::shared_ptr<const GivenSamples> make(engine::Part part, std::span<const std::uint32_t> samples);

 private:
  std::shared_ptr<const ImagePixels> pixels_;
  engine::solo::Data data_;
  std::shared_ptr<GivenSamples> batch_;
};

}  // namespace modlab::models
