#include "tasks/truth_table.h"

#include <algorithm>

namespace modlab::tasks {

std::string hex_word(const TruthTable& table, int output) {
  const int row_count = static_cast<int>(table.rows.size());
  const int digits = (row_count + 3) / 4;
  std::string word;
  for (int digit = 0; digit < digits; ++digit) {
    unsigned value = 0;
    for (int row = std::max(0, row_count - 4 * (digits - digit)); row < row_count - 4 * (digits - digit - 1); ++row) {
      value = 2 * value + (output_bit(table, row, output) ? 1U : 0U);
    }
    word += "0123456789abcdef"[value];
  }
  return word;
}

int ones(const TruthTable& table, int output) {
  return static_cast<int>(
      std::ranges::count_if(table.rows, [&](std::uint32_t bits) { return ((bits >> output) & 1U) != 0; }));
}

double always_zero_accuracy(const TruthTable& table) {
  int set = 0;
  for (int output = 0; output < table.outputs; ++output) {
    set += ones(table, output);
  }
  return 1.0 - static_cast<double>(set) / (static_cast<double>(table.rows.size()) * table.outputs);
}

std::vector<int> relevant_inputs(const TruthTable& table, int output) {
  std::vector<int> relevant;
  for (int input = 0; input < table.inputs; ++input) {
    const int flip = 1 << (table.inputs - 1 - input);
    for (int row = 0; row < static_cast<int>(table.rows.size()); ++row) {
      if (output_bit(table, row, output) != output_bit(table, row ^ flip, output)) {
        relevant.push_back(input);
        break;
      }
    }
  }
  return relevant;
}

std::vector<int> distractor_inputs(const TruthTable& table) {
  std::vector<bool> matters(table.inputs, false);
  for (int output = 0; output < table.outputs; ++output) {
    for (const int input : relevant_inputs(table, output)) {
      matters[input] = true;
    }
  }
  std::vector<int> distractors;
  for (int input = 0; input < table.inputs; ++input) {
    if (!matters[input]) {
      distractors.push_back(input);
    }
  }
  return distractors;
}

}  // namespace modlab::tasks
