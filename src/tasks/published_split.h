#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace modlab::tasks {

// Training images by their numbers as experiments with masks split them: four of five to learn from, the others to be
// tested on. Drawn image by image by numpy's legacy generator with a seed of its own: 48017 and 11983 of MNIST, 40053
// and 9947 of CIFAR-10.
struct PublishedSplit {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> test;
};
PublishedSplit published_split(std::size_t images);

}  // namespace modlab::tasks
