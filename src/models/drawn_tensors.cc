#include "models/drawn_tensors.h"

#include <cmath>
#include <vector>

namespace modlab::models {
namespace {

// The gain that PyTorch recommends in front of a tanh.
constexpr double kTanhGain = 5.0 / 3;
constexpr int kForgetGate = 1;
constexpr int kCellGate = 2;

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

}  // namespace

void fill_normal(std::span<float> values, double deviation, RandomSequence& random) {
  for (float& value : values) {
    value = static_cast<float>(deviation * random.next_normal());
  }
}

void fill_uniform(std::span<float> values, double bound, RandomSequence& random) {
  for (float& value : values) {
    value = static_cast<float>(bound * (2 * random.next_uniform() - 1));
  }
}

void fill_linear(std::span<float> values, int fan_in, RandomSequence& random) {
  fill_uniform(values, 1 / std::sqrt(fan_in), random);
}

void fill_lstm_cell(const engine::Tensor& tensor, std::span<float> values, int state, RandomSequence& random) {
  const auto part = values.size() / kLstmGates;
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

}  // namespace modlab::models
