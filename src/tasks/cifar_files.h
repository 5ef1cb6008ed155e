#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/published_files.h"

// CIFAR-10 (Krizhevsky 2009): 50000 training and 10000 test images in colour, 32 x 32 pixels, of ten classes.
namespace modlab::tasks {

// The official binary batches: 10000 records of a label and the red, green and blue plane of an image.
inline constexpr std::array<PublishedFile, 6> kCifarFiles = {{
    {"data_batch_1.bin", 30'730'000, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
    {"data_batch_2.bin", 30'730'000, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
    {"data_batch_3.bin", 30'730'000, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
    {"data_batch_4.bin", 30'730'000, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
    {"data_batch_5.bin", 30'730'000, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
    {"test_batch.bin", 30'730'000, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
}};

inline constexpr std::array<std::string_view, 10> kCifarClasses = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                                   "dog",      "frog",       "horse", "ship", "truck"};

// Labelled images in colour: [image][colour][row][column], a byte each.
struct ColourSet {
  static constexpr int kSide = 32;
  static constexpr std::size_t kBytes = 3 * kSide * kSide;

  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t index) const {
    return std::span(pixels).subspan(index * kBytes, kBytes);
  }
};

struct CifarData {
  ColourSet train;
  ColourSet test;
};

const PublishedData& cifar10();

// Reads the batches in `folder` and checks their sums. Throws FormatError with the way out.
CifarData read_cifar10(const std::string& folder);

}  // namespace modlab::tasks
