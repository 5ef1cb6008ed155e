#include "models/torch/image_batches.h"

namespace modlab::models {

ImageBatches::ImageBatches(const ImageSpec& spec, const tasks::TaskSuite& suite, bool is_flat)
    : pixels_(load_pixels(spec)),
      data_(make_image_samples(spec, suite, *pixels_)),
      batch_(std::make_shared<GivenSamples>()) {
  const auto images = static_cast<std::size_t>(data_.images);
  const auto rows = static_cast<std::size_t>(pixels_->data->train.rows);
  const auto columns = static_cast<std::size_t>(pixels_->data->train.columns);
  batch_->shape = is_flat ? std::vector{images * rows * columns} : std::vector{images, rows, columns};
  batch_->kind = LabelKind::kBits;
  batch_->columns = data_.outputs;
}

std::shared_ptr<const GivenSamples> ImageBatches::make(engine::Part part, std::span<const std::uint32_t> samples) {
  const engine::solo::SampleList& list = data_[part];
  const tasks::ImageSet& set = list.images == &pixels_->train ? pixels_->data->train : pixels_->data->test;
  const auto images = static_cast<std::size_t>(data_.images);
  batch_->inputs.resize(samples.size() * images * static_cast<std::size_t>(set.pixel_count()));
  batch_->labels.clear();
  float* to = batch_->inputs.data();
  for (const std::size_t sample : samples) {
    for (const std::uint32_t number : std::span(list.numbers).subspan(sample * images, images)) {
      for (const std::uint8_t byte : set.image(number)) {
        *to++ = list.images->value_of_byte[byte];
      }
    }
    for (int output = 0; output < data_.outputs; ++output) {
      batch_->labels.push_back(static_cast<float>(list.targets[sample] >> static_cast<unsigned>(output) & 1U));
    }
  }
  batch_->learned = samples.size();
  return batch_;
}

}  // namespace modlab::models
