#include "tasks/routing.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "tasks/task_file.h"

namespace modlab::tasks {
namespace {

struct Expected {
  const char* name;
  const char* wiring;
  const char* modules;
};

TEST(TrueRouting, PublishedTables) {
  const Expected tables[] = {
      {"depth1", "L1: (1,2),(3,4); out: (1,2)", "L1: 1,1"},
      {"depth2", "L1: (1,2),(3,4),(5,6); L2: (1,2),(2,3); out: (1,2)", "L1: 1,1,1; L2: 2,2"},
      {"depth3", "L1: (1,2),(3,4),(5,6); L2: (1,2),(2,3),(1,3); L3: (1,3),(2,3); out: (1,2)",
       "L1: 1,1,1; L2: 2,2,2; L3: 3,3"},
      {"B", "L1: (1,3),(4,5),(2,6); L2: (1,2),(2,3); out: (1,2)", "L1: 1,1,1; L2: 2,2"},
      {"C", "L1: (1,3),(5,6),(1,2),(4,5); L2: (1,2),(3,4); out: (1,2)", "L1: 1,2,2,1; L2: 3,3"},
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
            "L1: (1,2),(3,4),(5,6),(1,2),(1,2),(1,2); L2: (1,2),(2,3),(1,2),(1,2),(1,2),(1,2); out: (1,2)");
  EXPECT_EQ(wiring_text(own[1]),
            "L1: (1,2),(1,2),(1,2),(1,3),(4,5),(2,6); L2: (1,2),(1,2),(4,5),(5,6),(1,2),(1,2); out: (3,4)");
  // C brings nothing new on level 1: OR(0,2) is module 3, XOR(4,5) 2, XOR(0,1) 0, OR(3,4) 4.
  EXPECT_EQ(wiring_text(own[2]),
            "L1: (1,2),(1,2),(5,6),(1,3),(4,5),(1,2); L2: (1,2),(1,2),(1,2),(1,2),(4,3),(1,5); out: (5,6)");
  const std::vector<Routing> shared = true_routing(suite, true, 2);
  EXPECT_EQ(wiring_text(shared[0]), "L1: (1,2),(3,4),(5,6),(1,2); L2: (1,2),(2,3); out: (1,2)");
  EXPECT_EQ(wiring_text(shared[1]), "L1: (1,3),(4,5),(2,6),(1,2); L2: (1,2),(2,3); out: (1,2)");
  EXPECT_EQ(wiring_text(shared[2]), "L1: (1,3),(5,6),(1,2),(4,5); L2: (1,2),(3,4); out: (1,2)");
  EXPECT_EQ(modules_text(shared[0]), "L1: 1,1,1,1; L2: 3,3");
  EXPECT_EQ(modules_text(shared[1]), "L1: 2,2,2,1; L2: 3,3");
  EXPECT_EQ(modules_text(shared[2]), "L1: 2,1,1,2; L2: 3,3");
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

TEST(TrueSizes, WhatOneModuleCanComputeIsOneMember) {
  const TaskSuite suite = parse_task_yaml(
      "inputs: 2\nlevels:\n  - a0: AND x0 x1\n    a1: AND x0 !x1\n    a2: AND x1 x0\n    a3: AND !x0 x1\n"
      "    a4: NOR !x0 x1\n    a5: NAND x0 x1\noutputs: [a0, a1, a2, a3, a4, a5]\n",
      "t", "t.yaml");
  const TrueSizes sizes = *true_sizes(suite);
  // a2 repeats a0 in the same task, on purpose: it keeps a module of its own.
  EXPECT_EQ(sizes.modules, std::vector<int>{6});
  EXPECT_EQ(sizes.pool, 3);
  EXPECT_EQ(true_pool(suite), (std::vector<std::string>{"AND", "AND with 1 negated", "NAND"}));
  EXPECT_EQ(wiring_text(true_routing(suite, false, 2)[0]),
            "L1: (1,2),(1,2),(2,1),(1,2),(1,2),(1,2); out: (1,2,3,4,5,6)");
  // A member that negates its second input reads x1 first where x0 is negated.
  const Routing shared = true_routing(suite, true, 2)[0];
  EXPECT_EQ(wiring_text(shared), "L1: (1,2),(1,2),(2,1),(2,1),(1,2),(1,2); out: (1,2,3,4,5,6)");
  EXPECT_EQ(modules_text(shared), "L1: 1,2,1,2,2,3");
}

constexpr const char* kAdder = R"(inputs: [a1, a0, b1, b0]
levels:
  - {half: XOR a0 b0, low: AND a0 b0, part: XOR a1 b1, high: AND a1 b1}
  - {half2: ID half, sum: XOR part low, both: AND part low, high2: AND high high}
  - {s0: ID half2, s1: ID sum, carry: OR both high2}
outputs: [s0, s1, carry]
)";

TEST(TrueRouting, GatesThatNeedLessThanModulesRead) {
  const TaskSuite suite = parse_task_yaml(kAdder, "adder", "adder.yaml");
  for (const int fan_in : {2, 3}) {
    const Routing shared = true_routing(suite, true, fan_in)[0];
    EXPECT_EQ(wiring_text(shared),
              "L1: (2,4),(2,4),(1,3),(1,3); L2: (1),(3,2),(3,2),(4); L3: (1),(2),(3,4); out: (1,2,3)");
    EXPECT_EQ(modules_text(shared), "L1: 1,2,1,2; L2: 3,1,2,3; L3: 3,3,4");
    EXPECT_EQ(wiring_text(true_routing(suite, false, fan_in)[0]), wiring_text(shared));
  }
  EXPECT_EQ(true_pool(suite), (std::vector<std::string>{"XOR", "AND", "ID", "OR"}));
  EXPECT_EQ(edge_count(*suite.tasks[0].graph), 8 + 6 + 4 + 3);
  EXPECT_EQ(widest_gate(suite), 2);
}

TEST(TrueRouting, GatesOfTwoAndOfThreeAreDifferentMembers) {
  const TaskSuite suite = parse_task_yaml(
      "inputs: 3\nlevels:\n  - {a: AND x0 x1, b: AND x0 x1 x2, c: NOT x2, d: ID x1}\noutputs: [a, b, c, d]\n", "t",
      "t.yaml");
  EXPECT_EQ(true_pool(suite), (std::vector<std::string>{"AND of 2", "AND of 3", "NOT", "ID"}));
  EXPECT_EQ(wiring_text(true_routing(suite, true, 3)[0]), "L1: (1,2),(1,2,3),(3),(2); out: (1,2,3,4)");
  EXPECT_EQ(widest_gate(suite), 3);
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
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1 x2\noutputs: [a]\n", 2,
         {"gate 'a'", "needs 3", "reads 2", "fan_in to 3"});
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1 x0\noutputs: [a]\n", 2, {"no error"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\n    c: OR x0 x1\n  - b: OR a c\noutputs: [a, b]\n", 2,
         {"output 'y0'", "last level", "ID gate"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: [a, a]\n", 2, {"'y0' and 'y1'", "same gate 'a'", "selection"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 !x0\noutputs: [a]\n", 2, {"no error"});
  expect("inputs: 2\nlevels:\n  - a: AND x0 x1\noutputs: ['!a']\n", 2, {"negated"});
  expect("inputs: 3\nlevels:\n  - a: AND x0 x1 x2\noutputs: [a]\n", 3, {"no error"});
  EXPECT_THROW(true_routing(load_task("random62"), false, 2), ConfigError);
}

}  // namespace
}  // namespace modlab::tasks
