#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace modlab::tasks {

// Of an image; a network has a weight for each of them and each unit.
inline constexpr std::uint64_t kMaxPixels = 4096;

// Labelled grey images of one size, a byte a pixel: [image][row][column].
struct ImageSet {
  int rows = 0;
  int columns = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
  int pixel_count() const { return rows * columns; }
  std::span<const std::uint8_t> image(std::size_t index) const {
    return std::span(pixels).subspan(index * static_cast<std::size_t>(pixel_count()),
                                     static_cast<std::size_t>(pixel_count()));
  }
};

// The images that networks learn from, and those that they are tested on.
struct ImageData {
  ImageSet train;
  ImageSet test;
  std::string digest;  // of all pixels and labels: equal digests are equal data
};

// IDX files, plain or compressed with gzip: train and test. Empty: MNIST.
struct ImageFiles {
  std::vector<std::string> images;
  std::vector<std::string> labels;

  bool is_mnist() const { return images.empty() && labels.empty(); }
};

// Reads and checks them; the same files are read once in a process and shared. MNIST is fetched into the cache if it is
// not there (see mnist_files.h). Throws FormatError or ConfigError with the file and the way out.
std::shared_ptr<const ImageData> load_image_data(const ImageFiles& files);

}  // namespace modlab::tasks
