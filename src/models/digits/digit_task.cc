#include "models/digits/digit_task.h"

namespace modlab::models {
namespace {

// Time steps that an LSTM has for an answer.
constexpr int kStepsOfAnswer = 3;

// The numbers of a sample that are shown in a step: [first, last).
struct Shown {
  int first = 0;
  int last = 0;
};
constexpr Shown kNothing{0, 0};
constexpr Shown kBothPairs{0, 4};
constexpr Shown pair_numbers(int pair) { return {2 * pair, 2 * pair + 2}; }

// Which inputs are 1: those digits, each in its place, and perhaps the operation.
void append_inputs(const DigitTask& task, const tasks::ArithmeticSample& sample, Shown shown,
                   std::vector<std::uint16_t>& inputs) {
  for (int number = shown.first; number < shown.last; ++number) {
    const int slot = task.shares_inputs() ? number % 2 : number;
    for (int place = 0; place < task.digits; ++place) {
      const int digit = tasks::digit_of(sample.numbers[static_cast<std::size_t>(number)], place);
      inputs.push_back(static_cast<std::uint16_t>((slot * task.digits + place) * kDigitClasses + digit));
    }
  }
  if (task.kind == tasks::Arithmetic::kAddMul) {
    inputs.push_back(static_cast<std::uint16_t>(2 * task.digits * kDigitClasses + sample.operation));
  }
}

// A pass with one entry of `shown` for each step.
DigitBatch make_pass(const DigitTask& task, std::span<const tasks::ArithmeticSample> samples,
                     const std::vector<Shown>& shown) {
  const bool one_pair = task.kind == tasks::Arithmetic::kAddMul;
  DigitBatch batch;
  batch.rows = static_cast<int>(samples.size());
  batch.steps = static_cast<int>(shown.size());
  batch.groups = task.groups();
  batch.active = (one_pair ? 2 : 4) * task.digits + (one_pair ? 1 : 0);
  batch.inputs.reserve(samples.size() * shown.size() * static_cast<std::size_t>(batch.active));
  for (const tasks::ArithmeticSample& sample : samples) {
    for (const Shown step : shown) {
      const std::size_t full = batch.inputs.size() + static_cast<std::size_t>(batch.active);
      append_inputs(task, sample, step, batch.inputs);
      batch.inputs.resize(full, kNoInput);
    }
    for (int answer = 0; answer < task.answers(); ++answer) {
      const int right = right_answer(task, sample, answer);
      for (int place = 0; place < task.digits; ++place) {
        batch.digits.push_back(static_cast<std::uint8_t>(tasks::digit_of(right, place)));
      }
    }
  }
  batch.counts.assign(static_cast<std::size_t>(task.groups()), 1);
  batch.read_at.assign(static_cast<std::size_t>(task.groups()), batch.steps - 1);
  return batch;
}

void count_only(const DigitTask& task, int answer, DigitBatch& batch) {
  for (int group = 0; group < task.groups(); ++group) {
    batch.counts[static_cast<std::size_t>(group)] = group / task.digits == answer ? 1 : 0;
  }
}

}  // namespace

int DigitTask::inputs() const {
  const int operand = digits * kDigitClasses;
  return kind == tasks::Arithmetic::kAddMul ? 2 * operand + 2 : (shares_inputs() ? 2 : 4) * operand;
}

int DigitTask::outputs() const { return (shares_outputs() ? digits : groups()) * kDigitClasses; }

std::vector<DigitBatch> digit_passes(const DigitTask& task, std::span<const tasks::ArithmeticSample> samples,
                                     int target, bool hides_other) {
  const bool is_lstm = task.network == DigitNetworkKind::kLstm;
  if (task.kind == tasks::Arithmetic::kAddMul) {
    return {make_pass(task, samples, std::vector<Shown>(is_lstm ? kStepsOfAnswer : 1, pair_numbers(0)))};
  }
  std::vector<DigitBatch> passes;
  if (!is_lstm) {
    for (int pair = 0; pair < 2; ++pair) {
      if (target == kAllTargets || target == pair) {
        count_only(task, pair, passes.emplace_back(make_pass(task, samples, {pair_numbers(pair)})));
      }
    }
    return passes;
  }
  std::vector<Shown> shown;
  for (int step = 0; step < 2 * kStepsOfAnswer; ++step) {
    const int pair = step / kStepsOfAnswer;
    const bool hides = hides_other && target != kAllTargets;
    if (task.mode == PairMode::kTogether) {
      shown.push_back(hides ? pair_numbers(target) : kBothPairs);
    } else {
      shown.push_back(hides && pair != target ? kNothing : pair_numbers(pair));
    }
  }
  DigitBatch& batch = passes.emplace_back(make_pass(task, samples, shown));
  if (task.mode != PairMode::kTogether && task.mode != PairMode::kOnlyOne) {
    for (int group = 0; group < task.digits; ++group) {
      batch.read_at[static_cast<std::size_t>(group)] = kStepsOfAnswer - 1;
    }
  }
  if (target != kAllTargets) {
    count_only(task, target, batch);
  }
  return passes;
}

bool asks_for(const DigitTask& task, const tasks::ArithmeticSample& sample, int target) {
  return task.kind == tasks::Arithmetic::kDoubleAddition || sample.operation == target;
}

int right_answer(const DigitTask& task, const tasks::ArithmeticSample& sample, int answer) {
  const std::size_t first = std::size_t{2} * static_cast<std::size_t>(answer);
  return tasks::arithmetic_result(sample.numbers[first], sample.numbers[first + 1], sample.operation, task.digits);
}

}  // namespace modlab::models
