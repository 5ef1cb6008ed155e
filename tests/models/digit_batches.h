#pragma once

#include <random>

#include "models/digits/digit_network.h"

// Small networks on digits, and batches for them that follow no task.
namespace modlab::test {

struct DigitCase {
  const char* name;
  models::DigitShape shape;
  models::DigitBatch batch;
};

// `read_at` by group; shown: whether every step shows other inputs.
inline models::DigitBatch digit_batch(int rows, int inputs, int steps, const std::vector<int>& read_at, bool changes,
                                      unsigned seed) {
  models::DigitBatch batch;
  batch.rows = rows;
  batch.steps = steps;
  batch.active = 3;
  batch.groups = static_cast<int>(read_at.size());
  batch.read_at = read_at;
  batch.counts.assign(read_at.size(), 1);
  std::mt19937 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  for (int row = 0; row < rows; ++row) {
    std::vector<std::uint16_t> shown;
    for (int step = 0; step < steps; ++step) {
      if (step == 0 || changes) {
        const int third = inputs / 3;
        shown = {static_cast<std::uint16_t>(below(third)), static_cast<std::uint16_t>(third + below(third)),
                 below(4) == 0 ? models::kNoInput : static_cast<std::uint16_t>(2 * third + below(third))};
      }
      batch.inputs.insert(batch.inputs.end(), shown.begin(), shown.end());
    }
    for (std::size_t group = 0; group < read_at.size(); ++group) {
      batch.digits.push_back(static_cast<std::uint8_t>(below(models::kDigitClasses)));
    }
  }
  return batch;
}

// Numbers instead of ones, for one group of outputs.
inline models::DigitBatch number_batch(int rows, int inputs, unsigned seed) {
  models::DigitBatch batch = digit_batch(rows, 3, 1, {0}, false, seed);
  batch.active = 0;
  batch.inputs.clear();
  std::mt19937 random(seed);
  for (int value = 0; value < rows * inputs; ++value) {
    batch.values.push_back(static_cast<float>(random() % 2001) / 1000 - 1);
  }
  return batch;
}

inline std::vector<DigitCase> digit_cases() {
  using models::DigitNetworkKind;
  const models::DigitShape fnn = {.kind = DigitNetworkKind::kFnn, .inputs = 23, .outputs = 20, .hidden = {20, 17}};
  models::DigitShape deep = fnn;
  deep.hidden = {130, 40};
  const models::DigitShape lstm = {
      .kind = DigitNetworkKind::kLstm, .inputs = 23, .outputs = 20, .hidden = {}, .state = 5, .layers = 2};
  models::DigitShape wide = lstm;
  wide.state = 33;
  wide.outputs = 40;
  const models::DigitShape numbers = {.kind = DigitNetworkKind::kFnn, .inputs = 23, .outputs = 10, .hidden = {20, 17}};
  models::DigitShape masks_biases = numbers;
  masks_biases.inputs = 117;
  masks_biases.hidden = {33, 16};
  masks_biases.masks_biases = true;
  DigitCase uncounted = {"fnn_one_group_counts", fnn, digit_batch(12, 23, 1, {0, 0}, false, 3)};
  uncounted.batch.counts = {0, 1};
  return {{"fnn", fnn, digit_batch(12, 23, 1, {0, 0}, false, 1)},
          {"fnn_wide", deep, digit_batch(160, 23, 1, {0, 0}, false, 2)},
          uncounted,
          {"lstm", lstm, digit_batch(12, 23, 3, {2, 2}, false, 4)},
          {"lstm_one_step", lstm, digit_batch(4, 23, 1, {0, 0}, false, 5)},
          {"lstm_forced", wide, digit_batch(72, 23, 4, {1, 1, 3, 3}, true, 6)},
          {"lstm_shared_outputs", lstm, digit_batch(12, 23, 4, {1, 1, 3, 3}, true, 9)},
          {"fnn_numbers", numbers, number_batch(12, 23, 7)},
          {"fnn_numbers_masked_biases", masks_biases, number_batch(72, 117, 8)}};
}

}  // namespace modlab::test
