#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace modlab::models {

// Square images in colour with their classes, as bytes: [image][colour][row][column].
struct ColourSamples {
  static constexpr int kColours = 3;

  int side = 32;
  std::vector<std::string> names;  // of the classes
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  std::size_t learned = 0;  // the first ones; the others are for testing

  std::size_t count() const { return labels.size(); }
  std::size_t image_bytes() const { return static_cast<std::size_t>(kColours) * side * side; }
};

// CIFAR-10 from the cache. Throws ConfigError with the way to it if it is not there, FormatError if it is not what was
// published.
std::shared_ptr<const ColourSamples> load_cifar10();
// Images of one's own, as numpy.savez writes them: inputs [image][3][side][side] from 0 to 255 and labels, perhaps
// test_inputs and test_labels. Throws FormatError.
ColourSamples read_colour_samples(const std::string& path);

}  // namespace modlab::models
