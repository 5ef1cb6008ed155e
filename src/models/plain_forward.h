#pragma once

#include <vector>

#include "models/blueprint.h"
#include "tasks/truth_table.h"

namespace modlab::models {

// What one network says on every row of a truth table, written as the textbook has it: one row, one unit at a time, in
// double precision. For looking at a network, and as the engine's independent witness in tests.
struct PlainValues {
  std::vector<std::vector<double>> slots;    // [slot through all levels][row]; empty for an MLP
  std::vector<std::vector<double>> outputs;  // logits, [output][row]
};

PlainValues plain_forward(const Blueprint& blueprint, const std::vector<float>& parameters,
                          const tasks::TaskSuite& suite, int task);

// The share of right bits over the whole truth table, from 0 to 1.
double bit_accuracy(const PlainValues& values, const tasks::TruthTable& table);

}  // namespace modlab::models
