#include "report/graph_facts.h"

#include <algorithm>

#include "core/errors.h"

namespace modlab::report {
namespace {

using tasks::Gate;
using tasks::Task;
using tasks::TaskSuite;
using tasks::TruthTable;

// The number of inputs that the modules of a matching network need: that of the widest gate.
int widest_fan_in(const TaskSuite& suite) {
  std::size_t widest = 1;
  for (const Task& task : suite.tasks) {
    for (const std::vector<Gate>& level : task.graph ? task.graph->levels : std::vector<std::vector<Gate>>{}) {
      for (const Gate& gate : level) {
        widest = std::max(widest, gate.inputs.size());
      }
    }
  }
  return static_cast<int>(widest);
}

}  // namespace

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
    found.own = true_routing(suite, false, widest_fan_in(suite));
    found.shared = true_routing(suite, true, widest_fan_in(suite));
  } catch (const ConfigError& error) {
    found.missing = error.what();
  }
  return found;
}

}  // namespace modlab::report
