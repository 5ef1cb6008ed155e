#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/truth_table.h"

namespace modlab::tasks {

// The operations of a gate, for any number of inputs; XOR of more than two is their parity. None depends on the order
// of its inputs.
enum class Op { kAnd, kOr, kXor, kNand, kNor, kXnor, kId };

const char* op_name(Op op);
// The names that op_name gives, in any case.
std::optional<Op> op_from_name(std::string_view name);
std::vector<std::string> op_names();

// Where a value comes from: level 0 is the inputs, level l the gates of graph.levels[l - 1].
struct Wire {
  int level = 0;
  int index = 0;
  bool negated = false;

  friend auto operator<=>(const Wire&, const Wire&) = default;
};

struct Gate {
  std::string name;
  Op op = Op::kAnd;
  std::vector<Wire> inputs;
};

// A Boolean function with a known structure. Gates read only levels below their own.
struct FunctionGraph {
  std::vector<std::string> inputs;
  std::vector<std::vector<Gate>> levels;
  std::vector<std::string> output_names;
  std::vector<Wire> outputs;
};

TruthTable truth_table(const FunctionGraph& graph);

// The value of one node on all rows, 64 rows to a word; rows beyond the last hold rubbish.
using Column = std::vector<std::uint64_t>;
inline bool column_bit(const Column& column, int row) { return ((column[row / 64] >> (row % 64)) & 1U) != 0; }

// The values of the inputs (level 0) and of all gates, [level][index].
std::vector<std::vector<Column>> node_columns(const FunctionGraph& graph);

// Whether the outputs are the gates of the last level: each gate is one output, as it is.
bool outputs_are_last_level(const FunctionGraph& graph);
// The same under the gates' own names, so that nobody needs to see them twice.
bool outputs_are_named_gates(const FunctionGraph& graph);

// What a gate computes, however it is written: OR a b is NAND !a !b, AND c c passes c on, and XOR c c is constant.
struct GateFunction {
  bool is_parity = false;    // of the inputs, none of them negated; otherwise their conjunction, which of none is 1
  bool is_inverted = false;  // the result is negated
  std::vector<Wire> inputs;  // that matter, each once, in the order in which they are written

  friend auto operator<=>(const GateFunction&, const GateFunction&) = default;
};
GateFunction gate_function(const Gate& gate);

int gate_count(const FunctionGraph& graph);
// Values that gates need and outputs read, as the graph edit distance counts them.
int edge_count(const FunctionGraph& graph);
// The distinct operations in the order of their first appearance, level by level. Negations play no role.
std::vector<Op> distinct_ops(const FunctionGraph& graph);

// "x0", "!b1": the wire by the name of what it reads.
std::string wire_text(const FunctionGraph& graph, const Wire& wire);
// "XOR(x0, !b1)".
std::string gate_text(const FunctionGraph& graph, const Gate& gate);

}  // namespace modlab::tasks
