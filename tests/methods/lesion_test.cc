#include "methods/detect/lesion.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "methods/solved_networks.h"

namespace modlab::methods {
namespace {

using models::LayeredNetwork;

LesionTest lesions_of(const LayeredNetwork& network, const tasks::Task& task) {
  return lesion_test(network, hierarchy(network, detect(network, {})), task);
}

TEST(Lesion, OutputsThatReadAModuleFailWithoutIt) {
  const LesionTest test = lesions_of(test::and_or_network(), test::builtin_task("sculpt/6-3-3-3"));
  EXPECT_EQ(test.accuracy, (std::vector<double>{1, 1, 1}));
  ASSERT_EQ(test.lesions.size(), 6);
  // h1 serves outputs 0 and 1, h2 0 and 2, h3 1 and 2. Without h1 an output is wrong where h1 is 1 and the other 0.
  const double without_one = 1 - 1.0 / 4 * 3 / 4;
  EXPECT_EQ(test.lesions[0].cut, Cut::kHiddenUnits);
  EXPECT_EQ(test.lesions[0].failing, (std::vector<int>{0, 1}));
  EXPECT_EQ(test.lesions[0].accuracy, (std::vector<double>{without_one, without_one, 1}));
  EXPECT_EQ(test.lesions[1].failing, (std::vector<int>{0, 2}));
  EXPECT_EQ(test.lesions[2].failing, (std::vector<int>{1, 2}));
  // Outputs are modules of their own here; without edges they say 0, which is right on 36 of 64 rows.
  EXPECT_EQ(test.lesions[3].cut, Cut::kOutputs);
  EXPECT_EQ(test.lesions[3].failing, std::vector<int>{0});
  EXPECT_EQ(test.lesions[3].accuracy, (std::vector<double>{36.0 / 64, 1, 1}));
}

TEST(Lesion, SeparateModulesDoNotHurtEachOther) {
  const LesionTest test = lesions_of(test::xor_network(), test::builtin_task("sculpt/4-2-4"));
  ASSERT_EQ(test.lesions.size(), 2);
  EXPECT_EQ(test.lesions[0].failing, (std::vector<int>{0, 1}));
  EXPECT_EQ(test.lesions[1].failing, (std::vector<int>{2, 3}));
  // Constant answers of XOR and XNOR are right on half of the rows.
  EXPECT_EQ(test.lesions[0].accuracy, (std::vector<double>{0.5, 0.5, 1, 1}));
}

TEST(Lesion, AModuleOfInputsLosesTheirEdges) {
  // Outputs a AND b, and a AND NOT b, each a module; both read the inputs, which are one module.
  LayeredNetwork network = test::small_network({2, 2, 2}, {"0>0 1>0 0>1 1>1", "0>0 1>1"});
  network.connections[0].edges[3].weight = -1;
  network.connections[0].bias = {-1, 0};
  const tasks::Task task =
      tasks::parse_task_yaml("inputs: [a, b]\nlevels:\n  - {p: AND a b, q: AND a !b}\noutputs: [p, q]\n", "two",
                             "two.yaml")
          .tasks.front();
  const LesionTest test = lesions_of(network, task);
  ASSERT_EQ(test.lesions.size(), 3);
  EXPECT_EQ(test.accuracy, (std::vector<double>{1, 1}));
  EXPECT_EQ(test.lesions[0].cut, Cut::kInputs);
  EXPECT_EQ(test.lesions[0].accuracy, (std::vector<double>{0.75, 0.75}));
  EXPECT_EQ(test.lesions[1].cut, Cut::kHiddenUnits);
  EXPECT_EQ(test.lesions[1].failing, std::vector<int>{0});
}

TEST(Lesion, WithoutHiddenLayers) {
  LayeredNetwork network = test::small_network({2, 2}, {"0>0 1>1"});
  network.connections[0].bias = {-0.5F, -0.5F};
  const tasks::Task task =
      tasks::parse_task_yaml("inputs: [a, b]\nlevels:\n  - {p: ID a, q: ID b}\noutputs: [p, q]\n", "two", "two.yaml")
          .tasks.front();
  const LesionTest test = lesions_of(network, task);
  ASSERT_EQ(test.lesions.size(), 2);
  EXPECT_EQ(test.lesions[0].cut, Cut::kInputs);
  EXPECT_EQ(test.lesions[0].failing, std::vector<int>{0});
}

TEST(Lesion, TasksThatDoNotFit) {
  EXPECT_THROW(lesions_of(test::xor_network(), test::builtin_task("sculpt/6-3-3-3")), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
