#include "report/graph_facts.h"

#include <algorithm>

#include "core/errors.h"

namespace modlab::report {

using tasks::Task;
using tasks::TaskSuite;
using tasks::TruthTable;

std::size_t ones_among(const TruthTable& table, const std::vector<int>& rows, int output) {
  return std::ranges::count_if(rows, [&](int row) { return output_bit(table, row, output); });
}

double output_always_zero(const TruthTable& table, const std::vector<int>& rows, int output) {
  return 1.0 - static_cast<double>(ones_among(table, rows, output)) / static_cast<double>(rows.size());
}

double task_always_zero(const Task& task) { return always_zero_accuracy(TaskSuite{task.name, "", {task}}); }

TrueRoutings find_routings(const TaskSuite& suite) {
  TrueRoutings found;
  try {
    found.own = true_routing(suite, false, widest_gate(suite));
    found.shared = true_routing(suite, true, widest_gate(suite));
  } catch (const ConfigError& error) {
    found.missing = error.what();
  }
  return found;
}

}  // namespace modlab::report
