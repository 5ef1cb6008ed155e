#include "tasks/task_difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlab::tasks {
namespace {

bool same_gate(const Gate& a, const Gate& b) { return a.op == b.op && a.inputs == b.inputs; }

std::string counted(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string table_difference(const Task& was, const Task& is) {
  for (int output = 0; output < is.table.outputs; ++output) {
    const std::size_t rows = is.table.rows.size();
    std::size_t different = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const int at = static_cast<int>(row);
      different += output_bit(was.table, at, output) != output_bit(is.table, at, output) ? 1 : 0;
    }
    if (different > 0) {
      return fmt::format("output {} differs in {} of {} rows", is.output_names[output], different, rows);
    }
  }
  return "";
}

std::string graph_difference(const Task& was, const Task& is) {
  if (was.graph.has_value() != is.graph.has_value()) {
    return is.graph ? "its gates were not known" : "its gates are not known any more";
  }
  if (!is.graph) {
    return "";
  }
  if (was.graph->levels.size() != is.graph->levels.size()) {
    return fmt::format("it had {} of gates and has {}", counted(static_cast<int>(was.graph->levels.size()), "level"),
                       is.graph->levels.size());
  }
  for (std::size_t level = 0; level < is.graph->levels.size(); ++level) {
    const std::vector<Gate>& before = was.graph->levels[level];
    const std::vector<Gate>& after = is.graph->levels[level];
    if (before.size() != after.size()) {
      return fmt::format("its level {} had {} and has {}", level + 1, counted(static_cast<int>(before.size()), "gate"),
                         after.size());
    }
    const auto [first, second] = std::ranges::mismatch(before, after, same_gate);
    if (second != after.end()) {
      return fmt::format("{} was {} and is {}", second->name, gate_text(*was.graph, *first),
                         gate_text(*is.graph, *second));
    }
  }
  return was.graph->outputs == is.graph->outputs ? "" : "its outputs are other gates";
}

bool same_modules(const Task& was, const Task& is) {
  return std::ranges::equal(was.modules, is.modules, [](const TaskModule& a, const TaskModule& b) {
    return a.inputs == b.inputs && a.gates == b.gates && a.outputs == b.outputs;
  });
}

std::string difference(const Task& was, const Task& is) {
  if (was.table.inputs != is.table.inputs || was.table.outputs != is.table.outputs) {
    return fmt::format("it had {} and {} and has {} and {}", counted(was.table.inputs, "input"),
                       counted(was.table.outputs, "output"), is.table.inputs, is.table.outputs);
  }
  const auto shown = [](const Task& task) {
    return task.images ? fmt::format("{} images of {} digits", task.images->images, task.images->digits) : "bits";
  };
  if (shown(was) != shown(is)) {
    return fmt::format("its inputs were {} and are {}", shown(was), shown(is));
  }
  const std::string function = table_difference(was, is);
  std::string structure = graph_difference(was, is);
  if (structure.empty() && !same_modules(was, is)) {
    structure = "its modules are others";
  }
  return function + (function.empty() || structure.empty() ? "" : ", and ") + structure;
}

}  // namespace

std::string task_difference(const TaskSuite& was, const TaskSuite& is) {
  if (was.tasks.size() != is.tasks.size()) {
    return fmt::format("it had {} and has {}", counted(static_cast<int>(was.tasks.size()), "task"), is.tasks.size());
  }
  for (std::size_t task = 0; task < is.tasks.size(); ++task) {
    if (const std::string text = difference(was.tasks[task], is.tasks[task]); !text.empty()) {
      return is.tasks.size() == 1 ? text : fmt::format("of its task {}, {}", is.tasks[task].name, text);
    }
  }
  return "";
}

}  // namespace modlab::tasks
