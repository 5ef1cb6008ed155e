#include "tasks/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/errors.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

const Routing kDepth2 = {{{{0, 1}, {2, 3}, {4, 5}}, {{0, 1}, {1, 2}}}, {}, {0, 1}};

TEST(SameWiring, RelabelledSlotsAndSwappedPicksAreTheSame) {
  EXPECT_TRUE(same_wiring(kDepth2, kDepth2));
  // Level 1 in the order c a b, level 2 swapped, picks in the other order.
  const Routing relabelled = {{{{5, 4}, {1, 0}, {2, 3}}, {{2, 0}, {1, 2}}}, {}, {1, 0}};
  EXPECT_TRUE(same_wiring(kDepth2, relabelled));
  EXPECT_TRUE(same_wiring(relabelled, kDepth2));
  Routing pooled = kDepth2;
  pooled.modules = {{0, 0, 0}, {1, 1}};
  EXPECT_TRUE(same_wiring(kDepth2, pooled));
}

TEST(SameWiring, OneEdgeElsewhereIsDifferent) {
  Routing other = kDepth2;
  other.inputs[0][2] = {3, 5};
  EXPECT_FALSE(same_wiring(kDepth2, other));
  other = kDepth2;
  other.inputs[1][1] = {0, 2};
  EXPECT_FALSE(same_wiring(kDepth2, other));
  other = kDepth2;
  other.outputs = {1, 0};
  EXPECT_FALSE(same_wiring(kDepth2, other));
  other = kDepth2;
  other.outputs = {0, 0};
  EXPECT_FALSE(same_wiring(kDepth2, other));
  other = kDepth2;
  other.inputs[0].push_back({0, 1});
  EXPECT_FALSE(same_wiring(kDepth2, other));
  other = kDepth2;
  other.inputs[0][0] = {0, 0};
  EXPECT_FALSE(same_wiring(kDepth2, other));
}

TEST(SameWiring, UnusedSlotsMatterAndTwinsDoNotConfuse) {
  // Slots 0 and 1 of level 1 read the same inputs.
  const Routing twins = {{{{0, 1}, {0, 1}, {2, 3}}, {{0, 2}, {1, 2}}}, {}, {0, 1}};
  const Routing renamed = {{{{0, 1}, {2, 3}, {1, 0}}, {{2, 1}, {0, 1}}}, {}, {0, 1}};
  const Routing one_of_them = {{{{0, 1}, {0, 1}, {2, 3}}, {{0, 2}, {0, 2}}}, {}, {0, 1}};
  EXPECT_TRUE(same_wiring(twins, renamed));
  EXPECT_FALSE(same_wiring(twins, one_of_them));
  Routing spare_a = kDepth2;
  Routing spare_b = kDepth2;
  spare_a.inputs[1].push_back({0, 2});
  spare_b.inputs[1].push_back({0, 1});
  EXPECT_FALSE(same_wiring(spare_a, spare_b));
}

TEST(SameWiring, OutputsOfAllLevels) {
  Routing all = kDepth2;
  all.outputs_from_all_levels = true;
  all.outputs = {3, 4};
  EXPECT_TRUE(same_wiring(kDepth2, all));
  all.outputs = {0, 4};
  EXPECT_FALSE(same_wiring(kDepth2, all));
}

TEST(SameWiring, RandomRelabellingsOfRandomWirings) {
  std::mt19937 generator(5);
  const auto below = [&](int count) { return static_cast<int>(generator() % static_cast<unsigned>(count)); };
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::vector<int> sizes = {4 + below(4), 4 + below(4), 2 + below(3)};
    Routing original;
    int candidates = 4;
    for (const int size : sizes) {
      std::vector<std::vector<int>> level;
      for (int slot = 0; slot < size; ++slot) {
        level.push_back({below(candidates), below(candidates)});
      }
      original.inputs.push_back(level);
      candidates = size;
    }
    original.outputs = {below(sizes[2]), below(sizes[2])};

    Routing renamed = original;
    std::vector<int> names_below;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      std::vector<int> names(sizes[level]);
      for (int slot = 0; slot < sizes[level]; ++slot) {
        names[slot] = slot;
      }
      std::shuffle(names.begin(), names.end(), generator);
      for (int slot = 0; slot < sizes[level]; ++slot) {
        std::vector<int> picks = original.inputs[level][slot];
        for (int& pick : picks) {
          pick = level == 0 ? pick : names_below[pick];
        }
        std::swap(picks[0], picks[below(2)]);
        renamed.inputs[level][names[slot]] = picks;
      }
      names_below = names;
    }
    for (int& output : renamed.outputs) {
      output = names_below[output];
    }
    ASSERT_TRUE(same_wiring(original, renamed)) << wiring_text(original);
    // A level-1 pick moved to another input changes the number of readers of two inputs.
    renamed.inputs[0][0][0] = (renamed.inputs[0][0][0] + 1) % 4;
    ASSERT_FALSE(same_wiring(original, renamed)) << wiring_text(original);
  }
}

struct Expected {
  const char* name;
  const char* wiring;
  const char* modules;
};

TEST(TrueRouting, PublishedTables) {
  // spec/modular.md, section 1.3, and the recommended tables of 1.4.
  const Expected tables[] = {
      {"depth1", "L1: (0,1),(2,3); out: (0,1)", "L1: 0,0"},
      {"depth2", "L1: (0,1),(2,3),(4,5); L2: (0,1),(1,2); out: (0,1)", "L1: 0,0,0; L2: 1,1"},
      {"depth3", "L1: (0,1),(2,3),(4,5); L2: (0,1),(1,2),(0,2); L3: (0,2),(1,2); out: (0,1)",
       "L1: 0,0,0; L2: 1,1,1; L3: 2,2"},
      {"B", "L1: (0,2),(3,4),(1,5); L2: (0,1),(1,2); out: (0,1)", "L1: 0,0,0; L2: 1,1"},
      {"C", "L1: (0,2),(4,5),(0,1),(3,4); L2: (0,1),(2,3); out: (0,1)", "L1: 0,1,1,0; L2: 2,2"},
  };
  for (const Expected& expected : tables) {
    SCOPED_TRACE(expected.name);
    const TaskSuite suite = load_task(expected.name);
    const std::vector<Routing> own = true_routing(suite, false, 2);
    const std::vector<Routing> shared = true_routing(suite, true, 2);
    ASSERT_EQ(own.size(), 1U);
    EXPECT_EQ(wiring_text(own[0]), expected.wiring);
    EXPECT_TRUE(own[0].modules.empty());
    EXPECT_EQ(wiring_text(shared[0]), expected.wiring);
    EXPECT_EQ(modules_text(shared[0]), expected.modules);
  }
}

TEST(TrueRouting, SuitesShareModulesAndFillSpareOnes) {
  const TaskSuite suite = load_task("A+B+C");
  const std::vector<Routing> own = true_routing(suite, false, 2);
  ASSERT_EQ(own.size(), 3U);
  EXPECT_EQ(wiring_text(own[0]),
            "L1: (0,1),(2,3),(4,5),(0,1),(0,1),(0,1); L2: (0,1),(1,2),(0,1),(0,1),(0,1),(0,1); out: (0,1)");
  EXPECT_EQ(wiring_text(own[1]),
            "L1: (0,1),(0,1),(0,1),(0,2),(3,4),(1,5); L2: (0,1),(0,1),(3,4),(4,5),(0,1),(0,1); out: (2,3)");
  // C brings nothing new on level 1: OR(0,2) is module 3, XOR(4,5) 2, XOR(0,1) 0, OR(3,4) 4.
  EXPECT_EQ(wiring_text(own[2]),
            "L1: (0,1),(0,1),(4,5),(0,2),(3,4),(0,1); L2: (0,1),(0,1),(0,1),(0,1),(3,2),(0,4); out: (4,5)");
  const std::vector<Routing> shared = true_routing(suite, true, 2);
  EXPECT_EQ(wiring_text(shared[0]), "L1: (0,1),(2,3),(4,5),(0,1); L2: (0,1),(1,2); out: (0,1)");
  EXPECT_EQ(wiring_text(shared[1]), "L1: (0,2),(3,4),(1,5),(0,1); L2: (0,1),(1,2); out: (0,1)");
  EXPECT_EQ(wiring_text(shared[2]), "L1: (0,2),(4,5),(0,1),(3,4); L2: (0,1),(2,3); out: (0,1)");
  EXPECT_EQ(modules_text(shared[0]), "L1: 0,0,0,0; L2: 2,2");
  EXPECT_EQ(modules_text(shared[1]), "L1: 1,1,1,0; L2: 2,2");
  EXPECT_EQ(modules_text(shared[2]), "L1: 1,0,0,1; L2: 2,2");
}

TEST(TrueSizes, PublishedSuites) {
  struct Sizes {
    const char* name;
    std::vector<int> modules;
    std::vector<int> slots;
    int pool;
  };
  for (const Sizes& sizes :
       {Sizes{"depth1", {2}, {2}, 1}, Sizes{"depth2", {3, 2}, {3, 2}, 2}, Sizes{"depth3", {3, 3, 2}, {3, 3, 2}, 3},
        Sizes{"A+B", {6, 4}, {3, 2}, 3}, Sizes{"A+B+C", {6, 6}, {4, 2}, 3}, Sizes{"A+C", {5, 4}, {4, 2}, 3}}) {
    SCOPED_TRACE(sizes.name);
    const std::optional<TrueSizes> found = true_sizes(load_task(sizes.name));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->modules, sizes.modules);
    EXPECT_EQ(found->slots, sizes.slots);
    EXPECT_EQ(found->pool, sizes.pool);
    EXPECT_EQ(found->depth, static_cast<int>(sizes.modules.size()));
  }
  EXPECT_FALSE(true_sizes(load_task("random62")));
}

TEST(TrueSizes, NegationsMakeSubFunctionsButNotOperations) {
  const TaskSuite suite = parse_task_yaml(
      "inputs: 2\nlevels:\n  - a0: AND x0 x1\n    a1: AND x0 !x1\n    a2: AND x1 x0\noutputs: [a0, a1, a2]\n", "t",
      "t.yaml");
  const TrueSizes sizes = *true_sizes(suite);
  // a2 repeats a0 in the same task, on purpose: it keeps a module of its own.
  EXPECT_EQ(sizes.modules, std::vector<int>{3});
  EXPECT_EQ(sizes.pool, 1);
  EXPECT_EQ(wiring_text(true_routing(suite, false, 2)[0]), "L1: (0,1),(0,1),(1,0); out: (0,1,2)");
}

std::string routing_error(const std::string& yaml, int fan_in) {
  try {
    true_routing(parse_task_yaml(yaml, "t", "t.yaml"), true, fan_in);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TrueRouting, SaysWhyThereIsNone) {
  const auto expect = [](const std::string& yaml, int fan_in, const std::vector<std::string>& words) {
    const std::string message = routing_error(yaml, fan_in);
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), std::string::npos) << message << " lacks " << word;
    }
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  expect("inputs: 2\ntable: {y0: 6}\n", 2, {"'t'", "without a function graph"});
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1\n    c: OR x1 x2\n  - b: OR a x2\noutputs: [b]\n", 2,
         {"gate 'b'", "'x2'", "directly below", "ID gate"});
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1 x2\noutputs: [a]\n", 2, {"gate 'a'", "fan-in 3", "reads 2"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\n    c: OR x0 x1\n  - b: OR a c\noutputs: [a, b]\n", 2,
         {"output 'y0'", "last level", "ID gate"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a, a]\n", 2, {"'y0' and 'y1'", "same gate 'a'", "selection"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 !x0\noutputs: [a]\n", 2, {"gate 'a'", "twice"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: ['!a']\n", 2, {"negated"});
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1 x2\noutputs: [a]\n", 3, {"no error"});
  EXPECT_THROW(true_routing(load_task("random62"), false, 2), ConfigError);
}

}  // namespace
}  // namespace modlab::tasks
