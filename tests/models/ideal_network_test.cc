#include "models/ideal_network.h"

#include <gtest/gtest.h>

#include "tasks/task_file.h"

namespace modlab::models {
namespace {

IdealNetwork ideal_of(const std::string& yaml) {
  return ideal_network(*tasks::parse_task_yaml(yaml, "t", "t.yaml").tasks.at(0).graph);
}

std::vector<int> published_widths(const std::string& name) {
  return ideal_network(*tasks::load_task(name).tasks.at(0).graph).network.widths;
}

TEST(IdealNetwork, GatesAreUnitsAndLevelsAreLayers) {
  const IdealNetwork ideal = ideal_of(
      "inputs: [a, b]\nlevels:\n  - p: AND a !b\n    q: AND !a b\n  - y1: OR p q\n    y2: AND !p !q\noutputs: [y2, "
      "y1]\n");
  EXPECT_EQ(ideal.network.widths, (std::vector<int>{2, 2, 2}));
  for (const Connections& connections : ideal.network.connections) {
    EXPECT_EQ(connections.edges, (std::vector<Edge>{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
    EXPECT_EQ(connections.bias, (std::vector<float>{0, 0}));
  }
  // Outputs come in their own order.
  EXPECT_EQ(ideal.values[2], (std::vector<tasks::Wire>{{2, 1, false}, {2, 0, false}}));
}

TEST(IdealNetwork, ValuesThatSkipLevelsPassThroughUnits) {
  const IdealNetwork ideal = ideal_of(
      "inputs: [a, b, c]\nlevels:\n  - p: AND a b\n  - q: OR p c\n  - r: XOR q c\n    s: AND q !q\n"
      "outputs: {first: r, second: s, third: c}\n");
  // c passes by p, q, and by r and s; the outputs are a layer of their own because one of them reads c.
  EXPECT_EQ(ideal.network.widths, (std::vector<int>{3, 2, 2, 3, 3}));
  EXPECT_EQ(ideal.network.connections[0].edges, (std::vector<Edge>{{0, 0}, {1, 0}, {2, 1}}));
  EXPECT_EQ(ideal.network.connections[1].edges, (std::vector<Edge>{{0, 0}, {1, 0}, {1, 1}}));
  EXPECT_EQ(ideal.network.connections[2].edges, (std::vector<Edge>{{0, 0}, {1, 0}, {0, 1}, {1, 2}}));
  EXPECT_EQ(ideal.network.connections[3].edges, (std::vector<Edge>{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(ideal.values[3], (std::vector<tasks::Wire>{{3, 0, false}, {3, 1, false}, {0, 2, false}}));
}

TEST(IdealNetwork, LayersOfThePublishedTasks) {
  // The tasks with hierarchical levels.
  EXPECT_EQ(published_widths("sculpt/4-2-4"), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(published_widths("sculpt/4-1-4"), (std::vector<int>{4, 3, 4}));
  EXPECT_EQ(published_widths("sculpt/6-3-3-3"), (std::vector<int>{6, 3, 3}));
  EXPECT_EQ(published_widths("sculpt/4-1-2-2"), (std::vector<int>{4, 3, 2, 2}));
  EXPECT_EQ(published_widths("sculpt/7-3-2-12"), (std::vector<int>{7, 6, 2, 12}));
  EXPECT_EQ(published_widths("sculpt/8-2-1-2-16"), (std::vector<int>{8, 6, 2, 2, 16}));
  EXPECT_EQ(published_widths("depth2"), (std::vector<int>{6, 3, 2}));
}

}  // namespace
}  // namespace modlab::models
