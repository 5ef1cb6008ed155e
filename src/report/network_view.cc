#include "report/network_view.h"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.h"
#include "core/text.h"
#include "measures/edit_distance.h"
#include "measures/specialisation.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"
#include "tasks/function_graph.h"

namespace modlab::report {
namespace {

// Every gate of a graph on every row, by level.
std::vector<std::vector<std::vector<double>>> gate_values(const tasks::FunctionGraph& graph) {
  std::vector<std::vector<std::vector<double>>> values;
  const std::vector<std::vector<tasks::Column>> columns = tasks::node_columns(graph);
  for (std::size_t level = 1; level < columns.size(); ++level) {
    values.emplace_back();
    for (const tasks::Column& column : columns[level]) {
      std::vector<double>& rows = values.back().emplace_back(std::size_t{1} << graph.inputs.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row] = tasks::column_bit(column, static_cast<int>(row)) ? 1 : 0;
      }
    }
  }
  return values;
}

// The gate of the same level that the slot's output correlates with most, over the whole truth table.
std::string computes_text(const std::vector<double>& values, const std::vector<tasks::Gate>& gates,
                          const std::vector<std::vector<double>>& gates_on_rows) {
  double best = 0;
  std::string name = "-";
  for (std::size_t gate = 0; gate < gates.size(); ++gate) {
    const double rho = measures::pearson(values, gates_on_rows[gate]);
    if (std::abs(rho) > std::abs(best) + 1e-9) {
      best = rho;
      name = gates[gate].name;
    }
  }
  return fmt::format("{}{} ({:.2f})", best < 0 ? "!" : "", name, std::abs(best));
}

}  // namespace

TaskView view_task(const models::SavedSnapshot& snapshot, int task_index) {
  const models::SavedNetwork& network = snapshot.network;
  const std::vector<float>& parameters = snapshot.parameters();
  const auto& shape = std::get<models::ModularShape>(network.blueprint.shape);
  const tasks::Task& task = network.suite.tasks[task_index];
  const tasks::Routing routing = models::learned_routing(shape, parameters)[task_index];
  const models::PlainValues values = models::plain_forward(network.blueprint, parameters, network.suite, task_index);
  TaskView view;
  view.accuracy = models::bit_accuracy(values, task.table);
  std::vector<std::string> below = task.input_names;
  std::vector<std::string> all;
  const auto gates = task.graph ? gate_values(*task.graph) : std::vector<std::vector<std::vector<double>>>{};
  for (std::size_t level = 0; level < shape.levels.size(); ++level) {
    std::vector<SlotView> slots;
    std::vector<std::string> names;
    for (std::size_t slot = 0; slot < routing.inputs[level].size(); ++slot) {
      std::vector<std::string> reads;
      for (const int pick : routing.inputs[level][slot]) {
        reads.push_back(below[pick]);
      }
      const std::string module =
          shape.pool > 0 ? fmt::format("module {}", routing.modules[level][slot] + 1) : std::string("own module");
      slots.push_back({slot_name(level, slot), fmt::format("{} of {}", module, join_text(reads, ", ")),
                       level < gates.size()
                           ? computes_text(values.slots[all.size() + slot], task.graph->levels[level], gates[level])
                           : "-"});
      names.push_back(slots.back().name);
    }
    view.levels.push_back(std::move(slots));
    all.insert(all.end(), names.begin(), names.end());
    below = names;
  }
  for (const int pick : routing.outputs) {
    view.outputs.push_back(routing.outputs_from_all_levels ? all[pick] : below[pick]);
  }
  if (task.graph && network.suite.tasks.size() == 1) {
    try {
      const tasks::Routing truth = tasks::true_routing(network.suite, shape.pool > 0, shape.fan_in).front();
      view.is_true_wiring = measures::edit_distance(routing, truth, shape.inputs).distance == 0;
    } catch (const ConfigError&) {
      // A graph without a routing of this kind has nothing to compare with, one of very many gates no time for it.
    }
  }
  return view;
}

std::string slot_name(std::size_t level, std::size_t slot) { return fmt::format("s{}.{}", level + 1, slot + 1); }

}  // namespace modlab::report
