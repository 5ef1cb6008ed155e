#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tasks/image_data.h"

// One task after the other on the same images: as they are, and then with their pixels in other orders.
namespace modlab::tasks {

inline constexpr int kImageClasses = 10;

struct PermutedImages {
  std::shared_ptr<const ImageData> data;
  // Training images by their numbers, split as published: four of five to learn from, the others to be tested on. The
  // test images are not used.
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> test;
  // What a pixel of each shade is to a network: all pixels of all training images have mean 0 and variance 1.
  std::array<float, 256> shades{};
};

// Throws ConfigError for images that have more classes than ten, are all alike, or are too few to be split.
PermutedImages permuted_images(std::shared_ptr<const ImageData> data);

// Which pixel stands at each place of an image in a task: as it was in the first one, 0, otherwise anywhere.
std::vector<std::uint32_t> pixel_order(int pixels, int task);

}  // namespace modlab::tasks
