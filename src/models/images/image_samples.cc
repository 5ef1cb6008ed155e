#include "models/images/image_samples.h"

#include <map>
#include <mutex>

#include "engine/solo/pixels.h"
#include "models/images/image_blueprint.h"

namespace modlab::models {
namespace {

using engine::Part;

tasks::SampleCounts sample_counts(const ImageSpec& spec) {
  return {.train = spec.samples, .test = spec.test_samples, .disjoint_validation = spec.disjoint_validation};
}

}  // namespace

std::shared_ptr<const ImagePixels> load_pixels(const ImageSpec& resolved) {
  const std::shared_ptr<const tasks::ImageData> data = tasks::load_image_data(image_files(resolved));
  static std::mutex mutex;
  static std::map<std::pair<const tasks::ImageData*, bool>, std::shared_ptr<const ImagePixels>> cache;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const ImagePixels>& pixels = cache[{data.get(), resolved.normalize}];
  if (pixels == nullptr) {
    const auto convert = [&](const tasks::ImageSet& set) {
      return engine::solo::make_pixel_images(set.pixels, set.pixel_count(), resolved.normalize);
    };
    pixels = std::make_shared<ImagePixels>(ImagePixels{data, convert(data->train), convert(data->test)});
  }
  return pixels;
}

tasks::ImageSamples draw_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                       const tasks::ImageData& data) {
  const tasks::ImageInputs& inputs = *suite.images();
  return tasks::draw_samples(data, inputs, tasks::split_combinations(inputs, resolved.ratio, resolved.split_seed),
                             resolved.split_seed, sample_counts(resolved));
}

engine::solo::Data make_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                      const ImagePixels& pixels) {
  const tasks::ImageInputs& inputs = *suite.images();
  const tasks::ImageSamples samples = draw_image_samples(resolved, suite, *pixels.data);
  engine::solo::Data data;
  data.images = inputs.images;
  data.outputs = suite.outputs();
  const auto fill = [&](Part part, const engine::solo::PixelImages& images,
                        const std::vector<tasks::ImageSample>& from) {
    engine::solo::SampleList& list = data.parts[static_cast<std::size_t>(part)];
    list.images = &images;
    for (const tasks::ImageSample& sample : from) {
      list.numbers.insert(list.numbers.end(), sample.images.begin(), sample.images.begin() + inputs.images);
      list.targets.push_back(suite.tasks.front().table.rows[sample.combination]);
    }
  };
  fill(Part::kTrain, pixels.train, samples.train);
  fill(Part::kValidation, pixels.train, samples.validation);
  fill(Part::kTest, pixels.test, samples.unseen);
  fill(Part::kSeen, pixels.test, samples.seen);
  return data;
}

std::array<int, engine::kScoreParts> count_image_samples(const ImageSpec& resolved, const tasks::TaskSuite& suite,
                                                         const tasks::ImageData& data) {
  // Drawing takes milliseconds, and cannot disagree with itself.
  const tasks::ImageSamples samples = draw_image_samples(resolved, suite, data);
  std::array<int, engine::kScoreParts> counts{};
  counts[static_cast<std::size_t>(Part::kTrain)] = static_cast<int>(samples.train.size());
  counts[static_cast<std::size_t>(Part::kValidation)] = static_cast<int>(samples.validation.size());
  counts[static_cast<std::size_t>(Part::kTest)] = static_cast<int>(samples.unseen.size());
  counts[static_cast<std::size_t>(Part::kSeen)] = static_cast<int>(samples.seen.size());
  return counts;
}

}  // namespace modlab::models
