#include "report/wiring_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/text.h"
#include "tasks/graph_layout.h"
#include "tasks/svg_text.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using tasks::escape_xml;
using tasks::text_width;

constexpr double kMargin = 14;
constexpr double kTitleHeight = 30;
constexpr double kLegendHeight = 28;
constexpr double kPillHeight = 26;
constexpr double kBoxHeight = 42;
constexpr double kPassHeight = 6;
constexpr double kPortDistance = 12;

// As web/src/palette.ts has them.
constexpr std::array kPool = {"#0072b2", "#c48200", "#009070", "#b0568a", "#d55e00", "#7a4fa3", "#857b00", "#3d8fb5"};

struct EdgeLook {
  const char* state;
  const char* words;
  const char* style;
};
// What is wrong is drawn last, on top.
constexpr std::array kEdgeLooks = {
    EdgeLook{"missing", "missing",
             R"(stroke="#9a9da3" stroke-width="2" stroke-dasharray="1.5 4" stroke-linecap="round")"},
    EdgeLook{"free", "free: read beyond what the gate needs", R"(stroke="#b9bcc2" stroke-width="1")"},
    EdgeLook{"right", "as the task has it", R"(stroke="#4a5058" stroke-width="1.5")"},
    EdgeLook{"wrong", "wrong", R"(stroke="#c4420a" stroke-width="1.5" stroke-dasharray="6 3.5")"}};

struct NodeLook {
  std::string name;
  std::string detail;  // below it; pills have none
  const char* colour = "#5a5f66";
  bool is_pill = false;
  bool is_output = false;
  bool is_surplus = false;
};

std::string detail_of(const ordered_json& node) {
  std::vector<std::string> parts;
  if (node.at("correlation").is_number()) {
    const double correlation = node.at("correlation").get<double>();
    parts.push_back(fmt::format("r {}{:.2f}", correlation <= -0.005 ? "−" : "", std::abs(correlation)));
  }
  if (node.at("pool").is_number()) {
    parts.push_back(fmt::format("module {}", node.at("pool").get<int>() + 1));
  }
  return join_text(parts, ", ");
}

NodeLook look_of(const ordered_json& node) {
  NodeLook look;
  const std::string kind = node.at("kind").get<std::string>();
  look.name = node.at("label").get<std::string>();
  look.is_output = kind == "output";
  look.is_pill = kind == "input" || kind == "image" || look.is_output;
  if (look.is_pill) {
    return look;
  }
  look.is_surplus = node.at("surplus").get<bool>();
  look.detail = detail_of(node);
  if (node.at("gate").is_string()) {
    look.name = node.at("gate").get<std::string>();
  } else if (look.detail.empty() && look.is_surplus) {
    look.detail = "no gate of its own";
  }
  if (node.at("pool").is_number()) {
    look.colour = kPool[static_cast<std::size_t>(node.at("pool").get<int>()) % kPool.size()];
  }
  return look;
}

class WiringDrawing {
 public:
  explicit WiringDrawing(const ordered_json& picture) {
    for (const ordered_json& node : picture.at("nodes")) {
      const auto level = node.at("level").get<std::size_t>();
      layout_.layers.resize(std::max(layout_.layers.size(), level + 1));
      knows_truth_ = knows_truth_ || node.at("gate").is_string();
      node_of_[node.at("id").get<std::string>()] = add_node(static_cast<int>(level), look_of(node));
    }
    for (const ordered_json& edge : picture.at("edges")) {
      add_edge(node_of_.at(edge.at("from").get<std::string>()), node_of_.at(edge.at("to").get<std::string>()),
               edge.at("state").get<std::string>());
    }
    tasks::arrange(layout_);
    spread_ports();
  }

  std::string svg(const std::string& title) const {
    const double width = 2 * kMargin + std::max({layout_.width, text_width(title, 14, true), legend_width(), 120.0});
    const double height = 2 * kMargin + kTitleHeight + layout_.height + kLegendHeight;
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" text-anchor=\"middle\">\n"
        "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<text x=\"{3}\" y=\"{4}\" font-size=\"14\" font-weight=\"bold\" text-anchor=\"start\" fill=\"#1b1b1b\">{2}"
        "</text>\n<g transform=\"translate({3} {5})\">\n",
        width, height, escape_xml(title), kMargin, kMargin + 13, kMargin + kTitleHeight);
    for (std::size_t look = 0; look < kEdgeLooks.size(); ++look) {
      for (std::size_t edge = 0; edge < layout_.edges.size(); ++edge) {
        text += look_of_edge_[edge] == look ? edge_svg(edge) : "";
      }
    }
    for (std::size_t node = 0; node < layout_.nodes.size(); ++node) {
      text += looks_[node].name.empty() ? "" : node_svg(layout_.nodes[node], looks_[node]);
    }
    return text + "</g>\n" + legend(height - kMargin) + "</svg>\n";
  }

 private:
  // A wire that spans layers passes through nodes without a name.
  int add_node(int layer, NodeLook look) {
    tasks::LayoutNode node;
    node.layer = layer;
    if (!look.name.empty()) {
      node.width =
          look.is_pill
              ? std::max(34.0, text_width(look.name, 12.5, false) + 20)
              : std::max({66.0, text_width(look.name, 12, true) + 18, text_width(look.detail, 10.5, false) + 18});
    }
    node.height = look.name.empty() ? kPassHeight : look.is_pill ? kPillHeight : kBoxHeight;
    node.keeps_order = look.is_pill;
    layout_.nodes.push_back(node);
    looks_.push_back(std::move(look));
    const int number = static_cast<int>(layout_.nodes.size()) - 1;
    layout_.layers[static_cast<std::size_t>(layer)].push_back(number);
    return number;
  }

  void add_edge(int from, int to, const std::string& state) {
    const auto look =
        static_cast<std::size_t>(std::ranges::find(kEdgeLooks, state, &EdgeLook::state) - kEdgeLooks.begin());
    const int last = layout_.nodes[static_cast<std::size_t>(to)].layer;
    for (int layer = layout_.nodes[static_cast<std::size_t>(from)].layer + 1; layer < last; ++layer) {
      const int pass = add_node(layer, {});
      layout_.edges.push_back({from, pass, 0, 0});
      look_of_edge_.push_back(look);
      from = pass;
    }
    layout_.edges.push_back({from, to, 0, 0});
    look_of_edge_.push_back(look);
  }

  // Each wire into a box has its own place at the box's side, in the order of the sources.
  void spread_ports() {
    std::vector<std::vector<std::size_t>> into(layout_.nodes.size());
    for (std::size_t edge = 0; edge < layout_.edges.size(); ++edge) {
      into[static_cast<std::size_t>(layout_.edges[edge].to)].push_back(edge);
    }
    for (std::size_t node = 0; node < into.size(); ++node) {
      std::ranges::stable_sort(into[node], {}, [&](std::size_t edge) {
        return layout_.nodes[static_cast<std::size_t>(layout_.edges[edge].from)].y;
      });
      const auto count = static_cast<double>(into[node].size());
      const double distance = std::min(kPortDistance, (layout_.nodes[node].height - 6) / std::max(count, 1.0));
      for (std::size_t port = 0; port < into[node].size(); ++port) {
        layout_.edges[into[node][port]].end_offset = distance * (static_cast<double>(port) - (count - 1) / 2);
      }
    }
  }

  std::string edge_svg(std::size_t edge) const {
    const tasks::LayoutEdge& wire = layout_.edges[edge];
    const tasks::LayoutNode& from = layout_.nodes[static_cast<std::size_t>(wire.from)];
    const tasks::LayoutNode& to = layout_.nodes[static_cast<std::size_t>(wire.to)];
    const double begin = from.x + from.width / 2;
    const double end = to.x - to.width / 2;
    const double middle = (begin + end) / 2;
    const double y_end = to.y + wire.end_offset;
    return fmt::format("<path fill=\"none\" {} d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
                       kEdgeLooks[look_of_edge_[edge]].style, begin, from.y, middle, from.y, middle, y_end, end, y_end);
  }

  static std::string node_svg(const tasks::LayoutNode& node, const NodeLook& look) {
    const std::string frame = fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")",
                                          node.x - node.width / 2, node.y - node.height / 2, node.width, node.height);
    if (look.is_pill) {
      return fmt::format(
          "<rect {} rx=\"13\" fill=\"{}\" stroke=\"#4a4a4a\" stroke-width=\"1.3\"/>\n"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12.5\" fill=\"{}\">{}</text>\n",
          frame, look.is_output ? "#3d3d3d" : "#ffffff", node.x, node.y + 4.5, look.is_output ? "#ffffff" : "#1b1b1b",
          escape_xml(look.name));
    }
    return fmt::format(
        "<rect fill=\"#ffffff\" {0} rx=\"8\"/>\n"
        "<rect {0} rx=\"8\" fill=\"{1}\" fill-opacity=\"0.14\" stroke=\"{1}\" stroke-width=\"1.6\"{2}/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" font-size=\"12\" font-weight=\"bold\" fill=\"#1b1b1b\">{5}</text>\n"
        "<text x=\"{3:.1f}\" y=\"{6:.1f}\" font-size=\"10.5\" fill=\"#4a4a4a\">{7}</text>\n",
        frame, look.colour, look.is_surplus ? " stroke-dasharray=\"4 3\"" : "", node.x,
        node.y + (look.detail.empty() ? 4 : -2), escape_xml(look.name), node.y + 13, escape_xml(look.detail));
  }

  bool is_there(std::size_t look) const { return std::ranges::find(look_of_edge_, look) != look_of_edge_.end(); }
  static double legend_step(std::size_t look) { return 52 + text_width(kEdgeLooks[look].words, 10.5, false); }
  double legend_width() const {
    double width = 0;
    for (std::size_t look = 0; look < kEdgeLooks.size(); ++look) {
      width += is_there(look) ? legend_step(look) : 0;
    }
    return width;
  }

  // Of the edges that are there; of a task without a graph nothing is known to be right.
  std::string legend(double y) const {
    std::string text;
    double x = kMargin;
    for (std::size_t look = kEdgeLooks.size(); look > 0; --look) {
      const EdgeLook& edge = kEdgeLooks[look - 1];
      if (knows_truth_ && is_there(look - 1)) {
        text += fmt::format(
            "<path {} d=\"M{:.1f} {:.1f}h26\"/>\n<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10.5\" "
            "text-anchor=\"start\" fill=\"#4a4a4a\">{}</text>\n",
            edge.style, x, y - 4, x + 33, y, edge.words);
        x += legend_step(look - 1);
      }
    }
    return text;
  }

  tasks::Layout layout_;
  std::vector<NodeLook> looks_;            // [node]
  std::vector<std::size_t> look_of_edge_;  // [edge]: of kEdgeLooks
  std::map<std::string, int> node_of_;
  bool knows_truth_ = false;
};

}  // namespace

std::string wiring_svg(const ordered_json& picture, const std::string& title) {
  return WiringDrawing(picture).svg(title);
}

}  // namespace modlab::report
