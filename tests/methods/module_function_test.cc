#include "methods/detect/module_function.h"

#include <gtest/gtest.h>

#include <map>

#include "core/errors.h"
#include "methods/detect/criteria.h"
#include "methods/detect/table_values.h"
#include "methods/solved_networks.h"
#include "models/layered_network_file.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

using models::LayeredNetwork;

std::vector<ModuleFunction> functions_of(const LayeredNetwork& network, const tasks::Task& task) {
  return module_functions(network, hierarchy(network, detect(network, {})), task);
}

std::vector<std::string> texts_of(const std::vector<NodeMatch>& matches) {
  std::vector<std::string> texts;
  for (const NodeMatch& match : matches) {
    texts.push_back((match.negated ? "!" : "") + match.name);
  }
  return texts;
}

using Texts = std::vector<std::string>;
using Places = std::vector<UnitPlace>;

TEST(ModuleFunction, PairsAndThenPairsOfPairs) {
  const tasks::Task task = test::builtin_task("sculpt/6-3-3-3");
  const std::vector<ModuleFunction> functions = functions_of(test::and_or_network(), task);
  // Three of inputs, three of outputs.
  ASSERT_EQ(functions.size(), 6);
  EXPECT_EQ(functions[0].reads, (Places{{0, 0}, {0, 1}}));
  ASSERT_EQ(functions[0].gives.size(), 1);
  const UnitFunction& gate = functions[0].gives[0];
  EXPECT_EQ(gate.unit, (UnitPlace{1, 0}));
  EXPECT_EQ(gate.ones, 16);
  EXPECT_EQ(gate.depends_on, (std::vector<int>{0, 1}));
  EXPECT_EQ(texts_of(gate.matches), Texts{"h1"});
  EXPECT_EQ(gate.formula, "AND(x1, x2)");
  EXPECT_EQ(gate.local_table, "0001");
  EXPECT_EQ(gate.local_formula, "AND(x1, x2)");
  EXPECT_EQ(functions[0].computes, std::vector<int>{0});

  const ModuleFunction& top = functions[3];
  EXPECT_EQ(top.reads, (Places{{1, 0}, {1, 1}}));
  ASSERT_EQ(top.gives.size(), 1);
  EXPECT_EQ(texts_of(top.gives[0].matches), Texts{"y1"});
  EXPECT_EQ(top.gives[0].depends_on, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(top.gives[0].formula, "");
  EXPECT_EQ(top.gives[0].local_table, "0111");
  EXPECT_EQ(top.gives[0].local_formula, "OR(h1.1, h1.2)");
  EXPECT_EQ(top.computes, std::vector<int>{3});
}

TEST(ModuleFunction, NegatedValuesCountAsFound) {
  LayeredNetwork network = test::and_or_network();
  // h1 = NAND(x1, x2), which outputs 0 and 1 turn round again.
  for (models::Edge& edge : network.connections[0].edges) {
    edge.weight = edge.to == 0 ? -1.0F : edge.weight;
  }
  network.connections[0].bias[0] = 2;
  for (models::Edge& edge : network.connections[1].edges) {
    edge.weight = edge.from == 0 ? -1.0F : 3.0F;
  }
  network.connections[1].bias = {0.5F, 0.5F, -2.0F};
  const tasks::Task task = test::builtin_task("sculpt/6-3-3-3");
  const std::vector<ModuleFunction> functions = functions_of(network, task);
  EXPECT_EQ(texts_of(functions[0].gives[0].matches), Texts{"!h1"});
  EXPECT_EQ(functions[0].gives[0].formula, "OR(!x1, !x2)");
  EXPECT_EQ(functions[0].computes, std::vector<int>{0});
  EXPECT_EQ(functions[3].gives[0].local_formula, "OR(!h1.1, h1.2)");
}

TEST(ModuleFunction, OneModuleGivesItsOutputsAlone) {
  const tasks::Task task = test::builtin_task("sculpt/4-2-4");
  const std::vector<ModuleFunction> functions = functions_of(test::xor_network(), task);
  ASSERT_EQ(functions.size(), 2);
  EXPECT_EQ(functions[0].reads, (Places{{0, 0}, {0, 1}}));
  ASSERT_EQ(functions[0].gives.size(), 2);
  EXPECT_EQ(texts_of(functions[0].gives[0].matches), (Texts{"y1", "!y2"}));
  EXPECT_EQ(functions[0].gives[0].formula, "XOR(x1, x2)");
  EXPECT_EQ(functions[0].gives[1].formula, "XNOR(x1, x2)");
  EXPECT_EQ(functions[0].gives[1].local_table, "1001");
  EXPECT_EQ(functions[0].computes, std::vector<int>{0});
  EXPECT_EQ(functions[1].computes, std::vector<int>{1});
}

TEST(ModuleFunction, WhatIsNoGateIsDescribedAllTheSame) {
  // Output 0 is the majority of three, output 1 always on.
  LayeredNetwork network = test::small_network({3, 3, 2}, {"0>0 1>0 2>0 0>1 1>1 2>1 0>2", "0>0 1>1 2>1"});
  network.connections[0].bias = {-1, 0, 0};
  network.connections[1].bias = {0, 1};
  const tasks::Task task =
      tasks::parse_task_csv(
          "x0,x1,x2,y0,y1\n0,0,0,0,1\n0,0,1,0,1\n0,1,0,0,1\n0,1,1,1,1\n1,0,0,0,1\n1,0,1,1,1\n1,1,0,1,1\n1,1,1,1,1\n",
          "majority", "majority.csv")
          .tasks.front();
  const std::vector<ModuleFunction> functions = functions_of(network, task);
  std::map<std::string, UnitFunction> given;
  for (const ModuleFunction& function : functions) {
    for (const UnitFunction& unit : function.gives) {
      given[UnitNames(network, task).of(unit.unit)] = unit;
    }
    EXPECT_TRUE(function.computes.empty());
  }
  EXPECT_EQ(given["y0"].ones, 4);
  EXPECT_EQ(given["y0"].formula, "");
  EXPECT_EQ(given["y0"].depends_on.size(), 3);
  // A table without gates has names for inputs and outputs only.
  EXPECT_EQ(texts_of(given["y0"].matches), Texts{"y0"});
  EXPECT_EQ(given["y1"].ones, 8);
  EXPECT_TRUE(given["y1"].depends_on.empty());
  EXPECT_EQ(given["y1"].formula, "");
}

TEST(ModuleFunction, HowActiveAUnitIsMayMatter) {
  // A hidden unit counts two inputs, and the output wants both: 1 of the unit leads to 0 and to 1.
  LayeredNetwork network = test::small_network({2, 1, 1}, {"0>0 1>0", "0>0"});
  network.connections[1].bias = {-1.5F};
  const tasks::Task task =
      tasks::parse_task_yaml("inputs: [a, b]\nlevels:\n  - {g: AND a b}\noutputs: [g]\n", "and", "and.yaml")
          .tasks.front();
  Hierarchy apart;
  apart.modules = {{0, 0, 1, 0, {{0, 1}, {0}, {}}}, {1, 2, 2, 1, {{}, {}, {0}}}};
  const std::vector<ModuleFunction> functions = module_functions(network, apart, task);
  EXPECT_EQ(functions[0].gives[0].local_table, "0111");
  EXPECT_EQ(functions[1].reads, (Places{{1, 0}}));
  EXPECT_EQ(functions[1].gives[0].local_table, std::nullopt);
  EXPECT_EQ(texts_of(functions[1].gives[0].matches), (Texts{"g", "y0"}));
}

TEST(ModuleFunction, BitsThatNoRowLeadsToAreFree) {
  // Of the two hidden units, the second is active only where the first is.
  LayeredNetwork network = test::small_network({2, 2, 1}, {"0>0 1>0 0>1 1>1", "0>0 1>0"});
  network.connections[0].bias = {0, -1};
  network.connections[1].edges[1].weight = -2;  // XOR: a + b - 2 max(0, a + b - 1)
  const tasks::Task task =
      tasks::parse_task_yaml("inputs: [a, b]\nlevels:\n  - {g: XOR a b}\noutputs: [g]\n", "xor", "xor.yaml")
          .tasks.front();
  Hierarchy apart;
  apart.modules = {{0, 0, 1, 0, {{0, 1}, {0, 1}, {}}}, {1, 2, 2, 1, {{}, {}, {0}}}};
  const UnitFunction output = module_functions(network, apart, task)[1].gives[0];
  EXPECT_EQ(output.local_table, "0-10");
  EXPECT_EQ(output.local_formula, "AND(h1.1, !h1.2)");
  EXPECT_EQ(output.formula, "XOR(a, b)");
}

// Every network that is right on all rows has outputs that compute their own bit, whatever else they are.
TEST(ModuleFunction, OutputsOfThePublishedNetworks) {
  std::map<std::string, tasks::Task> by_name;
  int right = 0;
  for (const models::NamedNetwork& named :
       models::read_layered_networks(MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz")) {
    SCOPED_TRACE(named.id);
    const std::string name = published_task(named.about.at("task").get<std::string>()).value();
    const auto [task, is_new] = by_name.try_emplace(name);
    if (is_new) {
      task->second = test::builtin_task(name);
    }
    const std::vector<double> accuracies = output_accuracies(named.network, task->second.table);
    double mean = 0;
    for (const double accuracy : accuracies) {
      mean += accuracy / static_cast<double>(accuracies.size());
    }
    EXPECT_NEAR(mean, named.about.at("accuracy").get<double>(), 1e-9);
    for (const ModuleFunction& function : functions_of(named.network, task->second)) {
      for (const UnitFunction& given : function.gives) {
        if (given.unit.layer + 1 != named.network.layers()) {
          continue;
        }
        const std::vector<std::string> texts = texts_of(given.matches);
        const bool is_own = std::ranges::find(texts, task->second.output_names[given.unit.unit]) != texts.end();
        EXPECT_EQ(is_own, accuracies[given.unit.unit] == 1);
        right += is_own ? 1 : 0;
      }
    }
  }
  EXPECT_GT(right, 2000);
}

TEST(ModuleFunction, ValuesAreThoseOfOneRowAtATime) {
  const LayeredNetwork network = test::xor_network();
  const auto active = active_rows(network);
  for (int row = 0; row < 16; ++row) {
    std::vector<double> inputs;
    for (int input = 0; input < 4; ++input) {
      inputs.push_back(tasks::input_bit(4, row, input) ? 1 : 0);
    }
    const auto values = models::unit_values(network, inputs);
    for (std::size_t layer = 0; layer < values.size(); ++layer) {
      for (std::size_t unit = 0; unit < values[layer].size(); ++unit) {
        EXPECT_EQ(tasks::column_bit(active[layer][unit], row), values[layer][unit] > 0);
      }
    }
  }
  EXPECT_EQ(active[0][0][0] >> 16, 0);
}

TEST(ModuleFunction, ConstantUnitsAreTold) {
  // Unit 1 of the first hidden layer is read but not fed, and so is unit 1 of the second; unit 2 has no bias.
  LayeredNetwork network = test::small_network({1, 3, 2, 1}, {"0>0", "0>0 1>1 2>0", "0>0 1>0"});
  network.connections[0].bias = {0, 1, 0};
  EXPECT_EQ(constant_units(network, live_units(network)), (Places{{2, 1}}));
  network.connections[0].bias = {0, -1, 0};
  EXPECT_TRUE(constant_units(network, live_units(network)).empty());
  network.connections[0].bias = {0, 0, 1};
  EXPECT_EQ(constant_units(network, live_units(network)), (Places{{1, 2}}));
}

TEST(ModuleFunction, TasksThatDoNotFit) {
  const LayeredNetwork network = test::xor_network();
  EXPECT_THROW(functions_of(network, test::builtin_task("sculpt/6-3-3-3")), ConfigError);
  EXPECT_THROW(functions_of(network, test::builtin_task("mnist-xor-and")), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
