#pragma once

#include <vector>

#include "engine/network.h"
#include "engine/solo/parameters.h"
#include "models/modular.h"

namespace modlab::models {

// What reads images: fully connected layers on their pixels, or two convolutions (5 by 5, each followed by a ReLU and a
// maximum over 2 by 2) and fully connected layers on what is left.
struct ImageReader {
  int parts = 1;  // images that it sees side by side, or as channels
  int rows = 28;
  int columns = 28;
  std::vector<int> channels;  // of the two convolutions; empty: none
  std::vector<int> widths;    // inputs of the first fully connected layer, hidden layers, outputs

  int pixels() const { return rows * columns; }
  int outputs() const { return widths.back(); }
};

inline constexpr int kConvolutions = 2;
inline constexpr int kKernelSize = 5;
inline constexpr int kPoolSize = 2;
// What two convolutions and maxima leave of `size` pixels in a row; not positive if they do not fit.
int convolved(int size);

// A network without modules: one reader of all images.
struct ImageMlpShape {
  ImageReader reader;

  int images() const { return reader.parts; }
};

// A hierarchically modular network whose lowest level are image slots. Each selects one image and gives several values,
// which the levels of `bits` select from. With a pool, image slots choose among `image_pool` readers; without, each has
// its own.
struct ImageModularShape {
  int images = 2;
  int image_slots = 2;
  int image_pool = 0;  // 0: every image slot has its own reader
  ImageReader reader;  // of one image
  ModularShape bits;

  bool known_images() const { return bits.known_inputs; }
};

// Where the parts of a network lie in its layout: numbers of tensors.
struct ReaderTensors {
  std::vector<std::size_t> convolutions;  // weight; its bias is the next tensor
  std::vector<std::size_t> layers;
};
struct ImageMlpLayout {
  engine::Layout layout;
  ReaderTensors reader;
  std::vector<engine::solo::PixelTensor> pixel_tensors;
};
struct ImageModularLayout {
  engine::Layout layout;
  std::vector<ReaderTensors> readers;                    // of each image slot, or of each member of the image pool
  std::vector<std::vector<std::size_t>> modules;         // of each slot, or of each member of the pool: its layers
  std::size_t image_inputs = 0;                          // selection vectors
  std::size_t image_members = 0;                         // meaningless without a pool
  std::vector<std::size_t> level_inputs, level_members;  // [level]
  std::size_t outputs = 0;
  std::vector<engine::solo::PixelTensor> pixel_tensors;
};

// Where the selection vectors of the levels above the image slots begin.
SelectionPlaces bit_selections(const ImageModularLayout& places);

ImageMlpLayout image_mlp_layout(const ImageMlpShape& shape);
ImageModularLayout image_modular_layout(const ImageModularShape& shape);

}  // namespace modlab::models
