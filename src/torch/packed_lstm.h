#pragma once

#include <torch/script.h>

namespace modlab::on_torch {

struct LstmCell {
  torch::Tensor input, recurrent, bias;  // [4 unit][input], [4 unit][unit], [4 unit]; gates in the order i, f, g, o
};
struct LstmState {
  torch::Tensor hidden, cell;  // [row][unit]
};

// One layer over packed steps ([step and row][input]; `rows_at`: how many rows each step has, never more than the one
// before), from a state to what it puts out; `state` becomes that of each row after its last step. What torch::lstm
// says, but with the gradients of the weights in one product over all steps instead of one for each, which is where
// half of its time goes.
torch::Tensor packed_lstm(const LstmCell& cell, const torch::Tensor& steps, const torch::Tensor& rows_at,
                          LstmState& state);

}  // namespace modlab::on_torch
