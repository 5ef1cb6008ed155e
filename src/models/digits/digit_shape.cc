#include "models/digits/digit_shape.h"

#include <cmath>
#include <span>
#include <string>

#include "core/random.h"
#include "models/drawn_tensors.h"

namespace modlab::models {
namespace {

using engine::Rate;

void add_linear(engine::Layout& layout, const std::string& name, int in, int out) {
  layout.add(name + ".weight", {out, in}, Rate::kFunctional, in, out);
  layout.add(name + ".bias", {out}, Rate::kFunctional, in, out);
}

}  // namespace

engine::Layout digit_layout(const DigitShape& shape) {
  engine::Layout layout;
  if (shape.kind == DigitNetworkKind::kFnn) {
    int below = shape.inputs;
    for (std::size_t layer = 0; layer <= shape.hidden.size(); ++layer) {
      const int width = layer < shape.hidden.size() ? shape.hidden[layer] : shape.outputs;
      add_linear(layout, "layers." + std::to_string(layer), below, width);
      below = width;
    }
    return layout;
  }
  const int gates = kLstmGates * shape.state;
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string name = "lstm_cells." + std::to_string(layer);
    const int below = layer == 0 ? shape.inputs : shape.state;
    layout.add(name + ".weight_ih", {gates, below}, Rate::kFunctional, below, gates);
    layout.add(name + ".weight_hh", {gates, shape.state}, Rate::kFunctional, shape.state, gates);
    layout.add(name + ".bias", {gates}, Rate::kFunctional, below, gates);
  }
  add_linear(layout, "output_projection", shape.state, shape.outputs);
  return layout;
}

std::vector<float> initial_digit_parameters(const DigitShape& shape, std::uint64_t seed) {
  const engine::Layout layout = digit_layout(shape);
  std::vector<float> parameters(layout.count);
  RandomSequence random(seed, Stream::kInitialWeights);
  for (const engine::Tensor& tensor : layout.tensors) {
    const std::span<float> values = std::span(parameters).subspan(tensor.offset, tensor.count);
    if (tensor.name.starts_with("lstm_cells.")) {
      fill_lstm_cell(tensor, values, shape.state, random);
    } else {
      fill_linear(values, tensor.fan_in, random);
    }
  }
  return parameters;
}

std::vector<float> initial_task_parameters(const DigitShape& shape, std::uint64_t seed, std::uint32_t task) {
  const engine::Layout layout = digit_layout(shape);
  std::vector<float> parameters(layout.count);
  RandomSequence random(seed, Stream::kInitialWeights, task);
  for (const engine::Tensor& tensor : layout.tensors) {
    if (tensor.shape.size() == 2) {
      const bool is_last = &tensor + 2 == layout.tensors.data() + layout.tensors.size();
      const double gain = is_last ? 1 : std::sqrt(2.0);
      fill_normal(std::span(parameters).subspan(tensor.offset, tensor.count),
                  gain * std::sqrt(2.0 / (tensor.shape[0] + tensor.shape[1])), random);
    }
  }
  return parameters;
}

}  // namespace modlab::models
