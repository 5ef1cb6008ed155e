#include "experiments/task_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

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
  facts.text = suite->text;
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
  std::vector<std::vector<int>> rows;
  std::ranges::transform(suite.tasks, std::back_inserter(rows), tasks::possible_rows);
  return constant_accuracy(suite, rows);
}

double constant_accuracy(const tasks::TaskSuite& suite, const std::vector<std::vector<int>>& rows) {
  double sum = 0;
  int outputs = 0;
  for (std::size_t at = 0; at < suite.tasks.size(); ++at) {
    const tasks::TruthTable& table = suite.tasks[at].table;
    for (int output = 0; output < table.outputs; ++output, ++outputs) {
      const auto ones = std::ranges::count_if(rows[at], [&](int row) { return tasks::output_bit(table, row, output); });
      const double share = static_cast<double>(ones) / static_cast<double>(rows[at].size());
      sum += std::max(share, 1 - share);
    }
  }
  return kPercent * sum / outputs;
}

std::string chance_text(std::span<const Run> runs, const std::function<double(const Run& run)>& chance) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const Run& run : runs) {
    auto& [sum, count] = sums[run.values.text("task")];
    sum += chance(run);
    ++count;
  }
  std::string text;
  for (const auto& [task, sum] : sums) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", task, sum.first / sum.second);
  }
  return text;
}

}  // namespace modlab::experiments
