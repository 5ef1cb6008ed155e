#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/digits/digit_batch.h"
#include "models/digits/digit_shape.h"
#include "tasks/arithmetic.h"

namespace modlab::models {

// How an LSTM is shown two sums: both in every step and asked at the end; one after the other, each asked when it was
// shown (forced); one after the other, both asked at the end; or forced, and with the same inputs, outputs, or both for
// either sum.
enum class PairMode { kTogether, kOnlyOneIo, kOnlyOne, kSameInput, kSameOutput, kSameIo };

// An arithmetic task as a network of some kind meets it.
struct DigitTask {
  tasks::Arithmetic kind = tasks::Arithmetic::kAddMul;
  int digits = 2;
  DigitNetworkKind network = DigitNetworkKind::kFnn;
  PairMode mode = PairMode::kTogether;

  bool shares_inputs() const { return mode == PairMode::kSameInput || mode == PairMode::kSameIo; }
  bool shares_outputs() const { return mode == PairMode::kSameOutput || mode == PairMode::kSameIo; }
  int inputs() const;
  int outputs() const;
  // Numbers that a network says, each `digits` groups of ten outputs.
  int answers() const { return kind == tasks::Arithmetic::kAddMul ? 1 : 2; }
  int groups() const { return answers() * digits; }
};

inline constexpr int kAllTargets = -1;

// The passes that a network makes over some samples. Feed-forward networks see one sum at a time, in a pass each, with
// zeros in the place of the other. `target`: what counts in the loss; where it is one of two sums, a feed-forward
// network makes its pass alone, and to an LSTM the other one is not shown if `hides_other`.
std::vector<DigitBatch> digit_passes(const DigitTask& task, std::span<const tasks::ArithmeticSample> samples,
                                     int target, bool hides_other);

// Whether a sample asks for a target: sums and products one, two sums both.
bool asks_for(const DigitTask& task, const tasks::ArithmeticSample& sample, int target);

// The number that a sample's answer should be: the target decides where there are two.
int right_answer(const DigitTask& task, const tasks::ArithmeticSample& sample, int answer);

}  // namespace modlab::models
