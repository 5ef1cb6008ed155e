#pragma once

#include <cstdint>
#include <vector>

#include "engine/network.h"

namespace modlab::models {

enum class DigitNetworkKind { kFnn, kLstm };

// What a network on digits is made of: fully connected layers with ReLU between them, or LSTM cells one above the other
// and a linear layer that reads the last.
struct DigitShape {
  DigitNetworkKind kind = DigitNetworkKind::kFnn;
  int inputs = 0;
  int outputs = 0;
  std::vector<int> hidden;  // fnn: widths of the layers below the outputs
  int state = 0;            // lstm: units of a cell
  int layers = 0;           // lstm: cells
  // fnn on numbers: biases are kept as weights of an input that is always 1, so that masks can leave them out.
  bool masks_biases = false;
};

// Tensors in PyTorch's order, with its names. The rows of an LSTM's matrices are the gates input, forget, cell and
// output; a cell has one bias.
engine::Layout digit_layout(const DigitShape& shape);

// As published: linear layers as PyTorch has them; LSTM matrices normal, with an orthogonal block for the cell gate's
// recurrence and larger weights for its input, forget biases 1 and other biases 0.
std::vector<float> initial_digit_parameters(const DigitShape& shape, std::uint64_t seed);

// Of fully connected layers, as published for tasks that follow each other: Xavier's normal weights, times the square
// root of 2 below a ReLU, and biases 0. Each task of a seed has numbers of its own.
std::vector<float> initial_task_parameters(const DigitShape& shape, std::uint64_t seed, std::uint32_t task);

}  // namespace modlab::models
