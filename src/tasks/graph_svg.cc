#include "tasks/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tasks/graph_layout.h"
#include "tasks/module_areas.h"
#include "tasks/svg_text.h"

namespace modlab::tasks {
namespace {

constexpr double kMargin = 12;
constexpr double kPanelGap = 48;
constexpr double kTitleHeight = 30;
constexpr double kCaptionHeight = 24;
constexpr double kPillHeight = 28;
constexpr double kGateHeight = 38;
constexpr double kPortDistance = 11;
constexpr double kPassHeight = 6;
constexpr double kCircleRadius = 3.5;

// Okabe and Ito's palette, which people with any colour vision tell apart.
const char* colour_of(Op op) {
  switch (op) {
    case Op::kAnd:
      return "#0072b2";
    case Op::kOr:
      return "#d55e00";
    case Op::kXor:
      return "#009e73";
    case Op::kNand:
      return "#56b4e9";
    case Op::kNor:
      return "#e69f00";
    case Op::kXnor:
      return "#cc79a7";
    case Op::kId:
      break;
  }
  return "#777777";
}

enum class Kind { kInput, kGate, kTable, kOutput, kOutputGate, kPass };

// What the layout does not know about a node.
struct Drawn {
  Kind kind = Kind::kPass;
  std::string label;
  std::string detail;  // a gate's name, below its operation
  const char* colour = "";
  bool faint = false;
};

struct Picture {
  Layout layout;
  std::vector<Drawn> drawn;           // [node]
  std::vector<bool> negated;          // [edge]
  std::vector<std::string> captions;  // [layer]
};

int add_node(Picture& picture, int layer, double width, double height, Drawn drawn) {
  LayoutNode node;
  node.layer = layer;
  node.width = std::ceil(width);
  node.height = height;
  node.keeps_order = drawn.kind == Kind::kInput || drawn.kind == Kind::kOutput || drawn.kind == Kind::kOutputGate;
  picture.layout.nodes.push_back(node);
  picture.drawn.push_back(std::move(drawn));
  const int number = static_cast<int>(picture.layout.nodes.size()) - 1;
  picture.layout.layers[layer].push_back(number);
  return number;
}

int add_pill(Picture& picture, int layer, const std::string& name, Kind kind, bool faint) {
  return add_node(picture, layer, std::max(36.0, text_width(name, 13, false) + 20), kPillHeight,
                  {kind, name, "", "", faint});
}

int add_box(Picture& picture, int layer, Kind kind, const std::string& label, const std::string& detail,
            const char* colour, std::size_t ports) {
  const double width = std::max({62.0, text_width(label, 13, true) + 22, text_width(detail, 10.5, false) + 20});
  const double height = std::max(kGateHeight, kPortDistance * static_cast<double>(ports) + 5);
  return add_node(picture, layer, width, height, {kind, label, detail, colour, false});
}

void add_edge(Picture& picture, int from, int to, bool negated) {
  picture.layout.edges.push_back({from, to, 0, 0});
  picture.negated.push_back(negated);
}

// Leads a value from its node to the layer before `layer`, through nodes that all its readers share.
class Carrier {
 public:
  explicit Carrier(Picture& picture) : picture_(picture) {}

  int carry(int node, int layer) {
    int at = node;
    for (int between = picture_.layout.nodes[node].layer + 1; between < layer; ++between) {
      const auto [place, is_new] = passes_.try_emplace({node, between}, 0);
      if (is_new) {
        place->second = add_node(picture_, between, 0, kPassHeight, {});
        add_edge(picture_, at, place->second, false);
      }
      at = place->second;
    }
    return at;
  }

 private:
  Picture& picture_;
  std::map<std::pair<int, int>, int> passes_;
};

// The last level's gates as outputs, in the order of the outputs: a copy needs no box.
void add_output_gates(Picture& picture, const FunctionGraph& graph, std::vector<int>& nodes) {
  const int layer = static_cast<int>(graph.levels.size());
  nodes.resize(graph.outputs.size());
  for (const Wire& output : graph.outputs) {
    const Gate& gate = graph.levels.back()[output.index];
    nodes[output.index] = gate.op == Op::kId ? add_pill(picture, layer, gate.name, Kind::kOutput, false)
                                             : add_box(picture, layer, Kind::kOutputGate, op_name(gate.op), gate.name,
                                                       colour_of(gate.op), gate.inputs.size());
  }
}

// The nodes of the picture, [level][index]: inputs, gates and last the outputs.
std::vector<std::vector<int>> add_graph(Picture& picture, const FunctionGraph& graph,
                                        const std::vector<int>& input_nodes) {
  std::vector<std::vector<int>> nodes = {input_nodes};
  Carrier carrier(picture);
  // Boxes before the passing wires, so that the order given is the order of the file with wires below.
  for (std::size_t level = 0; level < graph.levels.size(); ++level) {
    std::vector<int>& boxes = nodes.emplace_back();
    if (level + 1 == graph.levels.size() && outputs_are_named_gates(graph)) {
      add_output_gates(picture, graph, boxes);
      continue;
    }
    for (const Gate& gate : graph.levels[level]) {
      boxes.push_back(add_box(picture, static_cast<int>(level) + 1, Kind::kGate, op_name(gate.op), gate.name,
                              colour_of(gate.op), gate.inputs.size()));
    }
  }
  const auto connect = [&](const Wire& wire, int to) {
    const int layer = picture.layout.nodes[to].layer;
    add_edge(picture, carrier.carry(nodes[wire.level][wire.index], layer), to, wire.negated);
  };
  for (std::size_t level = 0; level < graph.levels.size(); ++level) {
    for (std::size_t gate = 0; gate < graph.levels[level].size(); ++gate) {
      for (const Wire& wire : graph.levels[level][gate].inputs) {
        connect(wire, nodes[level + 1][gate]);
      }
    }
  }
  std::vector<int> outputs;
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    const Wire& wire = graph.outputs[output];
    if (outputs_are_named_gates(graph)) {
      outputs.push_back(nodes[wire.level][wire.index]);
    } else {
      outputs.push_back(add_pill(picture, static_cast<int>(graph.levels.size()) + 1, graph.output_names[output],
                                 Kind::kOutput, false));
      connect(wire, outputs.back());
    }
  }
  nodes.push_back(std::move(outputs));
  return nodes;
}

// Tells the layout which nodes stand together.
void group_by_module(Picture& picture, const Task& task, const std::vector<std::vector<int>>& nodes) {
  Layout& layout = picture.layout;
  const std::vector<std::vector<int>> modules = modules_of_nodes(task);
  for (std::size_t level = 0; level < nodes.size(); ++level) {
    for (std::size_t index = 0; index < nodes[level].size(); ++index) {
      layout.nodes[nodes[level][index]].group = modules[level][index];
    }
  }
  // A wire that passes by belongs to its source's module if all its readers do.
  const auto is_pass = [&](int node) { return picture.drawn[node].kind == Kind::kPass; };
  for (const LayoutEdge& edge : layout.edges) {
    if (is_pass(edge.to)) {
      layout.nodes[edge.to].group = layout.nodes[edge.from].group;
    }
  }
  for (auto edge = layout.edges.rbegin(); edge != layout.edges.rend(); ++edge) {
    if (is_pass(edge->from) && layout.nodes[edge->to].group != layout.nodes[edge->from].group) {
      layout.nodes[edge->from].group = -1;
    }
  }
  for (std::vector<int>& layer : layout.layers) {
    // In the file's order of modules on every layer, so that areas need not cross; what is in none comes last.
    std::ranges::stable_sort(layer, {}, [&](int node) { return static_cast<unsigned>(layout.nodes[node].group); });
  }
  make_room_for_areas(layout, task.modules);
}

void add_table(Picture& picture, const Task& task, const std::vector<int>& input_nodes) {
  const std::vector<int> distractors = distractor_inputs(task.table);
  const std::size_t ports = input_nodes.size() - distractors.size();
  const int box = add_box(picture, 1, Kind::kTable, "truth table", fmt::format("{} rows", task.table.rows.size()),
                          "#777777", 2 * std::max<std::size_t>(ports, 2));
  for (std::size_t input = 0; input < input_nodes.size(); ++input) {
    if (std::ranges::find(distractors, static_cast<int>(input)) == distractors.end()) {
      add_edge(picture, input_nodes[input], box, false);
    }
  }
  for (const std::string& name : task.output_names) {
    add_edge(picture, box, add_pill(picture, 2, name, Kind::kOutput, false), false);
  }
}

// A gate has one value, but a table has one for each output: they leave it at places of their own.
void spread_table_outputs(Picture& picture) {
  const Layout& layout = picture.layout;
  const auto from_table = [&](const LayoutEdge& edge) { return picture.drawn[edge.from].kind == Kind::kTable; };
  double farthest = 0;
  for (const LayoutEdge& edge : layout.edges) {
    farthest = std::max(farthest, from_table(edge) ? std::abs(layout.nodes[edge.to].y - layout.nodes[edge.from].y) : 0);
  }
  for (LayoutEdge& edge : picture.layout.edges) {
    if (from_table(edge)) {
      const LayoutNode& box = layout.nodes[edge.from];
      const double reach = box.height / 2 - kPortDistance;
      edge.begin_offset = (layout.nodes[edge.to].y - box.y) * std::min(1.0, reach / std::max(farthest, 1.0));
    }
  }
}

// Gives each wire into a box its own place at the left side, in the order of the sources, so that wires do not cross
// on their last stretch.
void spread_ports(Layout& layout) {
  std::vector<std::vector<int>> into(layout.nodes.size());
  for (std::size_t edge = 0; edge < layout.edges.size(); ++edge) {
    into[layout.edges[edge].to].push_back(static_cast<int>(edge));
  }
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    std::ranges::stable_sort(into[node], {}, [&](int edge) { return layout.nodes[layout.edges[edge].from].y; });
    const auto count = static_cast<double>(into[node].size());
    const double distance = std::min(2 * kPortDistance, (layout.nodes[node].height - 5) / std::max(count, 1.0));
    for (std::size_t port = 0; port < into[node].size(); ++port) {
      layout.edges[into[node][port]].end_offset = distance * (static_cast<double>(port) - (count - 1) / 2);
    }
  }
}

Picture make_picture(const Task& task) {
  Picture picture;
  std::size_t levels = task.graph ? task.graph->levels.size() : 1;
  if (task.graph && outputs_are_named_gates(*task.graph)) {
    --levels;  // the last one is the outputs
  }
  picture.layout.layers.resize(levels + 2);
  picture.captions.emplace_back("inputs");
  for (std::size_t level = 1; level <= levels; ++level) {
    picture.captions.push_back(task.graph ? fmt::format("level {}", level) : "");
  }
  picture.captions.emplace_back("outputs");

  const std::vector<int> distractors = distractor_inputs(task.table);
  std::vector<int> input_nodes;
  for (int input = 0; input < task.table.inputs; ++input) {
    const bool faint = std::ranges::find(distractors, input) != distractors.end();
    input_nodes.push_back(add_pill(picture, 0, task.input_names[input], Kind::kInput, faint));
  }
  if (task.graph) {
    const std::vector<std::vector<int>> nodes = add_graph(picture, *task.graph, input_nodes);
    if (!task.modules.empty()) {
      group_by_module(picture, task, nodes);
    }
  } else {
    add_table(picture, task, input_nodes);
  }
  arrange(picture.layout);
  spread_ports(picture.layout);
  spread_table_outputs(picture);
  return picture;
}

std::string draw_edge(const Picture& picture, std::size_t edge) {
  const LayoutEdge& wire = picture.layout.edges[edge];
  const LayoutNode& from = picture.layout.nodes[wire.from];
  const LayoutNode& to = picture.layout.nodes[wire.to];
  const bool negated = picture.negated[edge];
  const double x_begin = from.x + from.width / 2;
  const double y_begin = from.y + wire.begin_offset;
  const double x_end = to.x - to.width / 2;
  const double y_end = to.y + wire.end_offset;
  const double x_stop = x_end - (negated ? 2 * kCircleRadius : 0);
  const double x_middle = (x_begin + x_end) / 2;
  std::string path = fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x_begin, y_begin, x_middle,
                                 y_begin, x_middle, y_end, x_stop, y_end);
  if (picture.drawn[wire.to].kind == Kind::kPass) {
    path += fmt::format("H{:.1f}", to.x + to.width / 2);
  }
  std::string svg = fmt::format("<path class=\"wire\" d=\"{}\"/>\n", path);
  if (negated) {
    svg += fmt::format("<circle class=\"not\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", x_end - kCircleRadius, y_end,
                       kCircleRadius);
  }
  return svg;
}

std::string draw_node(const LayoutNode& node, const Drawn& drawn) {
  if (drawn.kind == Kind::kPass) {
    return "";
  }
  const double left = node.x - node.width / 2;
  const double top = node.y - node.height / 2;
  const std::string frame =
      fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")", left, top, node.width, node.height);
  const std::string label = escape_xml(drawn.label);
  if (drawn.kind == Kind::kInput || drawn.kind == Kind::kOutput) {
    const char* style = drawn.kind == Kind::kOutput ? "output" : drawn.faint ? "distractor" : "input";
    return fmt::format(
        "<rect class=\"{0}\" {1} rx=\"{2}\"/>\n<text class=\"{0}-name\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}"
        "</text>\n",
        style, frame, kPillHeight / 2, node.x, node.y + 4.5, label);
  }
  if (drawn.kind == Kind::kOutputGate) {
    return fmt::format(
        "<rect class=\"output\" {0} rx=\"8\"/>\n<text class=\"output-op\" x=\"{1:.1f}\" y=\"{2:.1f}\">{3}</text>\n"
        "<text class=\"output-gate\" x=\"{1:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
        frame, node.x, node.y - 1, label, node.y + 12.5, escape_xml(drawn.detail));
  }
  // A box is translucent: an area behind it must not change its colour.
  const std::string backing = node.group < 0 ? "" : fmt::format("<rect fill=\"#ffffff\" {} rx=\"8\"/>\n", frame);
  return backing + fmt::format(
                       "<rect fill=\"{0}\" fill-opacity=\"0.14\" stroke=\"{0}\" stroke-width=\"1.6\" {1} rx=\"8\"/>\n"
                       "<text class=\"op\" x=\"{2:.1f}\" y=\"{3:.1f}\">{4}</text>\n"
                       "<text class=\"gate-name\" x=\"{2:.1f}\" y=\"{5:.1f}\">{6}</text>\n",
                       drawn.colour, frame, node.x, node.y - 1, label, node.y + 12.5, escape_xml(drawn.detail));
}

std::string draw_panel(const Picture& picture, const Task& task, double left, double graph_height) {
  const Layout& layout = picture.layout;
  std::string svg = fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, kMargin + 13,
                                escape_xml(task.name));
  const double bottom = kMargin + kTitleHeight + graph_height + kCaptionHeight - 5;
  for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
    // Every layer has a box: inputs, outputs and levels are never empty.
    const LayoutNode& node = layout.nodes[layout.layers[layer].front()];
    svg += fmt::format("<text class=\"caption\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + node.x, bottom,
                       picture.captions[layer]);
  }
  svg += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", left,
                     kMargin + kTitleHeight + std::round((graph_height - layout.height) / 2));
  svg += draw_areas(layout, task.modules);
  for (std::size_t edge = 0; edge < layout.edges.size(); ++edge) {
    svg += draw_edge(picture, edge);
  }
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    svg += draw_node(layout.nodes[node], picture.drawn[node]);
  }
  return svg + "</g>\n";
}

constexpr const char* kStyle = R"(<style>
text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; text-anchor: middle; fill: #1b1b1b; }
.title { font-size: 15px; font-weight: bold; text-anchor: start; }
.caption { font-size: 10.5px; fill: #767676; }
.wire { fill: none; stroke: #6b6b6b; stroke-width: 1.3; }
.not { fill: #ffffff; stroke: #1b1b1b; stroke-width: 1.3; }
.op { font-size: 13px; font-weight: bold; }
.gate-name { font-size: 10.5px; fill: #4a4a4a; }
.input { fill: #ffffff; stroke: #4a4a4a; stroke-width: 1.3; }
.input-name { font-size: 13px; }
.distractor { fill: #ffffff; stroke: #bdbdbd; stroke-width: 1.3; stroke-dasharray: 3 3; }
.distractor-name { font-size: 13px; fill: #a6a6a6; }
.output { fill: #3d3d3d; stroke: #3d3d3d; stroke-width: 1.3; }
.output-name { font-size: 13px; fill: #ffffff; }
</style>
)";

constexpr const char* kModuleStyle = R"(<style>
.module { font-size: 11px; font-weight: bold; text-anchor: start; }
.output-op { font-size: 13px; font-weight: bold; fill: #ffffff; }
.output-gate { font-size: 10.5px; fill: #ffffff; }
</style>
)";

bool needs_module_style(const Task& task) {
  return !task.modules.empty() || (task.graph && outputs_are_named_gates(*task.graph));
}

}  // namespace

std::string graph_svg(const TaskSuite& suite) {
  std::vector<Picture> pictures;
  double graph_height = 0;
  for (const Task& task : suite.tasks) {
    pictures.push_back(make_picture(task));
    graph_height = std::max(graph_height, pictures.back().layout.height);
  }
  std::string panels;
  double left = kMargin;
  for (std::size_t task = 0; task < pictures.size(); ++task) {
    const std::string& title = suite.tasks[task].name;
    panels += draw_panel(pictures[task], suite.tasks[task], left, graph_height);
    left += std::max(pictures[task].layout.width, std::ceil(text_width(title, 15, true))) + kPanelGap;
  }
  const double width = left - kPanelGap + kMargin;
  const double height = 2 * kMargin + kTitleHeight + graph_height + kCaptionHeight - kMargin / 2;
  const std::string style =
      std::ranges::any_of(suite.tasks, needs_module_style) ? std::string(kStyle) + kModuleStyle : kStyle;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n{4}"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{5}</svg>\n",
      width, height, escape_xml(suite.name), escape_xml(suite.about), style, panels);
}

}  // namespace modlab::tasks
