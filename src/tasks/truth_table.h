#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace modlab::tasks {

// Limits that every way into a task checks before it takes memory.
inline constexpr int kMaxInputs = 16;
inline constexpr int kMaxOutputs = 16;

// All 2^inputs rows of a Boolean function. Bit k of rows[r] is output k on row r; rows count upwards in binary with
// input 0 as the most significant bit, the order of every published data set.
struct TruthTable {
  int inputs = 0;
  int outputs = 0;
  std::vector<std::uint32_t> rows;
};

inline bool input_bit(int inputs, int row, int input) { return ((row >> (inputs - 1 - input)) & 1) != 0; }
inline bool output_bit(const TruthTable& table, int row, int output) { return ((table.rows[row] >> output) & 1U) != 0; }

// One output as a hexadecimal word, row 0 first (most significant). Fewer than four rows are right-aligned.
std::string hex_word(const TruthTable& table, int output);

int ones(const TruthTable& table, int output);

// The share of right answers, over all rows and outputs, of a network that always says 0.
double always_zero_accuracy(const TruthTable& table);

// The inputs whose flip changes the output on some row: true dependence, whatever the wiring suggests.
std::vector<int> relevant_inputs(const TruthTable& table, int output);

// The inputs that no output depends on.
std::vector<int> distractor_inputs(const TruthTable& table);

}  // namespace modlab::tasks
