#pragma once

#include <span>

#include "core/random.h"
#include "engine/network.h"

// Initial parameters of larger networks, tensor by tensor, as PyTorch and published code draw them.
namespace modlab::models {

inline constexpr int kLstmGates = 4;  // input, forget, cell and output, in this order

void fill_normal(std::span<float> values, double deviation, RandomSequence& random);
void fill_uniform(std::span<float> values, double bound, RandomSequence& random);
// Weights or biases of a linear layer, as PyTorch draws them.
void fill_linear(std::span<float> values, int fan_in, RandomSequence& random);
// A tensor of an LSTM cell with so many units, by the end of its name (weight_ih, weight_hh, bias): normal, with an
// orthogonal block for the cell gate's recurrence and larger weights for its input, forget biases 1 and other biases 0.
void fill_lstm_cell(const engine::Tensor& tensor, std::span<float> values, int state, RandomSequence& random);

}  // namespace modlab::models
