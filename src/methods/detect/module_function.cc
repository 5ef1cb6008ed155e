#include "methods/detect/module_function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "core/text.h"
#include "methods/detect/cross_edges.h"
#include "methods/detect/table_values.h"

namespace modlab::methods {
namespace {

using tasks::Column;

constexpr std::size_t kMaxLocalInputs = 6;

void clear_beyond(Column& column, int rows) {
  if (rows < 64) {
    column.back() &= (std::uint64_t{1} << rows) - 1;
  }
}

Column negated(const Column& column, int rows) {
  Column result;
  std::ranges::transform(column, std::back_inserter(result), [](std::uint64_t word) { return ~word; });
  clear_beyond(result, rows);
  return result;
}

int count_ones(const Column& column) {
  int ones = 0;
  for (const std::uint64_t word : column) {
    ones += std::popcount(word);
  }
  return ones;
}

// A value that the task has a name for.
struct Node {
  std::string name;
  Column column;
  Column opposite;
};

Node make_node(const std::string& name, Column column, int rows) {
  clear_beyond(column, rows);
  Node node{name, std::move(column), {}};
  node.opposite = negated(node.column, rows);
  return node;
}

Column input_column(int inputs, int input) {
  const int rows = 1 << inputs;
  Column column((rows + 63) / 64);
  for (int row = 0; row < rows; ++row) {
    column[row / 64] |= static_cast<std::uint64_t>(tasks::input_bit(inputs, row, input)) << (row % 64);
  }
  return column;
}

Column output_column(const tasks::TruthTable& table, int output) {
  Column column((table.rows.size() + 63) / 64);
  for (int row = 0; row < static_cast<int>(table.rows.size()); ++row) {
    column[row / 64] |= static_cast<std::uint64_t>(tasks::output_bit(table, row, output)) << (row % 64);
  }
  return column;
}

// Inputs, gates by level, and outputs that are no gates.
std::vector<Node> nodes_of(const tasks::Task& task) {
  const int rows = static_cast<int>(task.table.rows.size());
  std::vector<Node> nodes;
  for (int input = 0; input < task.table.inputs; ++input) {
    nodes.push_back(make_node(task.input_names[input], input_column(task.table.inputs, input), rows));
  }
  if (task.graph) {
    const std::vector<std::vector<Column>> columns = tasks::node_columns(*task.graph);
    for (std::size_t level = 0; level < task.graph->levels.size(); ++level) {
      for (std::size_t gate = 0; gate < task.graph->levels[level].size(); ++gate) {
        nodes.push_back(make_node(task.graph->levels[level][gate].name, columns[level + 1][gate], rows));
      }
    }
  }
  for (int output = 0; output < task.table.outputs; ++output) {
    if (std::ranges::find(nodes, task.output_names[output], &Node::name) == nodes.end()) {
      nodes.push_back(make_node(task.output_names[output], output_column(task.table, output), rows));
    }
  }
  return nodes;
}

std::vector<NodeMatch> matches_of(const Column& column, const std::vector<Node>& nodes) {
  std::vector<NodeMatch> matches;
  for (const Node& node : nodes) {
    if (column == node.column || column == node.opposite) {
      matches.push_back({node.name, column != node.column});
    }
  }
  return matches;
}

// Which inputs of a small gate take part, and which of those negated; the first input is the highest bit.
struct Literals {
  unsigned used = 0;
  unsigned negated = 0;
};

// All choices for `inputs` inputs, those with few of them first.
std::vector<Literals> all_literals(std::size_t inputs) {
  std::vector<Literals> all;
  for (unsigned used = 1; used < 1U << inputs; ++used) {
    for (unsigned negated = 0; negated <= used; ++negated) {
      if ((negated & ~used) == 0) {
        all.push_back({used, negated});
      }
    }
  }
  std::ranges::stable_sort(all, {}, [](const Literals& literals) { return std::popcount(literals.used); });
  return all;
}

const std::vector<Literals>& literals_of(std::size_t inputs) {
  static const std::array<std::vector<Literals>, kMaxLocalInputs + 1> kAll = [] {
    std::array<std::vector<Literals>, kMaxLocalInputs + 1> all;
    for (std::size_t count = 0; count < all.size(); ++count) {
      all[count] = all_literals(count);
    }
    return all;
  }();
  return kAll[inputs];
}

bool is_and(const Literals& literals, unsigned row) {
  return ((row ^ literals.negated) & literals.used) == literals.used;
}
bool is_or(const Literals& literals, unsigned row) { return ((row ^ literals.negated) & literals.used) != 0; }
bool is_odd(const Literals& literals, unsigned row) { return std::popcount(row & literals.used) % 2 == 1; }
bool is_even(const Literals& literals, unsigned row) { return !is_odd(literals, row); }

template <typename Gate>
bool fits(const std::string& table, const Literals& literals, Gate gate) {
  for (unsigned row = 0; row < table.size(); ++row) {
    if (table[row] != '-' && (table[row] == '1') != gate(literals, row)) {
      return false;
    }
  }
  return true;
}

std::string formula_text(const char* gate, const Literals& literals, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t input = 0; input < names.size(); ++input) {
    const unsigned bit = 1U << (names.size() - 1 - input);
    if ((literals.used & bit) != 0) {
      parts.push_back(((literals.negated & bit) != 0 ? "!" : "") + names[input]);
    }
  }
  return parts.size() == 1 ? parts.front() : std::string(gate) + "(" + join_text(parts, ", ") + ")";
}

// The gate with the fewest inputs that fits a table of 0, 1 and -, AND and OR before XOR; empty if none does, or the
// table does not change.
std::string find_gate(const std::string& table, const std::vector<std::string>& names) {
  if (table.find('0') == std::string::npos || table.find('1') == std::string::npos) {
    return "";
  }
  for (const Literals& literals : literals_of(names.size())) {
    if (fits(table, literals, is_and)) {
      return formula_text("AND", literals, names);
    }
    if (fits(table, literals, is_or)) {
      return formula_text("OR", literals, names);
    }
  }
  for (const Literals& literals : literals_of(names.size())) {
    if (literals.negated == 0 && fits(table, literals, is_odd)) {
      return formula_text("XOR", literals, names);
    }
    if (literals.negated == 0 && fits(table, literals, is_even)) {
      return formula_text("XNOR", literals, names);
    }
  }
  return "";
}

// The table of a unit over columns of bits, or nothing where the same bits lead to 0 and to 1.
std::optional<std::string> table_over(const std::vector<const Column*>& bits, const Column& column, int rows) {
  std::string table(std::size_t{1} << bits.size(), '-');
  for (int row = 0; row < rows; ++row) {
    std::size_t place = 0;
    for (const Column* bit : bits) {
      place = 2 * place + (tasks::column_bit(*bit, row) ? 1 : 0);
    }
    const char value = tasks::column_bit(column, row) ? '1' : '0';
    if (table[place] != '-' && table[place] != value) {
      return std::nullopt;
    }
    table[place] = value;
  }
  return table;
}

std::vector<int> inputs_that_matter(const Column& column, int inputs) {
  tasks::TruthTable table{inputs, 1, {}};
  for (int row = 0; row < 1 << inputs; ++row) {
    table.rows.push_back(tasks::column_bit(column, row) ? 1 : 0);
  }
  return tasks::relevant_inputs(table, 0);
}

// Wiring between modules, and what the units do on all rows.
class Reader {
 public:
  Reader(const models::LayeredNetwork& network, const Hierarchy& hierarchy, const tasks::Task& task)
      : network_(network),
        hierarchy_(hierarchy),
        names_(network, task),
        rows_(static_cast<int>(task.table.rows.size())),
        nodes_(nodes_of(task)),
        active_(active_rows(network)),
        module_of_(modules_by_unit(network, hierarchy)) {
    find_ends();
    find_wires();
  }

  ModuleFunction function_of(std::size_t module) const {
    ModuleFunction function;
    function.reads.assign(reads_[module].begin(), reads_[module].end());
    for (const UnitPlace& place : gives_[module]) {
      function.gives.push_back(unit_function(place, function.reads));
    }
    return function;
  }

  const Column& column_of(const UnitPlace& place) const { return active_[place.layer][place.unit]; }

 private:
  void find_ends() {
    reads_.resize(hierarchy_.modules.size());
    gives_.resize(hierarchy_.modules.size());
    for (std::size_t module = 0; module < hierarchy_.modules.size(); ++module) {
      const std::vector<std::vector<int>>& units = hierarchy_.modules[module].units;
      for (const int input : units.front()) {
        reads_[module].insert({0, input});
      }
      for (const int output : units.back()) {
        gives_[module].insert({network_.layers() - 1, output});
      }
    }
  }

  void find_wires() {
    for (int layer = 0; layer + 1 < network_.layers(); ++layer) {
      for (const models::Edge& edge : network_.connections[layer].edges) {
        const int from = module_of_[layer][edge.from];
        const int to = module_of_[layer + 1][edge.to];
        if (from >= 0 && to >= 0 && from != to) {
          gives_[from].insert({layer, edge.from});
          reads_[to].insert({layer, edge.from});
        }
      }
    }
  }

  UnitFunction unit_function(const UnitPlace& place, const std::vector<UnitPlace>& reads) const {
    const Column& column = column_of(place);
    UnitFunction function;
    function.unit = place;
    function.ones = count_ones(column);
    function.matches = matches_of(column, nodes_);
    function.depends_on = inputs_that_matter(column, network_.widths.front());
    std::vector<UnitPlace> inputs;
    for (const int input : function.depends_on) {
      inputs.push_back({0, input});
    }
    function.formula = describe(column, inputs).second;
    if (place.layer > 0) {
      std::tie(function.local_table, function.local_formula) = describe(column, reads);
    }
    return function;
  }

  // The table over other units and the gate that it is, where there are few.
  std::pair<std::optional<std::string>, std::string> describe(const Column& column,
                                                              const std::vector<UnitPlace>& over) const {
    if (over.size() > kMaxLocalInputs) {
      return {std::nullopt, ""};
    }
    std::vector<const Column*> bits;
    std::vector<std::string> names;
    for (const UnitPlace& place : over) {
      bits.push_back(&column_of(place));
      names.push_back(names_.of(place));
    }
    std::optional<std::string> table = table_over(bits, column, rows_);
    std::string gate = table ? find_gate(*table, names) : "";
    return {std::move(table), std::move(gate)};
  }

  const models::LayeredNetwork& network_;
  const Hierarchy& hierarchy_;
  UnitNames names_;
  int rows_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Column>> active_;
  std::vector<std::vector<int>> module_of_;  // [layer][unit], -1 if it is dead
  std::vector<std::set<UnitPlace>> reads_;   // [module]
  std::vector<std::set<UnitPlace>> gives_;
};

// [module of the task]: the values that leave it, as columns.
std::vector<std::vector<Column>> leaving_values(const tasks::Task& task) {
  std::vector<std::vector<Column>> leaving(task.modules.size());
  if (task.modules.empty()) {
    return leaving;
  }
  const int rows = static_cast<int>(task.table.rows.size());
  const std::vector<std::vector<int>> modules = tasks::modules_of_nodes(task);
  std::vector<std::vector<Column>> columns = tasks::node_columns(*task.graph);
  std::set<std::pair<int, int>> left;
  const auto leave = [&](const tasks::Wire& wire) {
    const int module = modules[wire.level][wire.index];
    if (module >= 0 && left.emplace(wire.level, wire.index).second) {
      clear_beyond(columns[wire.level][wire.index], rows);
      leaving[module].push_back(columns[wire.level][wire.index]);
    }
  };
  for (std::size_t level = 0; level < task.graph->levels.size(); ++level) {
    for (std::size_t gate = 0; gate < task.graph->levels[level].size(); ++gate) {
      for (const tasks::Wire& wire : task.graph->levels[level][gate].inputs) {
        if (modules[wire.level][wire.index] != modules[level + 1][gate]) {
          leave(wire);
        }
      }
    }
  }
  for (int output = 0; output < task.table.outputs; ++output) {
    const tasks::Wire& wire = task.graph->outputs[output];
    leave(wire);
    // Its module may be another one than that of the gate.
    const int module = modules.back()[output];
    if (module >= 0 && module != modules[wire.level][wire.index]) {
      leaving[module].push_back(output_column(task.table, output));
    }
  }
  return leaving;
}

bool gives_all(const std::vector<Column>& values, const ModuleFunction& function, const Reader& reader, int rows) {
  return !values.empty() && std::ranges::all_of(values, [&](const Column& value) {
    const Column opposite = negated(value, rows);
    return std::ranges::any_of(function.gives, [&](const UnitFunction& given) {
      const Column& column = reader.column_of(given.unit);
      return column == value || column == opposite;
    });
  });
}

}  // namespace

std::vector<ModuleFunction> module_functions(const models::LayeredNetwork& network, const Hierarchy& hierarchy,
                                             const tasks::Task& task) {
  check_fits(network, task);
  const Reader reader(network, hierarchy, task);
  const std::vector<std::vector<Column>> leaving = leaving_values(task);
  const int rows = static_cast<int>(task.table.rows.size());
  std::vector<ModuleFunction> functions;
  for (std::size_t module = 0; module < hierarchy.modules.size(); ++module) {
    ModuleFunction& function = functions.emplace_back(reader.function_of(module));
    for (std::size_t truth = 0; truth < leaving.size(); ++truth) {
      if (gives_all(leaving[truth], function, reader, rows)) {
        function.computes.push_back(static_cast<int>(truth));
      }
    }
  }
  return functions;
}

}  // namespace modlab::methods
