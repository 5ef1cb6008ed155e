#include "models/digits/digit_shape.h"

#include <cmath>
#include <span>
#include <string>

#include "core/random.h"

namespace modlab::models {
namespace {

using engine::Rate;

// The gain that PyTorch recommends in front of a tanh.
constexpr double kTanhGain = 5.0 / 3;
constexpr int kGates = 4;
constexpr int kForgetGate = 1;
constexpr int kCellGate = 2;

void add_linear(engine::Layout& layout, const std::string& name, int in, int out) {
  layout.add(name + ".weight", {out, in}, Rate::kFunctional, in, out);
  layout.add(name + ".bias", {out}, Rate::kFunctional, in, out);
}

// Rows that are orthogonal and of length 1, uniform among all such matrices: normal rows, each without its parts along
// those before it. That is done twice, since once leaves the rounding of what was taken away.
std::vector<double> orthogonal_matrix(int size, RandomSequence& random) {
  const auto width = static_cast<std::size_t>(size);
  std::vector<double> rows(width * width);
  for (double& value : rows) {
    value = random.next_normal();
  }
  const auto dot = [&](std::size_t one, std::size_t other) {
    double sum = 0;
    for (std::size_t column = 0; column < width; ++column) {
      sum += rows[one * width + column] * rows[other * width + column];
    }
    return sum;
  };
  for (std::size_t row = 0; row < width; ++row) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t before = 0; before < row; ++before) {
        const double along = dot(row, before);
        for (std::size_t column = 0; column < width; ++column) {
          rows[row * width + column] -= along * rows[before * width + column];
        }
      }
    }
    const double length = std::sqrt(dot(row, row));
    for (std::size_t column = 0; column < width; ++column) {
      rows[row * width + column] /= length;
    }
  }
  return rows;
}

void fill_normal(std::span<float> values, double deviation, RandomSequence& random) {
  for (float& value : values) {
    value = static_cast<float>(deviation * random.next_normal());
  }
}

void fill_linear(std::span<float> values, int fan_in, RandomSequence& random) {
  const double bound = 1 / std::sqrt(fan_in);
  for (float& value : values) {
    value = static_cast<float>(bound * (2 * random.next_uniform() - 1));
  }
}

void fill_cell(const engine::Tensor& tensor, std::span<float> values, int state, RandomSequence& random) {
  const auto part = values.size() / kGates;
  const std::span<float> cell_gate = values.subspan(kCellGate * part, part);
  if (tensor.name.ends_with(".weight_ih")) {
    fill_normal(values, std::sqrt(1.0 / (tensor.fan_in + state)), random);
    for (float& value : cell_gate) {
      value = static_cast<float>(kTanhGain * value);
    }
  } else if (tensor.name.ends_with(".weight_hh")) {
    fill_normal(values, std::sqrt(1.0 / (2 * state)), random);
    const std::vector<double> rows = orthogonal_matrix(state, random);
    for (std::size_t place = 0; place < part; ++place) {
      cell_gate[place] = static_cast<float>(kTanhGain / std::sqrt(2.0) * rows[place]);
    }
  } else {
    for (float& value : values.subspan(kForgetGate * part, part)) {
      value = 1;
    }
  }
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
  const int gates = kGates * shape.state;
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
      fill_cell(tensor, values, shape.state, random);
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
