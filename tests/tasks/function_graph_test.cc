#include "tasks/function_graph.h"

#include <gtest/gtest.h>

#include "tasks/graph_dot.h"
#include "tasks/graph_layout.h"
#include "tasks/graph_svg.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

FunctionGraph one_gate(Op op, std::vector<Wire> wires, std::vector<std::string> inputs) {
  return {std::move(inputs), {{Gate{"g", op, std::move(wires)}}}, {"y0"}, {{1, 0, false}}};
}

TEST(FunctionGraph, EachOperationOnThreeInputs) {
  const std::vector<Wire> wires = {{0, 0, false}, {0, 1, false}, {0, 2, false}};
  const auto word = [&](Op op) { return hex_word(truth_table(one_gate(op, wires, {"a", "b", "c"})), 0); };
  EXPECT_EQ(word(Op::kAnd), "01");
  EXPECT_EQ(word(Op::kOr), "7f");
  EXPECT_EQ(word(Op::kXor), "69");
  EXPECT_EQ(word(Op::kNand), "fe");
  EXPECT_EQ(word(Op::kNor), "80");
  EXPECT_EQ(word(Op::kXnor), "96");
}

TEST(FunctionGraph, NegationOfInputsAndOutputs) {
  EXPECT_EQ(hex_word(truth_table(one_gate(Op::kAnd, {{0, 0, false}, {0, 1, true}}, {"a", "b"})), 0), "2");
  FunctionGraph graph = one_gate(Op::kId, {{0, 0, true}}, {"a", "b"});
  EXPECT_EQ(hex_word(truth_table(graph), 0), "c");
  graph.outputs[0].negated = true;
  EXPECT_EQ(hex_word(truth_table(graph), 0), "3");
}

TEST(FunctionGraph, SixteenInputs) {
  FunctionGraph graph;
  std::vector<Wire> wires;
  for (int input = 0; input < 16; ++input) {
    graph.inputs.push_back("x" + std::to_string(input));
    wires.push_back({0, input, false});
  }
  graph.levels = {{Gate{"parity", Op::kXor, wires}}};
  graph.output_names = {"y0"};
  graph.outputs = {{1, 0, false}};
  const TruthTable table = truth_table(graph);
  ASSERT_EQ(table.rows.size(), 65536U);
  for (std::uint32_t row = 0; row < 65536; row += 97) {
    EXPECT_EQ(table.rows[row], static_cast<std::uint32_t>(__builtin_popcount(row) % 2));
  }
}

TEST(FunctionGraph, CountsOfThePublishedGraphs) {
  struct Counts {
    const char* name;
    int gates;
    int edges;  // of the edit distance
    std::size_t ops;
  };
  for (const Counts& counts : {Counts{"depth1", 2, 6, 1}, Counts{"depth2", 5, 12, 2}, Counts{"depth3", 8, 18, 3}}) {
    const FunctionGraph graph = *load_task(counts.name).tasks[0].graph;
    EXPECT_EQ(gate_count(graph), counts.gates) << counts.name;
    EXPECT_EQ(edge_count(graph), counts.edges) << counts.name;
    EXPECT_EQ(distinct_ops(graph).size(), counts.ops) << counts.name;
  }
}

TEST(GraphLayout, ReordersOnlyToSaveCrossings) {
  // Two wires that cross in the order given.
  Layout layout;
  layout.nodes = {{0, 10, 10, true, 0, 0}, {0, 10, 10, true, 0, 0}, {1, 10, 10, false, 0, 0}, {1, 10, 10, false, 0, 0}};
  layout.edges = {{0, 3, 0, 0}, {1, 2, 0, 0}};
  layout.layers = {{0, 1}, {2, 3}};
  EXPECT_EQ(count_crossings(layout), 1);
  arrange(layout);
  EXPECT_EQ(count_crossings(layout), 0);
  EXPECT_EQ(layout.layers[1], (std::vector<int>{3, 2}));
  // Boxes of a layer do not overlap.
  EXPECT_GE(layout.nodes[2].y - layout.nodes[3].y, 10);
}

TEST(GraphLayout, GroupsStayTogetherAndDoNotCross) {
  // Nodes 0, 3 and 4 are one group, 1, 2 and 5 the other, given in another order on the second layer.
  Layout layout;
  layout.nodes.resize(6);
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    layout.nodes[node].layer = node < 2 ? 0 : 1;
    layout.nodes[node].height = 10;
    layout.nodes[node].group = node == 0 || node == 3 || node == 4 ? 1 : 0;
    layout.nodes[node].above = 7;
    layout.nodes[node].below = 5;
  }
  layout.edges = {{0, 3, 0, 0}, {0, 4, 0, 0}, {1, 2, 0, 0}, {1, 5, 0, 0}};
  layout.layers = {{0, 1}, {2, 5, 3, 4}};
  EXPECT_GE(count_crossings(layout), 100);
  arrange(layout);
  EXPECT_EQ(count_crossings(layout), 0);
  EXPECT_EQ(layout.layers[1], (std::vector<int>{3, 4, 2, 5}));
  const auto gap = [&](int upper, int lower) { return layout.nodes[lower].y - layout.nodes[upper].y - 10; };
  EXPECT_GE(gap(4, 2), gap(3, 4) + 5 + 7);
  // The picture has room for the groups' edges.
  EXPECT_GE(layout.nodes[3].y - 5 - 7, 0);
  EXPECT_LE(layout.nodes[5].y + 5 + 5, layout.height);
}

std::size_t count_parts(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(GraphSvg, DrawsModulesAsAreasBehindTheirNodes) {
  for (const std::string& name : builtin_task_names()) {
    const TaskSuite suite = load_task(name);
    const std::string svg = graph_svg(suite);
    // Every published module stands on neighbouring layers: one area each.
    EXPECT_EQ(count_parts(svg, "class=\"module\""), suite.tasks[0].modules.size()) << name;
    for (const TaskModule& module : suite.tasks[0].modules) {
      EXPECT_EQ(count_parts(svg, ">" + module.name + "</text>"), 1U) << name;
    }
    EXPECT_EQ(svg.find("nan"), std::string::npos) << name;
    if (name.starts_with("sculpt/")) {
      EXPECT_LT(svg.rfind("class=\"module\""), svg.find("class=\"wire\"")) << name;
    }
  }
}

TEST(GraphSvg, OutputsThatAreGatesStandThereOnce) {
  const std::string svg = graph_svg(load_task("sculpt/4-2-4"));
  EXPECT_EQ(count_parts(svg, ">y1</text>"), 1U);
  EXPECT_EQ(svg.find("level 2"), std::string::npos);
  // Copies need no box.
  const std::string copies = graph_svg(load_task("sculpt/4-1-2-16"));
  EXPECT_EQ(copies.find(">ID<"), std::string::npos);
  EXPECT_EQ(count_parts(copies, "class=\"output\""), 16U);
}

TEST(GraphDot, ModulesAreClusters) {
  const TaskSuite suite = parse_task_yaml(
      "inputs: [a, b]\nlevels:\n  - g: AND a !b\noutputs: {sum: g, raw: a}\nmodules:\n  left: [a]\n  right: [b, g]\n",
      "t", "t.yaml");
  EXPECT_EQ(graph_dot(suite),
            R"(digraph "t" {
  rankdir=LR;
  "a" [label="a", shape=box, style=rounded];
  "b" [label="b", shape=box, style=rounded];
  "g" [label="AND\ng", shape=box];
  "a" -> "g";
  "b" -> "g" [arrowhead=odot];
  "output sum" [label="sum", shape=box, style="rounded,bold"];
  "g" -> "output sum";
  "output raw" [label="raw", shape=box, style="rounded,bold"];
  "a" -> "output raw";
  subgraph cluster_0 { label="left"; style=rounded; "a"; "output raw" }
  subgraph cluster_1 { label="right"; style=rounded; "b"; "g"; "output sum" }
}
)");
  for (const std::string& name : builtin_task_names()) {
    const std::string dot = graph_dot(load_task(name));
    EXPECT_EQ(count_parts(dot, "{"), count_parts(dot, "}")) << name;
  }
  EXPECT_NE(graph_dot(load_task("A+B")).find("\"depth2 a0\" -> \"depth2 b0\""), std::string::npos);
  EXPECT_NE(graph_dot(load_task("random62")).find("\"x0\" -> \"truth table\""), std::string::npos);
  EXPECT_EQ(count_parts(graph_dot(load_task("sculpt/4-2-4")), "output"), 0U);
}

TEST(GraphSvg, ShowsEveryPartAndEscapesText) {
  TaskSuite suite = parse_task_yaml(
      "about: 'a < b & c'\ninputs: [p, q, spare]\nlevels:\n  - g: NAND p !q\n  - h: OR g p\noutputs: {sum: h}\n",
      "n<1>", "t.yaml");
  const std::string svg = graph_svg(suite);
  for (const char* part : {"NAND", ">g<", ">sum<", "class=\"distractor\"", "class=\"not\"", "a &lt; b &amp; c",
                           "n&lt;1&gt;", "viewBox", ">level 2<"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  for (const std::string& name : builtin_task_names()) {
    EXPECT_NE(graph_svg(load_task(name)).find("</svg>"), std::string::npos) << name;
  }
}

// One gate over a, b and c, which are inputs 0, 1 and 2.
GateFunction function_of(const std::string& gate) {
  const TaskSuite suite =
      parse_task_yaml("inputs: [a, b, c]\nlevels:\n  - g: \"" + gate + "\"\noutputs: [g]\n", "t", "t.yaml");
  return gate_function(suite.tasks[0].graph->levels[0][0]);
}

TEST(GateFunction, HoweverAGateIsWritten) {
  for (const auto& [one, other] : std::vector<std::pair<const char*, const char*>>{{"AND c c", "ID c"},
                                                                                   {"OR c c", "ID c"},
                                                                                   {"NAND c c", "NOT c"},
                                                                                   {"NOR c c", "ID !c"},
                                                                                   {"XOR c c b", "ID b"},
                                                                                   {"XNOR c b c", "NOT b"},
                                                                                   {"XOR a !b", "XNOR a b"},
                                                                                   {"OR a !b", "NAND !a b"},
                                                                                   {"NOR a b", "AND !a !b"},
                                                                                   {"AND a b a", "AND a b"},
                                                                                   {"XOR a a", "AND b !b"},
                                                                                   {"XNOR a a", "OR b !b a"}}) {
    EXPECT_EQ(function_of(one), function_of(other)) << one << " and " << other;
  }
  EXPECT_EQ(function_of("AND c c").inputs, (std::vector<Wire>{{0, 2, false}}));
  EXPECT_TRUE(function_of("XOR a a").inputs.empty());
  EXPECT_NE(function_of("AND a b"), function_of("NAND a b"));
  EXPECT_NE(function_of("AND a b"), function_of("AND a !b"));
  EXPECT_NE(function_of("XOR a a"), function_of("XNOR a a"));
}

}  // namespace
}  // namespace modlab::tasks
