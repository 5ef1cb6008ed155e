#include "models/images/shape.h"

#include <fmt/format.h>

namespace modlab::models {
namespace {

using engine::Layout;
using engine::Rate;

// Layers of `widths`, weight and bias each.
std::vector<std::size_t> add_layers(Layout& layout, const std::string& prefix, const std::vector<int>& widths) {
  std::vector<std::size_t> tensors;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const int in = widths[layer];
    const int out = widths[layer + 1];
    tensors.push_back(layout.tensors.size());
    layout.add(fmt::format("{}layer{}.weight", prefix, layer), {out, in}, Rate::kFunctional, in, out);
    layout.add(fmt::format("{}layer{}.bias", prefix, layer), {out}, Rate::kFunctional, in, out);
  }
  return tensors;
}

ReaderTensors add_reader(Layout& layout, const std::string& prefix, const ImageReader& reader,
                         std::vector<engine::solo::PixelTensor>& pixel_tensors) {
  ReaderTensors tensors;
  int channels_in = reader.parts;
  for (std::size_t index = 0; index < reader.channels.size(); ++index) {
    const int channels = reader.channels[index];
    const int fan_in = channels_in * kKernelSize * kKernelSize;
    const int fan_out = channels * kKernelSize * kKernelSize;
    tensors.convolutions.push_back(layout.tensors.size());
    layout.add(fmt::format("{}conv{}.weight", prefix, index), {channels, channels_in, kKernelSize, kKernelSize},
               Rate::kFunctional, fan_in, fan_out);
    layout.add(fmt::format("{}conv{}.bias", prefix, index), {channels}, Rate::kFunctional, fan_in, fan_out);
    channels_in = channels;
  }
  tensors.layers = add_layers(layout, prefix, reader.widths);
  if (reader.channels.empty()) {
    pixel_tensors.push_back({tensors.layers.front(), reader.parts});
  }
  return tensors;
}

std::size_t add_selection(Layout& layout, const std::string& name, std::vector<int> shape, Rate rate) {
  layout.add(name, std::move(shape), rate, 0, 0);
  return layout.tensors.size() - 1;
}

}  // namespace

int convolved(int size) {
  for (int convolution = 0; convolution < kConvolutions; ++convolution) {
    size = (size - kKernelSize + 1) / kPoolSize;
  }
  return size;
}

SelectionPlaces bit_selections(const ImageModularLayout& places) {
  SelectionPlaces found;
  for (const std::size_t tensor : places.level_inputs) {
    found.inputs.push_back(places.layout.tensors[tensor].offset);
  }
  for (const std::size_t tensor : places.level_members) {
    found.members.push_back(places.layout.tensors[tensor].offset);
  }
  found.outputs = places.layout.tensors[places.outputs].offset;
  return found;
}

ImageMlpLayout image_mlp_layout(const ImageMlpShape& shape) {
  ImageMlpLayout places;
  places.reader = add_reader(places.layout, "", shape.reader, places.pixel_tensors);
  return places;
}

ImageModularLayout image_modular_layout(const ImageModularShape& shape) {
  ImageModularLayout places;
  Layout& layout = places.layout;
  const ModularShape& bits = shape.bits;
  const bool has_pool = bits.pool > 0;

  const auto add_inputs = [&] {
    const Rate rate = bits.known_inputs ? Rate::kFrozen : Rate::kInput;
    places.image_inputs = add_selection(layout, "images.inputs", {shape.images, shape.image_slots}, rate);
    int below = bits.inputs;
    for (std::size_t level = 0; level < bits.levels.size(); ++level) {
      places.level_inputs.push_back(
          add_selection(layout, fmt::format("level{}.inputs", level + 1), {below, bits.levels[level]}, rate));
      below = bits.levels[level];
    }
    places.outputs =
        add_selection(layout, "outputs", {bits.output_candidates()}, bits.known_outputs ? Rate::kFrozen : Rate::kInput);
  };
  const auto end_structure = [&] { layout.structural_count = layout.count - layout.structural_begin; };

  // As in modular networks on bits: own modules after the selection vectors, a shared pool before them.
  if (has_pool) {
    for (int member = 0; member < shape.image_pool; ++member) {
      places.readers.push_back(
          add_reader(layout, fmt::format("image_pool.module{}.", member), shape.reader, places.pixel_tensors));
    }
    for (int member = 0; member < bits.pool; ++member) {
      places.modules.push_back(add_layers(layout, fmt::format("pool.module{}.", member), bits.module_widths));
    }
    layout.structural_begin = layout.count;
    const Rate rate = bits.known_modules ? Rate::kFrozen : Rate::kModule;
    places.image_members = add_selection(layout, "images.modules", {shape.image_pool, shape.image_slots}, rate);
    for (std::size_t level = 0; level < bits.levels.size(); ++level) {
      places.level_members.push_back(
          add_selection(layout, fmt::format("level{}.modules", level + 1), {bits.pool, bits.levels[level]}, rate));
    }
    add_inputs();
    end_structure();
    return places;
  }
  add_inputs();
  end_structure();
  for (int slot = 0; slot < shape.image_slots; ++slot) {
    places.readers.push_back(
        add_reader(layout, fmt::format("image_module{}.", slot), shape.reader, places.pixel_tensors));
  }
  for (std::size_t level = 0; level < bits.levels.size(); ++level) {
    for (int slot = 0; slot < bits.levels[level]; ++slot) {
      places.modules.push_back(
          add_layers(layout, fmt::format("level{}.module{}.", level + 1, slot), bits.module_widths));
    }
  }
  return places;
}

}  // namespace modlab::models
