#include "measures/specialisation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measures/compared_part.h"
#include "measures/matching.h"
#include "measures/modular_view.h"

namespace modlab::measures {
namespace {

// Deviations from the mean, scaled to length 1; all 0 where there are none. What is left of equal numbers after
// rounding is no deviation.
std::vector<double> standardised(std::span<const double> values) {
  constexpr double kNothing = 1e-13;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  std::vector<double> deviations(values.begin(), values.end());
  double squares = 0;
  double size = 0;
  for (double& value : deviations) {
    size = std::max(size, std::abs(value));
    value -= mean;
    squares += value * value;
  }
  const double length = std::sqrt(squares);
  if (!std::isfinite(length) || length <= kNothing * size * std::sqrt(count)) {
    std::ranges::fill(deviations, 0.0);
    return deviations;
  }
  for (double& value : deviations) {
    value /= length;
  }
  return deviations;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::clamp(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), -1.0, 1.0);
}

// The truth columns over 00, 01, 10, 11 of the gates that stand on the first level of some task and need one or two
// values. A module may read them in either order, so a gate with one negated input has two columns, and so has one that
// passes a value on: the module's other input is free.
std::vector<std::vector<double>> first_level_columns(const tasks::TaskSuite& suite) {
  std::vector<std::vector<double>> columns;
  for (const tasks::Task& task : suite.tasks) {
    for (const tasks::Gate& gate : task.graph->levels.front()) {
      const std::vector<tasks::Wire> needed = tasks::gate_function(gate).inputs;
      if (needed.empty() || needed.size() > 2) {
        continue;
      }
      for (const int first : {0, 1}) {
        tasks::Gate alone = gate;
        for (tasks::Wire& wire : alone.inputs) {
          wire.index = wire.index == needed.front().index ? first : 1 - first;
        }
        const tasks::FunctionGraph graph = {{"x0", "x1"}, {{alone}}, {}, {}};
        const tasks::Column bits = tasks::node_columns(graph)[1].front();
        std::vector<double> column;
        for (int row = 0; row < 4; ++row) {
          column.push_back(tasks::column_bit(bits, row) ? 1 : 0);
        }
        if (std::ranges::find(columns, column) == columns.end()) {
          columns.push_back(column);
        }
      }
    }
  }
  return columns;
}

std::vector<std::vector<double>> standardised_gates(const tasks::FunctionGraph& graph) {
  const std::vector<std::vector<tasks::Column>> columns = tasks::node_columns(graph);
  std::vector<std::vector<double>> gates;
  std::vector<double> values(std::size_t{1} << graph.inputs.size());
  for (std::size_t level = 1; level < columns.size(); ++level) {
    for (const tasks::Column& column : columns[level]) {
      for (std::size_t row = 0; row < values.size(); ++row) {
        values[row] = tasks::column_bit(column, static_cast<int>(row)) ? 1 : 0;
      }
      gates.push_back(standardised(values));
    }
  }
  return gates;
}

// |rho| of slots and gates of the same level, of the slots that are kept.
Preference preference_of(const std::vector<std::vector<double>>& correlation,
                         const std::vector<std::vector<bool>>& kept, const tasks::FunctionGraph& graph) {
  Preference preference(std::min(kept.size(), graph.levels.size()));
  std::size_t slot_index = 0;
  std::size_t first_gate = 0;
  for (std::size_t level = 0; level < preference.size(); ++level) {
    const std::size_t gates = graph.levels[level].size();
    for (const bool keeps : kept[level]) {
      const std::vector<double>& rho = correlation[slot_index++];
      for (std::size_t gate = 0; keeps && gate < gates; ++gate) {
        if (gate == 0) {
          preference[level].emplace_back();
        }
        preference[level].back().push_back(std::abs(rho[first_gate + gate]));
      }
    }
    first_gate += gates;
  }
  return preference;
}

}  // namespace

double pearson(std::span<const double> a, std::span<const double> b) {
  return product(standardised(a), standardised(b));
}

std::optional<Specialisation> specialisation(const ModularView& view, const tasks::TaskSuite& suite) {
  const bool has_graphs =
      std::ranges::all_of(suite.tasks, [](const tasks::Task& task) { return task.graph.has_value(); });
  if (!has_graphs || view.shape.fan_in != 2) {
    return std::nullopt;
  }
  std::vector<std::vector<double>> columns = first_level_columns(suite);
  if (columns.empty()) {
    return std::nullopt;
  }
  std::ranges::transform(columns, columns.begin(), [](const auto& column) { return standardised(column); });
  const std::vector<double> first = {0, 0, 1, 1};
  const std::vector<double> second = {0, 1, 0, 1};
  std::vector<double> by_module;  // own modules say the same in every task, pool members in every slot
  for (std::size_t module = 0; module < view.places.modules.size(); ++module) {
    const bool is_on_first_level = view.shape.pool > 0 || static_cast<int>(module) < view.shape.levels.front();
    if (!is_on_first_level) {
      break;
    }
    const std::vector<double> values =
        standardised(module_values(view, view.places.modules[module], {&first, &second}));
    double most = 0;
    for (const std::vector<double>& column : columns) {
      most = std::max(most, std::abs(product(values, column)));
    }
    by_module.push_back(most);
  }
  Specialisation result;
  for (const tasks::Routing& routing : view.routings) {
    for (int slot = 0; slot < view.shape.levels.front(); ++slot) {
      result.modules.push_back(by_module[view.shape.pool > 0 ? routing.modules.front()[slot] : slot]);
    }
  }
  result.max = *std::ranges::max_element(result.modules);
  result.mean =
      std::accumulate(result.modules.begin(), result.modules.end(), 0.0) / static_cast<double>(result.modules.size());
  return result;
}

std::optional<Specialisation> specialisation(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                                             const std::vector<float>& parameters) {
  const std::optional<ModularView> view = view_modular(blueprint, parameters);
  return view ? specialisation(*view, suite) : std::nullopt;
}

std::optional<InSitu> in_situ_correlation(const ModularView& view, const tasks::TaskSuite& suite, int task) {
  const std::optional<tasks::FunctionGraph>& graph = suite.tasks[task].graph;
  if (!graph) {
    return std::nullopt;
  }
  InSitu result;
  const std::vector<std::vector<double>> gates = standardised_gates(*graph);
  for (const std::vector<double>& values : slot_values(view, task)) {
    const std::vector<double> slot = standardised(values);
    std::vector<double>& rho = result.correlation.emplace_back();
    std::ranges::transform(gates, std::back_inserter(rho), [&](const auto& gate) { return product(slot, gate); });
  }

  const Wiring truth = wiring_of(*graph);
  const auto [kept, learned] = compared_part(view.routings[task], truth, suite.tasks.size() > 1);
  const Matching matching = best_matching(learned, truth, preference_of(result.correlation, kept, *graph));
  result.distance = edit_distance(learned, truth, matching);
  result.matching = gates_of_all(matching.gates, kept);

  std::size_t slot_index = 0;
  std::size_t first_gate = 0;
  for (std::size_t level = 0; level < result.matching.size(); ++level) {
    for (const int gate : result.matching[level]) {
      result.mean += gate < 0 ? 0.0 : std::abs(result.correlation[slot_index][first_gate + gate]);
      ++slot_index;
    }
    first_gate += level < graph->levels.size() ? graph->levels[level].size() : 0;
  }
  result.mean /= static_cast<double>(gates.size());
  return result;
}

std::optional<InSitu> in_situ_correlation(const models::Blueprint& blueprint, const tasks::TaskSuite& suite, int task,
                                          const std::vector<float>& parameters) {
  const std::optional<ModularView> view = view_modular(blueprint, parameters);
  return view ? in_situ_correlation(*view, suite, task) : std::nullopt;
}

}  // namespace modlab::measures
