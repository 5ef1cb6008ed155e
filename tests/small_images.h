#pragma once

#include <random>
#include <string>
#include <vector>

#include "io/idx.h"
#include "temporary_folder.h"

namespace modlab::test {

// Small labelled images in IDX files of a folder, easy to tell apart: every bit of a digit lights a band of rows of its
// own, the most significant on top, and a few pixels elsewhere are noise.
struct SmallImages {
  int rows = 8;
  int columns = 8;
  int digits = 8;
  int per_digit = 10;
  int bits = 3;
  std::string name = "small";

  void write(const TemporaryFolder& folder) const {
    std::mt19937 random(7);
    for (const std::string part : {"train", "test"}) {
      io::IdxArray images;
      io::IdxArray labels;
      for (int image = 0; image < digits * per_digit; ++image) {
        const int digit = image % digits;
        labels.values.push_back(static_cast<std::uint8_t>(digit));
        for (int row = 0; row < rows; ++row) {
          const int bit = bits - 1 - row * bits / rows;
          for (int column = 0; column < columns; ++column) {
            const bool is_lit = (digit >> bit & 1) != 0;
            const bool is_noise = random() % 12 == 0;
            images.values.push_back(static_cast<std::uint8_t>(is_lit     ? 128 + random() % 128
                                                              : is_noise ? random() % 64
                                                                         : 0));
          }
        }
      }
      const auto count = static_cast<std::uint32_t>(labels.values.size());
      labels.shape = {count};
      images.shape = {count, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns)};
      folder.write(name + "-" + part + "-images", io::encode_idx(images));
      folder.write(name + "-" + part + "-labels", io::encode_idx(labels));
    }
  }

  // Names of the files, training first, `before` them the folder.
  std::vector<std::string> images(const std::string& before = "") const {
    return {before + name + "-train-images", before + name + "-test-images"};
  }
  std::vector<std::string> labels(const std::string& before = "") const {
    return {before + name + "-train-labels", before + name + "-test-labels"};
  }
};

}  // namespace modlab::test
