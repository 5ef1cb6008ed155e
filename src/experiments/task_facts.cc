#include "experiments/task_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tasks/graph_svg.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

using nlohmann::ordered_json;

constexpr double kPercent = 100;

std::string fingerprint(const tasks::TaskSuite& suite) {
  std::string text;
  for (const tasks::Task& task : suite.tasks) {
    text += fmt::format("{} inputs", task.table.inputs);
    if (task.images) {
      text += fmt::format(" of {} images, {} digits", task.images->images, task.images->digits);
    }
    for (int output = 0; output < task.table.outputs; ++output) {
      text += " " + tasks::hex_word(task.table, output);
    }
    text += "\n";
  }
  return text;
}

ordered_json gates_of(const tasks::TaskSuite& suite) {
  ordered_json gates = ordered_json::array();
  for (const tasks::Task& task : suite.tasks) {
    if (!task.graph) {
      continue;
    }
    for (const auto& level : task.graph->levels) {
      for (const tasks::Gate& gate : level) {
        gates.push_back(gate.name + " = " + tasks::gate_text(*task.graph, gate));
      }
    }
  }
  return gates;
}

}  // namespace

TaskFacts facts_of_task(const std::string& name, bool with_picture) {
  const auto suite = tasks::cached_task(name);
  TaskFacts facts;
  facts.name = name;
  facts.fingerprint = fingerprint(*suite);
  facts.always_zero = kPercent * tasks::always_zero_accuracy(*suite);
  facts.page = {{"name", name},
                {"about", suite->about},
                {"inputs", suite->inputs()},
                {"outputs", suite->outputs()},
                {"base_rate", *facts.always_zero},
                {"gates", gates_of(*suite)},
                {"picture", with_picture ? ordered_json(tasks::graph_svg(*suite)) : ordered_json(nullptr)}};
  return facts;
}

double constant_accuracy(const tasks::TaskSuite& suite) {
  double sum = 0;
  int outputs = 0;
  for (const tasks::Task& task : suite.tasks) {
    const std::vector<int> rows = tasks::possible_rows(task);
    for (int output = 0; output < task.table.outputs; ++output, ++outputs) {
      const auto ones =
          std::ranges::count_if(rows, [&](int row) { return tasks::output_bit(task.table, row, output); });
      const double share = static_cast<double>(ones) / static_cast<double>(rows.size());
      sum += std::max(share, 1 - share);
    }
  }
  return kPercent * sum / outputs;
}

std::string always_zero_text(std::span<const Run> runs) {
  std::set<std::string> names;
  for (const Run& run : runs) {
    names.insert(run.values.text("task"));
  }
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name,
                        kPercent * tasks::always_zero_accuracy(*tasks::cached_task(name)));
  }
  return text;
}

}  // namespace modlab::experiments
