#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/network.h"
#include "models/torch/colour_samples.h"

// Networks on images in colour, as far as they can be known without libtorch, which computes them (src/torch).
namespace modlab::models {

// How the bytes of an image become numbers: of each colour, what is taken from a byte and what it is then divided by.
struct ColourScale {
  std::array<float, 3> mean{};
  std::array<float, 3> deviation{1, 1, 1};
};

enum class ColourNetworkKind {
  kCnn,     // four convolutions, halved thrice, and a linear layer
  kResnet,  // three groups of residual blocks (He et al. 2016)
};

struct ColourShape {
  ColourNetworkKind kind = ColourNetworkKind::kCnn;
  std::vector<int> channels = {32, 64, 128, 256};  // of each convolution, or of each group of blocks
  int blocks = 18;                                 // of a group; 18 are 110 layers
  int classes = 10;
  ColourScale scale = {};
  bool dropout = true;     // of the CNN: 0.25 after the third convolution, 0.5 after the fourth
  bool augments = false;   // images that are learned from are moved by up to four pixels, and mirrored
  std::uint64_t seed = 0;  // of the initial weights
};

// Parameters from the images up, named as PyTorch names modules. Those of the last layer are the last two.
engine::Layout colour_layout(const ColourShape& shape);
// Products of a weight with a number that one image takes, roughly.
double colour_products(const ColourShape& shape, int side);
// Uniform by fan-in, biases too; a ResNet's convolutions are normal by fan-out, its norms begin with 1 and 0.
std::vector<float> initial_colour_weights(const ColourShape& shape);

}  // namespace modlab::models
