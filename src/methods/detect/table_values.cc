#include "methods/detect/table_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "core/errors.h"

namespace modlab::methods {
namespace {

// Rows are taken by the word.
constexpr int kRows = 64;
using Values = std::vector<std::array<double, kRows>>;  // of the units of a layer

Values input_values(int inputs, int first_row) {
  Values values(inputs);
  for (int input = 0; input < inputs; ++input) {
    for (int row = 0; row < kRows; ++row) {
      values[input][row] = tasks::input_bit(inputs, first_row + row, input) ? 1 : 0;
    }
  }
  return values;
}

// In the order of models::unit_values, so that both give the same bits.
Values next_values(const models::Connections& connections, const Values& below, bool is_last) {
  Values values(connections.bias.size());
  for (std::size_t unit = 0; unit < values.size(); ++unit) {
    values[unit].fill(connections.bias[unit]);
  }
  for (const models::Edge& edge : connections.edges) {
    const double weight = edge.weight;
    const std::array<double, kRows>& from = below[edge.from];
    std::array<double, kRows>& to = values[edge.to];
    for (int row = 0; row < kRows; ++row) {
      to[row] += weight * from[row];
    }
  }
  for (std::array<double, kRows>& unit : values) {
    for (double& value : unit) {
      value = is_last ? value : std::max(0.0, value);
    }
  }
  return values;
}

std::uint64_t active_word(const std::array<double, kRows>& values, int rows) {
  std::uint64_t word = 0;
  for (int row = 0; row < rows; ++row) {
    word |= static_cast<std::uint64_t>(values[row] > 0) << row;
  }
  return word;
}

}  // namespace

void check_fits(const models::LayeredNetwork& network, const tasks::Task& task) {
  if (task.images) {
    throw ConfigError(
        fmt::format("task {} is on images: its truth table does not say what a network reads; name a "
                    "task on bits, or none",
                    task.name));
  }
  if (network.widths.front() != task.table.inputs || network.widths.back() != task.table.outputs) {
    throw ConfigError(
        fmt::format("task {} has {} inputs and {} outputs, but the network has {} and {}; name another "
                    "task, or none",
                    task.name, task.table.inputs, task.table.outputs, network.widths.front(), network.widths.back()));
  }
}

std::vector<std::vector<tasks::Column>> active_rows(const models::LayeredNetwork& network) {
  const int inputs = network.widths.front();
  assert(inputs <= tasks::kMaxInputs);
  const int rows = 1 << inputs;
  std::vector<std::vector<tasks::Column>> active;
  for (const int width : network.widths) {
    active.emplace_back(width, tasks::Column((rows + kRows - 1) / kRows));
  }
  for (int first_row = 0; first_row < rows; first_row += kRows) {
    Values values = input_values(inputs, first_row);
    for (int layer = 0;; ++layer) {
      for (std::size_t unit = 0; unit < values.size(); ++unit) {
        active[layer][unit][first_row / kRows] = active_word(values[unit], std::min(kRows, rows - first_row));
      }
      if (layer + 1 == network.layers()) {
        break;
      }
      values = next_values(network.connections[layer], values, layer + 2 == network.layers());
    }
  }
  return active;
}

std::vector<double> output_accuracies(const models::LayeredNetwork& network, const tasks::TruthTable& table) {
  const std::vector<tasks::Column> answers = active_rows(network).back();
  const int rows = static_cast<int>(table.rows.size());
  std::vector<double> accuracies;
  for (int output = 0; output < table.outputs; ++output) {
    int right = 0;
    for (int row = 0; row < rows; ++row) {
      right += tasks::column_bit(answers[output], row) == tasks::output_bit(table, row, output) ? 1 : 0;
    }
    accuracies.push_back(static_cast<double>(right) / rows);
  }
  return accuracies;
}

std::vector<UnitPlace> constant_units(const models::LayeredNetwork& network,
                                      const std::vector<std::vector<int>>& live) {
  std::vector<UnitPlace> constants;
  std::vector<char> fed(network.widths.front(), 1);
  // Units that are fed have a value that depends on the inputs; of the others it is the same whatever those are.
  const std::vector<std::vector<double>> values =
      models::unit_values(network, std::vector<double>(network.widths.front()));
  for (int layer = 1; layer + 1 < network.layers(); ++layer) {
    std::vector<char> fed_here(network.widths[layer]);
    for (const models::Edge& edge : network.connections[layer - 1].edges) {
      fed_here[edge.to] |= fed[edge.from];
    }
    std::vector<char> feeds_live(network.widths[layer]);
    for (const models::Edge& edge : network.connections[layer].edges) {
      feeds_live[edge.from] |= static_cast<char>(std::ranges::binary_search(live[layer + 1], edge.to));
    }
    for (int unit = 0; unit < network.widths[layer]; ++unit) {
      if (fed_here[unit] == 0 && feeds_live[unit] != 0 && values[layer][unit] > 0) {
        constants.push_back({layer, unit});
      }
    }
    fed = std::move(fed_here);
  }
  return constants;
}

}  // namespace modlab::methods
