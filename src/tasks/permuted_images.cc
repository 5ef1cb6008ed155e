#include "tasks/permuted_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/numpy_random.h"
#include "tasks/published_split.h"

namespace modlab::tasks {
namespace {

std::array<float, 256> standard_shades(const ImageSet& images) {
  std::array<std::uint64_t, 256> counts{};
  for (const std::uint8_t pixel : images.pixels) {
    ++counts[pixel];
  }
  const auto pixels = static_cast<double>(images.pixels.size());
  double mean = 0;
  double square = 0;
  for (std::size_t shade = 0; shade < counts.size(); ++shade) {
    const auto value = static_cast<double>(shade);
    mean += value * static_cast<double>(counts[shade]) / pixels;
    square += value * value * static_cast<double>(counts[shade]) / pixels;
  }
  const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
  if (deviation < 1e-6) {
    throw ConfigError("all pixels of the training images are alike; name images that differ");
  }
  std::array<float, 256> shades{};
  for (std::size_t shade = 0; shade < shades.size(); ++shade) {
    shades[shade] = static_cast<float>((static_cast<double>(shade) - mean) / deviation);
  }
  return shades;
}

}  // namespace

PermutedImages permuted_images(std::shared_ptr<const ImageData> data) {
  const ImageSet& images = data->train;
  const auto other = std::ranges::find_if(images.labels, [](std::uint8_t label) { return label >= kImageClasses; });
  if (other != images.labels.end()) {
    throw ConfigError(fmt::format("a training image has the label {}; permuted-mnist has the {} labels from 0 on",
                                  static_cast<int>(*other), kImageClasses));
  }
  PermutedImages permuted;
  PublishedSplit split = published_split(images.count());
  permuted.train = std::move(split.train);
  permuted.test = std::move(split.test);
  if (permuted.train.empty() || permuted.test.empty()) {
    throw ConfigError(
        fmt::format("{} training images are too few to learn from four of five of them; name more", images.count()));
  }
  permuted.shades = standard_shades(images);
  permuted.data = std::move(data);
  return permuted;
}

std::vector<std::uint32_t> pixel_order(int pixels, int task) {
  if (task > 0) {
    return NumpyRandom(static_cast<std::uint32_t>(task)).permutation(static_cast<std::uint32_t>(pixels));
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t pixel = 0; pixel < static_cast<std::uint32_t>(pixels); ++pixel) {
    order.push_back(pixel);
  }
  return order;
}

}  // namespace modlab::tasks
