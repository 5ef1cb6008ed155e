#include "models/digits/pixel_batch.h"

namespace modlab::models {

static_assert(tasks::kImageClasses == kDigitClasses);

DigitBatch pixel_batch(const tasks::PermutedImages& images, std::span<const std::uint32_t> order,
                       std::span<const std::uint32_t> numbers) {
  DigitBatch batch;
  batch.rows = static_cast<int>(numbers.size());
  batch.groups = 1;
  batch.counts = {1};
  batch.read_at = {0};
  batch.values.reserve(numbers.size() * order.size());
  for (const std::uint32_t number : numbers) {
    const std::span<const std::uint8_t> image = images.data->train.image(number);
    for (const std::uint32_t pixel : order) {
      batch.values.push_back(images.shades[image[pixel]]);
    }
    batch.digits.push_back(images.data->train.labels[number]);
  }
  return batch;
}

}  // namespace modlab::models
