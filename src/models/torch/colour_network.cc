#include "models/torch/colour_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace modlab::models {
namespace {

constexpr int kSide = 3;  // of a convolution

// Layers one after the other, each with all of its tensors, and what they cost.
class Layers {
 public:
  explicit Layers(int side) : side_(side) {}

  const engine::Layout& layout() const { return layout_; }
  double products() const { return products_; }

  void halve() { side_ /= 2; }

  void convolution(const std::string& name, int in, int out, int side, bool has_bias) {
    const int fan_in = in * side * side;
    add(name + ".weight", {out, in, side, side}, fan_in, out);
    if (has_bias) {
      add(name + ".bias", {out}, fan_in, out);
    }
  }
  void norm(const std::string& name, int width) {
    add(name + ".weight", {width}, 1, width);
    add(name + ".bias", {width}, 1, width);
  }
  void linear(const std::string& name, int in, int out) {
    add(name + ".weight", {out, in}, in, out);
    add(name + ".bias", {out}, in, out);
  }

 private:
  void add(const std::string& name, std::vector<int> shape, int fan_in, int fan_out) {
    layout_.add(name, std::move(shape), engine::Rate::kFunctional, fan_in, fan_out);
    products_ += static_cast<double>(layout_.tensors.back().count) * side_ * side_;
  }

  int side_;
  engine::Layout layout_;
  double products_ = 0;
};

void add_cnn(const ColourShape& shape, Layers& layers) {
  // Their places among what the published network does one after the other.
  constexpr int kPlaces[] = {0, 3, 6, 10};
  int in = ColourSamples::kColours;
  for (std::size_t layer = 0; layer < std::size(kPlaces); ++layer) {
    layers.convolution(fmt::format("features.{}", kPlaces[layer]), in, shape.channels[layer], kSide, true);
    layers.halve();
    in = shape.channels[layer];
  }
  layers.linear("out_layer", in, shape.classes);
}

void add_resnet(const ColourShape& shape, Layers& layers) {
  int in = shape.channels.front();
  layers.convolution("conv", ColourSamples::kColours, in, kSide, false);
  layers.norm("norm", in);
  for (std::size_t group = 0; group < shape.channels.size(); ++group) {
    const int width = shape.channels[group];
    if (group > 0) {
      layers.halve();
    }
    for (int block = 0; block < shape.blocks; ++block) {
      const std::string name = fmt::format("groups.{}.{}", group, block);
      layers.convolution(name + ".conv1", in, width, kSide, false);
      layers.norm(name + ".norm1", width);
      layers.convolution(name + ".conv2", width, width, kSide, false);
      layers.norm(name + ".norm2", width);
      if (group > 0 && block == 0) {
        layers.convolution(name + ".shortcut.conv", in, width, 1, false);
        layers.norm(name + ".shortcut.norm", width);
      }
      in = width;
    }
  }
  layers.linear("out_layer", in, shape.classes);
}

Layers layers_of(const ColourShape& shape, int side) {
  Layers layers(side);
  if (shape.kind == ColourNetworkKind::kCnn) {
    add_cnn(shape, layers);
  } else {
    add_resnet(shape, layers);
  }
  return layers;
}

bool is_convolution(const engine::Tensor& tensor) { return tensor.shape.size() == 4; }

}  // namespace

engine::Layout colour_layout(const ColourShape& shape) { return layers_of(shape, 1).layout(); }

double colour_products(const ColourShape& shape, int side) { return layers_of(shape, side).products(); }

std::vector<float> initial_colour_weights(const ColourShape& shape) {
  const engine::Layout layout = colour_layout(shape);
  RandomSequence random(shape.seed, Stream::kInitialWeights);
  std::vector<float> weights;
  weights.reserve(layout.count);
  for (const engine::Tensor& tensor : layout.tensors) {
    const bool is_resnet = shape.kind == ColourNetworkKind::kResnet;
    if (is_resnet && is_convolution(tensor)) {
      const double deviation = std::sqrt(2.0 / (tensor.shape[2] * tensor.shape[3] * tensor.shape[0]));
      std::generate_n(std::back_inserter(weights), tensor.count,
                      [&] { return static_cast<float>(deviation * random.next_normal()); });
    } else if (tensor.name.find("norm") != std::string::npos) {
      weights.insert(weights.end(), tensor.count, tensor.name.ends_with(".weight") ? 1.0F : 0.0F);
    } else {
      const double limit = 1 / std::sqrt(tensor.fan_in);
      std::generate_n(std::back_inserter(weights), tensor.count,
                      [&] { return static_cast<float>(limit * (2 * random.next_uniform() - 1)); });
    }
  }
  return weights;
}

}  // namespace modlab::models
