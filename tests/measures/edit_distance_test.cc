#include "measures/edit_distance.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "measures/brute_force.h"
#include "measures/random_routing.h"
#include "tasks/task_file.h"

namespace modlab::measures {
namespace {

using tasks::Routing;
using test::RandomRouting;

constexpr int kInputs = 6;
const Routing kDepth1 = {{{{0, 1}, {2, 3}}}, {}, {0, 1}};
const Routing kDepth2 = {{{{0, 1}, {2, 3}, {4, 5}}, {{0, 1}, {1, 2}}}, {}, {0, 1}};
const Routing kDepth3 = {{{{0, 1}, {2, 3}, {4, 5}}, {{0, 1}, {1, 2}, {0, 2}}, {{0, 2}, {1, 2}}}, {}, {0, 1}};

int distance(const Routing& learned, const Routing& truth, int inputs = kInputs) {
  return edit_distance(learned, truth, inputs).distance;
}

// What a matching costs, counted edge by edge.
int cost_of(const Routing& learned, const Routing& truth, const std::vector<std::vector<int>>& matching) {
  std::set<std::array<int, 3>> edges;  // level, from, to; outputs are a level of their own
  int cost = 0;
  for (std::size_t level = 0; level < learned.inputs.size(); ++level) {
    std::set<int> taken;
    for (std::size_t slot = 0; slot < learned.inputs[level].size(); ++slot) {
      const int gate = matching[level][slot];
      cost += gate < 0 ? 1 : 0;
      EXPECT_TRUE(gate < 0 || taken.insert(gate).second) << "two slots for one gate";
      const int to = gate < 0 ? 1000 + static_cast<int>(slot) : gate;
      for (const int pick : learned.inputs[level][slot]) {
        const int from = level == 0 ? pick : matching[level - 1][pick];
        edges.insert({static_cast<int>(level), from < 0 ? 1000 + pick : from, to});
      }
    }
    cost += static_cast<int>(level < truth.inputs.size() ? truth.inputs[level].size() - taken.size() : 0);
  }
  const int last = static_cast<int>(learned.inputs.size());
  for (std::size_t output = 0; output < learned.outputs.size(); ++output) {
    const int gate = matching.back()[learned.outputs[output]];
    edges.insert({last, gate < 0 ? 1000 + learned.outputs[output] : gate, static_cast<int>(output)});
  }
  std::set<std::array<int, 3>> true_edges;
  for (std::size_t level = 0; level < truth.inputs.size(); ++level) {
    for (std::size_t gate = 0; gate < truth.inputs[level].size(); ++gate) {
      for (const int pick : truth.inputs[level][gate]) {
        true_edges.insert({static_cast<int>(level), pick, static_cast<int>(gate)});
      }
    }
  }
  for (std::size_t output = 0; output < truth.outputs.size(); ++output) {
    true_edges.insert({last, truth.outputs[output], static_cast<int>(output)});
  }
  for (const auto& edge : edges) {
    cost += true_edges.contains(edge) ? 0 : 1;
  }
  for (const auto& edge : true_edges) {
    cost += edges.contains(edge) ? 0 : 1;
  }
  return cost;
}

TEST(EditDistance, TheWorkedExamples) {
  for (const Routing& truth : {kDepth1, kDepth2, kDepth3}) {
    EXPECT_EQ(distance(truth, truth), 0);
    EXPECT_EQ(relaxed_edit_distance(truth, truth, kInputs), 0);
  }
  // x1 and x2 swapped in depth 2, then the two outputs.
  Routing swapped = kDepth2;
  swapped.inputs[0] = {{0, 2}, {1, 3}, {4, 5}};
  EXPECT_EQ(distance(swapped, kDepth2), 4);
  EXPECT_EQ(relaxed_edit_distance(swapped, kDepth2, kInputs), 2);
  swapped = kDepth2;
  swapped.outputs = {1, 0};
  EXPECT_EQ(distance(swapped, kDepth2), 4);
  EXPECT_EQ(relaxed_edit_distance(swapped, kDepth2, kInputs), 2);
}

TEST(EditDistance, SmallCasesByHand) {
  // One pick elsewhere: an edge to delete and one to insert.
  Routing learned = kDepth2;
  learned.inputs[0][2] = {3, 5};
  EXPECT_EQ(distance(learned, kDepth2), 2);
  // Both outputs read the same module: y1's edge moves.
  learned = kDepth2;
  learned.outputs = {0, 0};
  EXPECT_EQ(distance(learned, kDepth2), 2);
  // A module that picks an input twice has one edge: the other is to be inserted.
  learned = kDepth1;
  learned.inputs[0][0] = {0, 0};
  EXPECT_EQ(distance(learned, kDepth1), 1);
  // Nothing in common but the number of modules: 4 + 4 input edges; the output edges agree.
  learned = {{{{4, 5}, {4, 5}}}, {}, {0, 1}};
  EXPECT_EQ(distance(learned, kDepth1), 8);
  // b0 reads a2 instead of a1.
  learned = kDepth2;
  learned.inputs[1] = {{0, 2}, {1, 2}};
  EXPECT_EQ(distance(learned, kDepth2), 2);
  // Level 1 is named a1, a2, a0 by its inputs, so b0 reads a1, a2 and b1 reads a2, a0: one edge of each is wrong.
  learned = kDepth2;
  learned.inputs[0] = {{2, 3}, {4, 5}, {0, 1}};
  EXPECT_EQ(distance(learned, kDepth2), 4);
}

TEST(EditDistance, SurplusModulesCostOneAndTheirEdges) {
  Routing learned = kDepth2;
  learned.inputs[1].push_back({0, 2});
  EXPECT_EQ(distance(learned, kDepth2), 3);
  EXPECT_EQ(distance(kDepth2, learned), 3);
  learned.inputs[0].push_back({0, 5});
  EXPECT_EQ(distance(learned, kDepth2), 6);
  const EditDistance found = edit_distance(learned, kDepth2, kInputs);
  EXPECT_EQ(found.matching, (std::vector<std::vector<int>>{{0, 1, 2, -1}, {0, 1, -1}}));
  // The surplus one is the one that fits least, wherever it stands.
  learned = kDepth1;
  learned.inputs[0] = {{4, 5}, {2, 3}, {0, 1}};
  learned.outputs = {2, 1};
  EXPECT_EQ(edit_distance(learned, kDepth1, kInputs).matching, (std::vector<std::vector<int>>{{-1, 1, 0}}));
  EXPECT_EQ(distance(learned, kDepth1), 3);
  // Two modules too few: 2 nodes and the 5 edges of a2, b1 (4,5,(a1,b1),(a2,b1),(b1,y1)), and y1 has no edge left.
  const Routing small = {{{{0, 1}, {2, 3}}, {{0, 1}}}, {}, {0}};
  EXPECT_EQ(distance(small, kDepth2), 2 + 5 + 1);
}

TEST(EditDistance, OtherDepth) {
  // Level 2 and its six edges go. Level 1 stays with its four; y0 and y1 read it, which the truth does not.
  Routing learned = {{{{0, 1}, {2, 3}, {4, 5}}}, {}, {0, 1}};
  EXPECT_EQ(distance(learned, kDepth2), 2 + 6 + 2);
  EXPECT_EQ(distance(kDepth2, learned), 2 + 6 + 2);
  EXPECT_EQ(edit_distance(kDepth2, learned, kInputs).matching.back(), (std::vector<int>{-1, -1}));
  EXPECT_EQ(distance(kDepth3, kDepth2), test::strict_by_force(kDepth3, kDepth2, kInputs));
}

TEST(EditDistance, OutputsOfAllLevels) {
  Routing learned = kDepth2;
  learned.outputs_from_all_levels = true;
  learned.outputs = {3, 4};
  EXPECT_EQ(distance(learned, kDepth2), 0);
  learned.outputs = {0, 4};
  EXPECT_EQ(distance(learned, kDepth2), 2);
  EXPECT_EQ(distance(kDepth2, learned), 2);
}

TEST(EditDistance, FunctionGraphs) {
  for (const char* name : {"depth1", "depth2", "depth3", "B", "C"}) {
    const tasks::TaskSuite suite = tasks::load_task(name);
    const Routing truth = tasks::true_routing(suite, true, 2).front();
    EXPECT_EQ(edit_distance(truth, *suite.tasks[0].graph).distance, 0) << name;
    EXPECT_EQ(relaxed_edit_distance(truth, *suite.tasks[0].graph), 0) << name;
  }
  // b reads x2 past level 1, and y1 is an input: two edges that no network has. Its second module reads x0 again.
  const tasks::TaskSuite skipping = tasks::parse_task_yaml(
      "inputs: 3\nlevels:\n  - a: AND x0 x1\n  - b: OR a !x2\noutputs: [b, x0]\n", "t", "t.yaml");
  const Routing learned = {{{{0, 1}}, {{0}}}, {}, {0, 0}};
  EXPECT_EQ(edit_distance(learned, *skipping.tasks[0].graph).distance, 2 + 1);
  EXPECT_EQ(relaxed_edit_distance(learned, *skipping.tasks[0].graph), 2 + 1);
}

TEST(EditDistance, OnlyWhatGatesNeedCounts) {
  // y0 passes the first gate on; y1 needs both.
  const Routing truth = {{{{0, 1}, {2, 3}}, {{0}, {0, 1}}}, {}, {0, 1}};
  Routing learned = {{{{0, 1}, {2, 3}}, {{0, 1}, {0, 1}}}, {}, {0, 1}};
  EXPECT_EQ(distance(learned, truth), 0);
  EXPECT_EQ(relaxed_edit_distance(learned, truth, kInputs), 0);
  // What a module lacks is an edge missing and one too many, whatever else it reads.
  learned.inputs = {{{0, 1}, {2, 3}, {4, 5}}, {{1, 2}, {0, 1}}};
  EXPECT_EQ(distance(learned, truth), 2 + 3);
  // A network that cannot read less is as near as one that reads exactly what is needed.
  const Routing exact = {{{{0, 1}, {2, 3}}, {{1}, {0, 1}}}, {}, {0, 1}};
  const Routing wide = {{{{0, 1}, {2, 3}}, {{1, 0}, {0, 1}}}, {}, {0, 1}};
  EXPECT_EQ(distance(exact, truth), 2);
  EXPECT_EQ(distance(wide, truth), 0);
  // The other way round, something is missing.
  EXPECT_EQ(distance(truth, wide), 1);
  // A constant needs nothing.
  const Routing constant = {{{{0, 1}, {}}}, {}, {0, 1}};
  EXPECT_EQ(distance({{{{0, 1}, {4, 5}}}, {}, {0, 1}}, constant), 0);
}

TEST(EditDistance, RefusesARoutingOfAnotherNetwork) {
  Routing learned = kDepth2;
  learned.inputs[1][0] = {0, 3};
  EXPECT_THROW(distance(learned, kDepth2), ConfigError);
  EXPECT_THROW(distance(kDepth2, kDepth2, 5), ConfigError);
  EXPECT_THROW(distance(Routing{}, kDepth2), ConfigError);
  learned = kDepth2;
  learned.outputs = {0, 2};
  EXPECT_THROW(distance(learned, kDepth2), ConfigError);
}

TEST(EditDistance, RandomWiringsAgainstBruteForce) {
  RandomRouting random(1);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const int inputs = 3 + random.below(2);
    const auto routing = [&] {
      std::vector<int> sizes = {1 + random.below(3), 2 + random.below(2)};
      if (repeat % 50 == 0) {
        sizes.push_back(2);
      }
      if (repeat % 7 == 0) {
        sizes.resize(1);
        sizes[0] += 1;
      }
      return random.make(inputs, sizes, 1 + random.below(3), 2, repeat % 5 == 0);
    };
    Routing learned = routing();
    const Routing truth = routing();
    if (repeat % 11 == 0) {
      learned.outputs[0] = learned.outputs[1];
    }
    const EditDistance found = edit_distance(learned, truth, inputs);
    ASSERT_EQ(found.distance, test::strict_by_force(learned, truth, inputs))
        << wiring_text(learned) << " against " << wiring_text(truth);
  }
}

TEST(EditDistance, TheMatchingCostsTheDistance) {
  RandomRouting random(2);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const auto routing = [&] { return random.make(kInputs, {3 + random.below(4), 2 + random.below(5), 2}, 2, 2); };
    const Routing learned = routing();
    const Routing truth = routing();
    const EditDistance found = edit_distance(learned, truth, kInputs);
    ASSERT_EQ(cost_of(learned, truth, found.matching), found.distance)
        << wiring_text(learned) << " against " << wiring_text(truth);
  }
}

TEST(EditDistance, Invariances) {
  RandomRouting random(3);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const std::vector<int> sizes = {2 + random.below(5), 2 + random.below(5), 2 + random.below(5)};
    const bool from_all = repeat % 4 == 0;
    const Routing a = random.make(kInputs, sizes, 2, 2, from_all);
    const Routing b = random.make(kInputs, sizes, 2, 2, from_all);
    ASSERT_EQ(distance(random.renamed(a), a), 0);
    const int found = distance(a, b);
    ASSERT_EQ(distance(random.renamed(a), random.renamed(b)), found);
    ASSERT_EQ(distance(b, a), found);
    ASSERT_EQ(found % 2, 0) << "as many edges on both sides";
  }
}

TEST(EditDistance, NineModulesOnThreeLevels) {
  RandomRouting random(4);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Routing a = random.make(kInputs, {9, 9, 9}, 2, 2);
    const Routing b = random.make(kInputs, {9, 9, 9}, 2, 2);
    ASSERT_EQ(distance(a, random.renamed(a)), 0);
    const EditDistance found = edit_distance(a, b, kInputs);
    ASSERT_EQ(cost_of(a, b, found.matching), found.distance);
    ASSERT_EQ(distance(random.renamed(b), a), found.distance);
  }
}

TEST(EditDistance, SaysSoWhereTheSearchWouldNotEnd) {
  RandomRouting random(5);
  const std::vector<int> sizes(5, 30);
  EXPECT_THROW(distance(random.make(kInputs, sizes, 3, 2), random.make(kInputs, sizes, 3, 2)), ConfigError);
}

}  // namespace
}  // namespace modlab::measures
