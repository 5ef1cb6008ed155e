#include "tasks/function_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/text.h"

namespace modlab::tasks {
namespace {

constexpr std::array<std::pair<Op, const char*>, 7> kOps = {{{Op::kAnd, "AND"},
                                                             {Op::kOr, "OR"},
                                                             {Op::kXor, "XOR"},
                                                             {Op::kNand, "NAND"},
                                                             {Op::kNor, "NOR"},
                                                             {Op::kXnor, "XNOR"},
                                                             {Op::kId, "ID"}}};

Column gate_column(Op op, const std::vector<Column>& inputs) {
  Column result = inputs.front();
  for (std::size_t input = 1; input < inputs.size(); ++input) {
    for (std::size_t word = 0; word < result.size(); ++word) {
      switch (op) {
        case Op::kAnd:
        case Op::kNand:
          result[word] &= inputs[input][word];
          break;
        case Op::kOr:
        case Op::kNor:
          result[word] |= inputs[input][word];
          break;
        case Op::kXor:
        case Op::kXnor:
          result[word] ^= inputs[input][word];
          break;
        case Op::kId:
          break;
      }
    }
  }
  if (op == Op::kNand || op == Op::kNor || op == Op::kXnor) {
    for (std::uint64_t& word : result) {
      word = ~word;
    }
  }
  return result;
}

Column read_column(const std::vector<std::vector<Column>>& values, const Wire& wire) {
  Column column = values[wire.level][wire.index];
  if (wire.negated) {
    for (std::uint64_t& word : column) {
      word = ~word;
    }
  }
  return column;
}

}  // namespace

const char* op_name(Op op) {
  return std::ranges::find(kOps, op, [](const auto& entry) { return entry.first; })->second;
}

std::optional<Op> op_from_name(std::string_view name) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  for (const auto& [op, known] : kOps) {
    if (upper == known) {
      return op;
    }
  }
  return std::nullopt;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : kOps) {
    names.emplace_back(entry.second);
  }
  return names;
}

std::vector<std::vector<Column>> node_columns(const FunctionGraph& graph) {
  const int inputs = static_cast<int>(graph.inputs.size());
  const int row_count = 1 << inputs;
  std::vector<std::vector<Column>> values(graph.levels.size() + 1);
  for (int input = 0; input < inputs; ++input) {
    Column column((row_count + 63) / 64, 0);
    for (int row = 0; row < row_count; ++row) {
      column[row / 64] |= static_cast<std::uint64_t>(input_bit(inputs, row, input)) << (row % 64);
    }
    values[0].push_back(std::move(column));
  }
  for (std::size_t level = 0; level < graph.levels.size(); ++level) {
    for (const Gate& gate : graph.levels[level]) {
      std::vector<Column> read_columns;
      std::ranges::transform(gate.inputs, std::back_inserter(read_columns),
                             [&](const Wire& wire) { return read_column(values, wire); });
      values[level + 1].push_back(gate_column(gate.op, read_columns));
    }
  }
  return values;
}

TruthTable truth_table(const FunctionGraph& graph) {
  const int inputs = static_cast<int>(graph.inputs.size());
  const int row_count = 1 << inputs;
  const std::vector<std::vector<Column>> values = node_columns(graph);
  TruthTable table{inputs, static_cast<int>(graph.outputs.size()), std::vector<std::uint32_t>(row_count, 0)};
  for (int output = 0; output < table.outputs; ++output) {
    const Column column = read_column(values, graph.outputs[output]);
    for (int row = 0; row < row_count; ++row) {
      table.rows[row] |= static_cast<std::uint32_t>(column_bit(column, row)) << output;
    }
  }
  return table;
}

bool outputs_are_last_level(const FunctionGraph& graph) {
  const int last = static_cast<int>(graph.levels.size());
  std::vector<Wire> read = graph.outputs;
  std::ranges::sort(read);
  const bool all_differ = std::ranges::adjacent_find(read) == read.end();
  return last > 0 && all_differ && read.size() == graph.levels.back().size() &&
         std::ranges::all_of(read, [&](const Wire& wire) { return wire.level == last && !wire.negated; });
}

bool outputs_are_named_gates(const FunctionGraph& graph) {
  if (!outputs_are_last_level(graph)) {
    return false;
  }
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    if (graph.output_names[output] != wire_text(graph, graph.outputs[output])) {
      return false;
    }
  }
  return true;
}

GateFunction gate_function(const Gate& gate) {
  const auto is_one_of = [&](Op one, Op other) { return gate.op == one || gate.op == other; };
  const bool negates_inputs = is_one_of(Op::kOr, Op::kNor);
  GateFunction function;
  function.is_parity = is_one_of(Op::kXor, Op::kXnor);
  function.is_inverted = is_one_of(Op::kNand, Op::kOr) || gate.op == Op::kXnor;
  std::vector<Wire>& inputs = function.inputs;
  bool is_never_met = false;  // by c and !c
  for (Wire wire : gate.inputs) {
    wire.negated = wire.negated != negates_inputs;
    if (function.is_parity) {
      function.is_inverted = function.is_inverted != wire.negated;
      wire.negated = false;
    }
    const auto same = std::ranges::find_if(
        inputs, [&](const Wire& other) { return other.level == wire.level && other.index == wire.index; });
    if (same == inputs.end()) {
      inputs.push_back(wire);
    } else if (function.is_parity) {
      inputs.erase(same);
    } else {
      is_never_met = is_never_met || same->negated != wire.negated;
    }
  }
  if (is_never_met) {
    inputs.clear();
  }
  if (is_never_met || (function.is_parity && inputs.empty())) {
    function.is_inverted = !function.is_inverted;
  }
  function.is_parity = function.is_parity && inputs.size() > 1;
  if (inputs.size() == 1 && inputs.front().negated) {
    inputs.front().negated = false;
    function.is_inverted = !function.is_inverted;
  }
  return function;
}

int gate_count(const FunctionGraph& graph) {
  std::size_t gates = 0;
  for (const std::vector<Gate>& level : graph.levels) {
    gates += level.size();
  }
  return static_cast<int>(gates);
}

int edge_count(const FunctionGraph& graph) {
  std::size_t edges = graph.outputs.size();
  for (const std::vector<Gate>& level : graph.levels) {
    for (const Gate& gate : level) {
      edges += gate_function(gate).inputs.size();
    }
  }
  return static_cast<int>(edges);
}

std::vector<Op> distinct_ops(const FunctionGraph& graph) {
  std::vector<Op> ops;
  for (const std::vector<Gate>& level : graph.levels) {
    for (const Gate& gate : level) {
      if (std::ranges::find(ops, gate.op) == ops.end()) {
        ops.push_back(gate.op);
      }
    }
  }
  return ops;
}

std::string wire_text(const FunctionGraph& graph, const Wire& wire) {
  const std::string& name = wire.level == 0 ? graph.inputs[wire.index] : graph.levels[wire.level - 1][wire.index].name;
  return wire.negated ? "!" + name : name;
}

std::string gate_text(const FunctionGraph& graph, const Gate& gate) {
  std::vector<std::string> inputs;
  for (const Wire& wire : gate.inputs) {
    inputs.push_back(wire_text(graph, wire));
  }
  return fmt::format("{}({})", op_name(gate.op), join_text(inputs, ", "));
}

}  // namespace modlab::tasks
