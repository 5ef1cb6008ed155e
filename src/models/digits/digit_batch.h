#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace modlab::models {

inline constexpr std::uint16_t kNoInput = 0xffff;
inline constexpr int kDigitClasses = 10;

// Some samples of an arithmetic task, whose inputs are one-hot: a network on them gathers weights instead of
// multiplying. Or some images, whose inputs are numbers.
struct DigitBatch {
  int rows = 0;
  int steps = 1;   // how often the network is shown something: 1, or the time steps of an LSTM
  int active = 0;  // inputs that are 1 at a step, at most
  // Digits that are asked for, each of ten outputs, one for every class. Where the network has fewer outputs, groups
  // that are read after different steps share them, in turn.
  int groups = 0;
  std::vector<std::uint16_t> inputs;  // [row][step][active]: which inputs are 1; kNoInput where there are fewer
  std::vector<float> values;          // [row][input], of one step: any numbers in their place; empty: there are none
  std::vector<std::uint8_t> digits;   // [row][group]: the digit that is right
  std::vector<std::uint8_t> counts;   // [group]: whether it counts in the loss
  std::vector<int> read_at;           // [group]: after which step, from 0, its outputs are read
};

// One of some equal parts of a batch's rows.
inline DigitBatch part_of(const DigitBatch& batch, int part, int parts) {
  const auto rows = static_cast<std::ptrdiff_t>(batch.rows / parts);
  DigitBatch taken = batch;
  taken.rows = static_cast<int>(rows);
  const auto take = [&](auto& to, const auto& from) {
    const std::ptrdiff_t each = rows * (std::ssize(from) / batch.rows);
    to.assign(from.begin() + part * each, from.begin() + (part + 1) * each);
  };
  take(taken.inputs, batch.inputs);
  take(taken.values, batch.values);
  take(taken.digits, batch.digits);
  return taken;
}

}  // namespace modlab::models
