#include "tasks/module_areas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tasks/area_colours.h"
#include "tasks/svg_text.h"

namespace modlab::tasks {
namespace {

// From a module's nodes to the edge of its area, and the room for its name.
constexpr double kEdge = 10;
constexpr double kNameHeight = 14;
constexpr double kNameSize = 11;
constexpr double kCorner = 10;
constexpr double kSmallStep = 16;
constexpr double kAreaGap = 6;

// What one layer has of a module.
struct Extent {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};

// A module on neighbouring layers.
struct Area {
  std::size_t module = 0;
  std::size_t first_layer = 0;
  std::vector<Extent> extents;
};

bool is_in_layer(const Layout& layout, int group, std::size_t layer) {
  return layer < layout.layers.size() &&
         std::ranges::any_of(layout.layers[layer], [&](int node) { return layout.nodes[node].group == group; });
}

Extent extent_of(const Layout& layout, int group, std::size_t layer) {
  Extent extent;
  bool is_first = true;
  for (const int number : layout.layers[layer]) {
    const LayoutNode& node = layout.nodes[number];
    if (node.group != group) {
      continue;
    }
    const double top = node.y - node.height / 2 - node.above;
    const double bottom = node.y + node.height / 2 + node.below;
    extent = {node.x - node.width / 2 - node.beside, node.x + node.width / 2 + node.beside,
              is_first ? top : std::min(extent.top, top), is_first ? bottom : std::max(extent.bottom, bottom)};
    is_first = false;
  }
  return extent;
}

std::vector<Area> find_areas(const Layout& layout, std::size_t modules) {
  std::vector<Area> areas;
  for (std::size_t module = 0; module < modules; ++module) {
    const int group = static_cast<int>(module);
    for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
      if (!is_in_layer(layout, group, layer)) {
        continue;
      }
      if (layer == 0 || !is_in_layer(layout, group, layer - 1)) {
        areas.push_back({module, layer, {}});
      }
      areas.back().extents.push_back(extent_of(layout, group, layer));
    }
  }
  return areas;
}

// Whether a layer has nothing else between two heights.
bool is_free(const Layout& layout, const std::vector<Area>& areas, const Area& mine, std::size_t layer, double top,
             double bottom) {
  const bool has_area = std::ranges::any_of(areas, [&](const Area& area) {
    if (&area == &mine || layer < area.first_layer || layer >= area.first_layer + area.extents.size()) {
      return false;
    }
    const Extent& extent = area.extents[layer - area.first_layer];
    return extent.top < bottom && top < extent.bottom;
  });
  return !has_area && std::ranges::none_of(layout.layers[layer], [&](int number) {
    const LayoutNode& node = layout.nodes[number];
    return node.group < 0 && node.y - node.height / 2 < bottom && top < node.y + node.height / 2;
  });
}

// Where an area is nearly as tall on the next layer it becomes as tall, if there is room: small steps look like
// mistakes.
void straighten(const Layout& layout, std::vector<Area>& areas) {
  const auto level_with = [&](Area& area, std::size_t at, std::size_t next) {
    Extent& extent = area.extents[at];
    const Extent& other = area.extents[next];
    const std::size_t layer = area.first_layer + at;
    if (other.top < extent.top && other.top > extent.top - kSmallStep &&
        is_free(layout, areas, area, layer, other.top - kAreaGap, extent.top)) {
      extent.top = other.top;
    }
    if (other.bottom > extent.bottom && other.bottom < extent.bottom + kSmallStep &&
        is_free(layout, areas, area, layer, extent.bottom, other.bottom + kAreaGap)) {
      extent.bottom = other.bottom;
    }
  };
  for (Area& area : areas) {
    for (std::size_t at = 1; at < area.extents.size(); ++at) {
      level_with(area, at, at - 1);
    }
    for (std::size_t at = area.extents.size() - 1; at-- > 0;) {
      level_with(area, at, at + 1);
    }
  }
}

// Along the tops from left to right and back along the bottoms, between layers with the curves of wires.
std::string outline(const std::vector<Extent>& area) {
  const Extent& first = area.front();
  const Extent& last = area.back();
  std::string path = fmt::format("M{:.1f} {:.1f}", first.left + kCorner, first.top);
  const auto curve = [&](double x_from, double y_from, double x_to, double y_to) {
    const double middle = (x_from + x_to) / 2;
    path += fmt::format("H{:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x_from, middle, y_from, middle, y_to, x_to,
                        y_to);
  };
  const auto corner = [&](double x, double y, double x_to, double y_to) {
    path += fmt::format("Q{:.1f} {:.1f} {:.1f} {:.1f}", x, y, x_to, y_to);
  };
  for (std::size_t next = 1; next < area.size(); ++next) {
    curve(area[next - 1].right, area[next - 1].top, area[next].left, area[next].top);
  }
  path += fmt::format("H{:.1f}", last.right - kCorner);
  corner(last.right, last.top, last.right, last.top + kCorner);
  path += fmt::format("V{:.1f}", last.bottom - kCorner);
  corner(last.right, last.bottom, last.right - kCorner, last.bottom);
  for (std::size_t next = area.size() - 1; next > 0; --next) {
    curve(area[next].left, area[next].bottom, area[next - 1].right, area[next - 1].bottom);
  }
  path += fmt::format("H{:.1f}", first.left + kCorner);
  corner(first.left, first.bottom, first.left, first.bottom - kCorner);
  path += fmt::format("V{:.1f}", first.top + kCorner);
  corner(first.left, first.top, first.left + kCorner, first.top);
  return path + "Z";
}

}  // namespace

void make_room_for_areas(Layout& layout, const std::vector<TaskModule>& modules) {
  for (LayoutNode& node : layout.nodes) {
    if (node.group < 0) {
      continue;
    }
    const auto layer = static_cast<std::size_t>(node.layer);
    const bool has_name = layer == 0 || !is_in_layer(layout, node.group, layer - 1);
    node.above = kEdge + (has_name ? kNameHeight : 0);
    node.below = kEdge;
    node.beside = kEdge;
    if (has_name) {
      node.width = std::max(node.width, std::ceil(text_width(modules[node.group].name, kNameSize, true)));
    }
  }
}

std::string draw_areas(const Layout& layout, const std::vector<TaskModule>& modules) {
  std::vector<Area> areas = find_areas(layout, modules.size());
  straighten(layout, areas);
  std::string svg;
  for (const Area& area : areas) {
    const AreaColours& colours = area_colours(area.module);
    const Extent& first = area.extents.front();
    svg += fmt::format(
        "<path fill=\"{0}\" stroke=\"{1}\" stroke-opacity=\"0.35\" d=\"{2}\"/>\n"
        "<text class=\"module\" style=\"fill:{1}\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
        colours.fill, colours.line, outline(area.extents), first.left + kEdge, first.top + kNameHeight + 1,
        modules[area.module].name);
  }
  return svg;
}

}  // namespace modlab::tasks
