#include "models/table_data.h"

namespace modlab::models {
namespace {

// Sample words carry the bits of the row below this one and the task above it.
constexpr int kTaskBits = 16;

}  // namespace

engine::Data table_data(std::span<const tasks::Task> tasks, TaskInput task_input, bool told) {
  engine::Data data;
  const int inputs = tasks.front().table.inputs;
  data.outputs = tasks.front().table.outputs;
  data.tasks = static_cast<int>(tasks.size());
  data.noisy_inputs = inputs;
  for (int input = 0; input < inputs; ++input) {
    data.inputs.push_back({inputs - 1 - input, 1});
  }
  if (told && task_input == TaskInput::kScalar) {
    data.inputs.push_back({kTaskBits, 0xff});
  }
  for (int task = 0; told && task_input == TaskInput::kOneHot && task < data.tasks; ++task) {
    data.inputs.push_back({kTaskBits + task, 1});
  }
  for (int task = 0; task < data.tasks; ++task) {
    const std::vector<std::uint32_t>& rows = tasks[task].table.rows;
    const std::uint32_t task_word = task_input == TaskInput::kScalar ? static_cast<std::uint32_t>(task) : 1U << task;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      data.input_words.push_back(row | task_word << kTaskBits);
      data.target_words.push_back(rows[row] | static_cast<std::uint32_t>(task) << engine::kTaskShift);
    }
  }
  return data;
}

engine::Data table_data(const tasks::Task& task) { return table_data(std::span(&task, 1), TaskInput::kOneHot, false); }

}  // namespace modlab::models
