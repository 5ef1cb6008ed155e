#include "report/layered_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/detect/cross_edges.h"
#include "models/layered_network_file.h"
#include "report/layered_layout.h"

namespace modlab::report {
namespace {

using methods::Hierarchy;
using models::LayeredNetwork;
using models::NamedNetwork;

std::vector<NamedNetwork> published() {
  return models::read_layered_networks(MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz");
}

Hierarchy modules_of(const LayeredNetwork& network) {
  return methods::hierarchy(network, methods::detect(network, {}));
}

bool do_touch(const Box& a, const Box& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}

TEST(LayeredPicture, ModulesAreRectanglesAroundTheirUnitsThatTouchNoOther) {
  const LayeredSizes sizes;
  for (const NamedNetwork& named : published()) {
    SCOPED_TRACE(named.id);
    const Hierarchy hierarchy = modules_of(named.network);
    const std::vector<double> steps(named.network.widths.size(), sizes.step);
    const LayeredLayout layout =
        arrange_modules(named.network, hierarchy, sizes, steps, std::vector<double>(hierarchy.modules.size(), 40));
    for (std::size_t module = 0; module < layout.modules.size(); ++module) {
      const Box& box = layout.modules[module];
      EXPECT_GE(box.left, 0);
      EXPECT_GE(box.top, 0);
      EXPECT_LE(box.left + box.width, layout.width + 1);
      EXPECT_LE(box.top + box.height, layout.height + 1);
      for (std::size_t other = 0; other < module; ++other) {
        EXPECT_FALSE(do_touch(box, layout.modules[other])) << module << " and " << other;
      }
      for (std::size_t layer = 0; layer < steps.size(); ++layer) {
        for (const int unit : hierarchy.modules[module].units[layer]) {
          const Point& at = layout.units[layer][unit];
          EXPECT_TRUE(at.x - sizes.height / 2 >= box.left && at.x + sizes.height / 2 <= box.left + box.width);
          EXPECT_TRUE(at.y - sizes.height / 2 >= box.top && at.y + sizes.height / 2 <= box.top + box.height);
        }
      }
    }
    // The inputs are below everything else.
    EXPECT_TRUE(std::ranges::is_sorted(layout.layers, std::ranges::greater()));
  }
}

TEST(LayeredPicture, UnitsStandApart) {
  const LayeredSizes sizes;
  for (const NamedNetwork& named : published()) {
    const Hierarchy hierarchy = modules_of(named.network);
    const LayeredLayout layout =
        arrange_modules(named.network, hierarchy, sizes, std::vector<double>(named.network.widths.size(), sizes.step),
                        std::vector<double>(hierarchy.modules.size(), 0));
    const auto modules = methods::modules_by_unit(named.network, hierarchy);
    for (std::size_t layer = 0; layer < layout.units.size(); ++layer) {
      std::vector<double> places;
      for (std::size_t unit = 0; unit < layout.units[layer].size(); ++unit) {
        if (modules[layer][unit] >= 0) {
          places.push_back(layout.units[layer][unit].x);
        }
      }
      std::ranges::sort(places);
      for (std::size_t place = 1; place < places.size(); ++place) {
        EXPECT_GE(places[place] - places[place - 1], sizes.height) << named.id;
      }
    }
  }
}

TEST(LayeredPicture, ManyUnitsStandInRows) {
  LayeredNetwork network;
  network.widths = {100, 1};
  network.connections.resize(1);
  for (int input = 0; input < 100; ++input) {
    network.connections[0].edges.push_back({input, 0, 1});
  }
  network = models::checked(network, "wide");
  const LayeredSizes sizes;
  const LayeredLayout layout = arrange_modules(network, modules_of(network), sizes, {sizes.step, sizes.step}, {0});
  // Five rows of twenty.
  EXPECT_LT(layout.width, 21 * sizes.step);
  EXPECT_EQ(layout.units[0][19].y, layout.units[0][0].y);
  EXPECT_GT(layout.units[0][20].y, layout.units[0][0].y);
}

TEST(LayeredPicture, LinesSayTheWeight) {
  LayeredNetwork network;
  network.widths = {2, 1};
  network.connections = {{{{0, 0, 2}, {1, 0, -1}}, {}}};
  network = models::checked(network, "two");
  const Hierarchy hierarchy = modules_of(network);
  const methods::UnitNames names(network);
  const LayeredPicture picture{network, hierarchy, names, "two < three", {"a caption"}, {"m&1"}};
  const std::string svg = layered_svg(picture);
  // The largest weight of the layer is the widest line, and the sign a colour.
  EXPECT_NE(svg.find("stroke=\"#0072b2\" stroke-width=\"3.80\"><title>in1 to out1: 2<"), std::string::npos) << svg;
  EXPECT_NE(svg.find("stroke=\"#d55e00\" stroke-width=\"2.30\"><title>in2 to out1: -1<"), std::string::npos) << svg;
  for (const char* part : {"two &lt; three", "a caption", "m&amp;1", "inputs (2)", "outputs (1)"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  const std::string dot = layered_dot(picture);
  EXPECT_NE(dot.find("u0_1 -> u1_0 [color=\"#d55e00\", penwidth=2.30];"), std::string::npos) << dot;
}

}  // namespace
}  // namespace modlab::report
