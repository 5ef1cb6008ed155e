#include "report/layered_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/text.h"
#include "methods/detect/cross_edges.h"
#include "report/layered_layout.h"
#include "tasks/area_colours.h"
#include "tasks/svg_text.h"

namespace modlab::report {
namespace {

using methods::Hierarchy;
using methods::Module;
using methods::UnitPlace;
using tasks::escape_xml;
using tasks::text_width;

constexpr std::size_t kMaxUnits = 4'000;
constexpr std::size_t kMaxEdges = 40'000;

constexpr double kMargin = 16;
constexpr double kTitleSize = 14;
constexpr double kCaptionSize = 11;
constexpr double kCaptionStep = 16;
constexpr double kLegendHeight = 30;
constexpr double kNameSize = 11;
constexpr double kUnitSize = 9.5;
constexpr double kLeastWidth = 480;
constexpr double kMostTitleWidth = 900;

// Okabe and Ito's, as in drawings of tasks.
constexpr const char* kPositive = "#0072b2";
constexpr const char* kNegative = "#d55e00";

// The live units of a layer, by module.
std::size_t units_of_layer(const Hierarchy& hierarchy, int layer) {
  std::size_t units = 0;
  for (const Module& module : hierarchy.modules) {
    units += module.units[layer].size();
  }
  return units;
}

// A live edge as it is drawn.
struct Line {
  int layer = 0;
  models::Edge edge;
  double strength = 0;  // of its weight, from 0 to 1, against the largest of its layer
  bool crosses = false;
};

std::vector<Line> lines_of(const LayeredPicture& picture) {
  const std::vector<std::vector<int>> modules = methods::modules_by_unit(picture.network, picture.hierarchy);
  const std::vector<methods::CrossEdge> crossing = methods::cross_edges(picture.network, picture.hierarchy);
  auto next_crossing = crossing.begin();
  std::vector<Line> lines;
  for (int layer = 0; layer + 1 < picture.network.layers(); ++layer) {
    const std::size_t first = lines.size();
    double largest = 0;
    for (const models::Edge& edge : picture.network.connections[layer].edges) {
      if (modules[layer][edge.from] >= 0 && modules[layer + 1][edge.to] >= 0) {
        const bool crosses =
            next_crossing != crossing.end() && next_crossing->layer == layer && next_crossing->edge == edge;
        next_crossing += crosses ? 1 : 0;
        lines.push_back({layer, edge, std::abs(edge.weight), crosses});
        largest = std::max(largest, lines.back().strength);
      }
    }
    std::for_each(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(),
                  [&](Line& line) { line.strength /= largest; });
  }
  return lines;
}

class SvgWriter {
 public:
  explicit SvgWriter(const LayeredPicture& picture) : picture_(picture), lines_(lines_of(picture)) {
    const models::LayeredNetwork& network = picture.network;
    std::size_t units = 0;
    std::size_t widest = 0;
    for (int layer = 0; layer < network.layers(); ++layer) {
      units += units_of_layer(picture.hierarchy, layer);
      widest = std::max(widest, units_of_layer(picture.hierarchy, layer));
    }
    if (units > kMaxUnits || lines_.size() > kMaxEdges) {
      throw ConfigError(fmt::format("{} live units and {} edges are too many to draw; at most {} and {} can be seen",
                                    units, lines_.size(), kMaxUnits, kMaxEdges));
    }
    choose_sizes(widest);
    std::vector<double> name_widths;
    for (const std::string& name : picture.modules) {
      name_widths.push_back(text_width(name, kNameSize, true));
    }
    layout_ = arrange_modules(network, picture.hierarchy, sizes_, steps(), name_widths);
  }

  std::string write() {
    for (int layer = 0; layer < picture_.network.layers(); ++layer) {
      label_width_ = std::max(label_width_, text_width(layer_label(layer), kCaptionSize, false));
    }
    left_ = kMargin + std::ceil(label_width_) + 14;
    width_ = left_ + layout_.width + kMargin;
    const double title_width = text_width(picture_.title, kTitleSize, true) + 2 * kMargin;
    const double text_room = std::max({width_, kLeastWidth, std::min(std::ceil(title_width), kMostTitleWidth)});
    // A narrow drawing stands in the middle of its text.
    left_ += std::round((text_room - width_) / 2);
    width_ = text_room;
    std::string body = heading();
    body += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", left_, top_);
    body += draw_modules() + draw_lines() + draw_module_names() + draw_units() + "</g>\n";
    body += draw_layer_labels();
    const double below = top_ + layout_.height + kLegendHeight;
    body += legend(below - 6);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "role=\"img\">\n<title>{2}</title>\n{3}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{4}</svg>\n",
        std::ceil(width_), std::ceil(below + kMargin / 2), escape_xml(picture_.title), kStyle, body);
  }

 private:
  static constexpr const char* kStyle = R"(<style>
text { font-family: Helvetica, Arial, "Liberation Sans", sans-serif; fill: #1b1b1b; }
.title { font-size: 14px; font-weight: bold; }
.caption { font-size: 11px; fill: #5f5f5f; }
.layer { font-size: 11px; fill: #767676; text-anchor: end; }
.module { font-size: 11px; font-weight: bold; paint-order: stroke; stroke-width: 3.5px; stroke-linejoin: round; }
.edge { fill: none; stroke-linecap: round; stroke-opacity: 0.8; }
.cross { stroke-dasharray: 5 4; stroke-linecap: butt; }
.unit { fill: #ffffff; stroke: #4a4a4a; stroke-width: 1.2; }
.output { fill: #3d3d3d; stroke: #3d3d3d; stroke-width: 1.2; }
.unit-name { font-size: 9.5px; text-anchor: middle; }
.output-name { font-size: 9.5px; text-anchor: middle; fill: #ffffff; }
</style>
)";

  // The more units, the smaller they are; the smallest have no names.
  void choose_sizes(std::size_t widest) {
    if (widest > 200) {
      sizes_ = {5, 8, 4, 80, 7, 13, 8, 110};
    } else if (widest > 48) {
      sizes_ = {9, 13, 3, 48, 8, 13, 10, 90};
    } else {
      has_names_ = true;
      // Steep lines are hard to follow.
      sizes_.layer_gap = widest > 12 ? 84 : 68;
    }
  }

  std::string label_of(int layer, int unit) const {
    const bool is_hidden = layer > 0 && layer + 1 < picture_.network.layers();
    return is_hidden ? std::to_string(unit + 1) : picture_.names.of({layer, unit});
  }

  double label_room(int layer) const {
    double widest = 0;
    for (const Module& module : picture_.hierarchy.modules) {
      for (const int unit : module.units[layer]) {
        widest = std::max(widest, text_width(label_of(layer, unit), kUnitSize, false));
      }
    }
    return widest;
  }

  // Distances of units, and their widths.
  std::vector<double> steps() {
    std::vector<double> steps;
    for (int layer = 0; layer < picture_.network.layers(); ++layer) {
      const double room = has_names_ ? label_room(layer) + 9 : 0;
      unit_widths_.push_back(std::ceil(std::max(sizes_.height, room)));
      steps.push_back(unit_widths_.back() + sizes_.step - sizes_.height);
    }
    return steps;
  }

  // Title and captions, each in as many lines as it takes. Sets where the drawing begins.
  std::string heading() {
    std::string text;
    double y = kMargin;
    const auto add = [&](const std::string& content, const char* style, double size, bool bold) {
      for (const std::string& line : wrapped(content, size, bold)) {
        y += kCaptionStep;
        text += fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", style, kMargin, y - 4,
                            escape_xml(line));
      }
    };
    add(picture_.title, "title", kTitleSize, true);
    for (const std::string& caption : picture_.captions) {
      add(caption, "caption", kCaptionSize, false);
    }
    top_ = y + kMargin;
    return text;
  }

  std::vector<std::string> wrapped(const std::string& text, double size, bool bold) const {
    std::vector<std::string> lines;
    for (const std::string& word : split_text(text, ' ')) {
      const std::string longer = lines.empty() ? word : lines.back() + " " + word;
      if (!lines.empty() && text_width(longer, size, bold) <= width_ - 2 * kMargin) {
        lines.back() = longer;
      } else {
        lines.push_back(word);
      }
    }
    return lines;
  }

  std::string draw_modules() const {
    std::string svg;
    for (std::size_t module = 0; module < layout_.modules.size(); ++module) {
      const Box& box = layout_.modules[module];
      const tasks::AreaColours& colours = tasks::area_colours(module);
      svg += fmt::format(
          "<rect class=\"area\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"9\" fill=\"{}\" "
          "stroke=\"{}\" stroke-opacity=\"0.45\"><title>{}</title></rect>\n",
          box.left, box.top, box.width, box.height, colours.fill, colours.line, escape_xml(picture_.modules[module]));
    }
    return svg;
  }

  // Above the lines, with a seam in the colour of the area.
  std::string draw_module_names() const {
    std::string svg;
    for (std::size_t module = 0; module < layout_.modules.size(); ++module) {
      const Box& box = layout_.modules[module];
      svg += fmt::format("<text class=\"module\" x=\"{:.1f}\" y=\"{:.1f}\" style=\"fill: {}; stroke: {}\">{}</text>\n",
                         box.left + 6, box.top + 13, tasks::area_colours(module).line, tasks::area_colours(module).fill,
                         escape_xml(picture_.modules[module]));
    }
    return svg;
  }

  std::string draw_lines() const {
    const double thin = has_names_ ? 0.8 : 0.5;
    const double thick = has_names_ ? 3.0 : 1.5;
    std::string svg;
    for (const Line& line : lines_) {
      const Point& from = layout_.units[line.layer][line.edge.from];
      const Point& to = layout_.units[line.layer + 1][line.edge.to];
      svg += fmt::format(
          "<path class=\"edge{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"><title>{} "
          "to "
          "{}: {:.4g}</title></path>\n",
          line.crosses ? " cross" : "", from.x, from.y - sizes_.height / 2, to.x, to.y + sizes_.height / 2,
          line.edge.weight < 0 ? kNegative : kPositive, thin + thick * line.strength,
          escape_xml(picture_.names.of({line.layer, line.edge.from})),
          escape_xml(picture_.names.of({line.layer + 1, line.edge.to})), line.edge.weight);
    }
    return svg;
  }

  std::string draw_units() const {
    std::string svg;
    for (const Module& module : picture_.hierarchy.modules) {
      for (int layer = module.first_layer; layer <= module.last_layer; ++layer) {
        for (const int unit : module.units[layer]) {
          svg += draw_unit({layer, unit});
        }
      }
    }
    return svg;
  }

  std::string draw_unit(const UnitPlace& place) const {
    const bool is_output = place.layer + 1 == picture_.network.layers();
    const Point& at = layout_.units[place.layer][place.unit];
    const double width = unit_widths_[place.layer];
    std::string svg = fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\">"
        "<title>{}</title></rect>\n",
        is_output ? "output" : "unit", at.x - width / 2, at.y - sizes_.height / 2, width, sizes_.height,
        sizes_.height / 2, escape_xml(picture_.names.of(place)));
    if (has_names_) {
      svg += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                         is_output ? "output-name" : "unit-name", at.x, at.y + 3.4,
                         escape_xml(label_of(place.layer, place.unit)));
    }
    return svg;
  }

  std::string layer_label(int layer) const {
    return fmt::format("{} ({})", methods::layer_name(layer, picture_.network.layers()),
                       units_of_layer(picture_.hierarchy, layer));
  }

  std::string draw_layer_labels() const {
    std::string svg;
    for (int layer = 0; layer < picture_.network.layers(); ++layer) {
      svg += fmt::format("<text class=\"layer\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left_ - 14,
                         top_ + layout_.layers[layer] + 4, layer_label(layer));
    }
    return svg;
  }

  std::string legend(double y) const {
    std::string svg;
    double x = kMargin;
    const auto add = [&](const char* style, const char* colour, const std::string& text) {
      if (colour != nullptr) {
        svg += fmt::format("<path class=\"edge{}\" d=\"M{:.1f} {:.1f}h20\" stroke=\"{}\" stroke-width=\"2.2\"/>\n",
                           style, x, y - 4, colour);
        x += 26;
      }
      svg += fmt::format("<text class=\"caption\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, text);
      x += text_width(text, kCaptionSize, false) + 14;
    };
    add("", kPositive, "positive");
    add("", kNegative, "negative");
    if (std::ranges::any_of(lines_, &Line::crosses)) {
      add(" cross", "#5f5f5f", "cross edge");
    }
    add("", nullptr, "width: |weight| within its layer");
    return svg;
  }

  const LayeredPicture& picture_;
  std::vector<Line> lines_;
  LayeredSizes sizes_;
  bool has_names_ = false;
  std::vector<double> unit_widths_;  // [layer]
  LayeredLayout layout_;
  double label_width_ = 0;
  double left_ = 0;
  double top_ = 0;
  double width_ = 0;
};

std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char letter : text) {
    escaped += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
  }
  return escaped + "\"";
}

}  // namespace

std::string layered_svg(const LayeredPicture& picture) { return SvgWriter(picture).write(); }

std::string layered_dot(const LayeredPicture& picture) {
  const auto id = [](const UnitPlace& place) { return fmt::format("u{}_{}", place.layer, place.unit); };
  std::string dot = fmt::format("digraph {} {{\n  rankdir=BT;\n  node [shape=circle, style=filled, fillcolor=white];\n",
                                quoted(picture.title));
  for (std::size_t number = 0; number < picture.hierarchy.modules.size(); ++number) {
    const Module& module = picture.hierarchy.modules[number];
    dot += fmt::format("  subgraph cluster_{} {{\n    label={};\n    style=\"rounded,filled\";\n    color=\"{}\";\n",
                       number, quoted(picture.modules[number]), tasks::area_colours(number).fill);
    for (int layer = module.first_layer; layer <= module.last_layer; ++layer) {
      for (const int unit : module.units[layer]) {
        dot += fmt::format("    {} [label={}];\n", id({layer, unit}), quoted(picture.names.of({layer, unit})));
      }
    }
    dot += "  }\n";
  }
  for (const Line& line : lines_of(picture)) {
    dot += fmt::format("  {} -> {} [color=\"{}\", penwidth={:.2f}{}];\n", id({line.layer, line.edge.from}),
                       id({line.layer + 1, line.edge.to}), line.edge.weight < 0 ? kNegative : kPositive,
                       0.8 + 3 * line.strength, line.crosses ? ", style=dashed" : "");
  }
  return dot + "}\n";
}

}  // namespace modlab::report
