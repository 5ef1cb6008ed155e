#include "measures/specialisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "measures/edit_distance.h"
#include "measures/hand_made.h"
#include "measures/network_measures.h"
#include "models/plain_forward.h"

namespace modlab::measures {
namespace {

using Numbers = std::vector<double>;
using test::hand_made;
using test::HandMade;

const double kOneBySqrt3 = 1 / std::sqrt(3.0);

std::optional<Specialisation> specialisation_of(const HandMade& network) {
  return specialisation(network.blueprint, network.suite, network.parameters);
}
std::optional<InSitu> in_situ_of(const HandMade& network, int task = 0) {
  return in_situ_correlation(network.blueprint, network.suite, task, network.parameters);
}

TEST(Pearson, ByHand) {
  EXPECT_DOUBLE_EQ(pearson(Numbers{0, 1, 1, 0}, Numbers{0, 1, 1, 0}), 1);
  EXPECT_DOUBLE_EQ(pearson(Numbers{3, -7, -7, 3}, Numbers{0, 1, 1, 0}), -1);
  EXPECT_NEAR(pearson(Numbers{0, 0, 0, 1}, Numbers{0, 1, 1, 0}), -kOneBySqrt3, 1e-12);
  EXPECT_NEAR(pearson(Numbers{0, 1, 1, 1}, Numbers{0, 1, 1, 0}), kOneBySqrt3, 1e-12);
  EXPECT_EQ(pearson(Numbers{0, 0, 1, 1}, Numbers{0, 1, 1, 0}), 0);
  // Neither place nor size matters.
  EXPECT_NEAR(pearson(Numbers{1e6, 1e6 + 1e-3}, Numbers{-1e-9, 1e-9}), 1, 1e-12);
}

TEST(Pearson, NothingToCompare) {
  EXPECT_EQ(pearson(Numbers{2, 2, 2, 2}, Numbers{0, 1, 1, 0}), 0);
  EXPECT_EQ(pearson(Numbers{0, 1, 1, 0}, Numbers{1, 1, 1, 1}), 0);
  EXPECT_EQ(pearson(Numbers{0, 0, 0}, Numbers{0, 0, 0}), 0);
  // Equal up to rounding: 0.1 + 0.2 is not 0.3.
  EXPECT_EQ(pearson(Numbers{0.3, 0.1 + 0.2, 0.3}, Numbers{0, 1, 0}), 0);
  EXPECT_EQ(pearson(Numbers{0, std::nan(""), 1, 0}, Numbers{0, 1, 1, 0}), 0);
  EXPECT_EQ(pearson(Numbers{0, INFINITY, 1, 0}, Numbers{0, 1, 1, 0}), 0);
}

TEST(Specialisation, OwnModulesOfLevelOne) {
  HandMade network = hand_made("depth2", {{"model", "modular"}});
  network.set_xor(0);
  network.set_and(1);
  network.set_constant(2, 0.7F);
  const Specialisation found = *specialisation_of(network);
  ASSERT_EQ(found.modules.size(), 3U);
  EXPECT_NEAR(found.modules[0], 1, 1e-12);
  EXPECT_NEAR(found.modules[1], kOneBySqrt3, 1e-12);
  EXPECT_EQ(found.modules[2], 0);
  EXPECT_NEAR(found.mean, (1 + kOneBySqrt3) / 3, 1e-12);
  EXPECT_NEAR(found.max, 1, 1e-12);
  // XNOR on a slope of its own is as good as XOR.
  network.set_module(1, 5, -3, 6);
  EXPECT_NEAR(specialisation_of(network)->modules[1], 1, 1e-12);
}

TEST(Specialisation, ASlotStandsForTheMemberItSelects) {
  HandMade network = hand_made("depth2", {{"model", "modular-shared-fcms"}});
  network.set_xor(0);
  network.set_constant(1, 0);
  EXPECT_NEAR(specialisation_of(network)->mean, 1, 1e-12);
  network.set_and(0);
  network.set_xor(1);
  // Member 1 serves level 2 only.
  EXPECT_NEAR(specialisation_of(network)->max, kOneBySqrt3, 1e-12);
}

TEST(Specialisation, TheBestOfSeveralOperations) {
  // A has XORs on level 1, B ORs: six modules, each in both tasks.
  HandMade network = hand_made("A+B", {{"model", "modular"}});
  for (int module = 0; module < 6; ++module) {
    network.set_constant(module, 1);
  }
  network.set_xor(1);
  network.set_or(2);
  network.set_and(3);
  const Specialisation found = *specialisation_of(network);
  ASSERT_EQ(found.modules.size(), 12U);
  EXPECT_NEAR(found.modules[1], 1, 1e-12);
  EXPECT_NEAR(found.modules[6 + 2], 1, 1e-12);
  // AND with XOR -1/sqrt(3), with OR (1/16) / (3/16).
  EXPECT_NEAR(found.modules[3], kOneBySqrt3, 1e-12);
  EXPECT_NEAR(found.mean, (2 + kOneBySqrt3) / 6, 1e-12);
}

TEST(Specialisation, NegatedInputsInEitherOrder) {
  const char* const yaml = "inputs: 2\nlevels:\n  - a: AND x0 !x1\noutputs: [a]\n";
  HandMade network = hand_made(tasks::parse_task_yaml(yaml, "t", "t.yaml"), {{"model", "modular"}});
  network.set_constant(0, 0);
  const std::size_t at = models::modular_layout(network.shape()).modules[0];
  const auto set_first_unit = [&](float first, float second) {
    network.parameters[at] = first;
    network.parameters[at + 1] = second;
    network.parameters[at + 36] = 1;
  };
  set_first_unit(1, -1);
  EXPECT_NEAR(specialisation_of(network)->mean, 1, 1e-6);
  set_first_unit(-1, 1);
  EXPECT_NEAR(specialisation_of(network)->mean, 1, 1e-6);
}

TEST(Specialisation, AValueThatIsPassedOnMayBeReadAtEitherInput) {
  const char* const yaml = "inputs: 2\nlevels:\n  - a: ID x0\n    b: XOR x0 x1\noutputs: [a, b]\n";
  HandMade network = hand_made(tasks::parse_task_yaml(yaml, "t", "t.yaml"), {{"model", "modular"}});
  network.set_xor(1);
  for (const std::size_t input : {0U, 1U}) {
    network.set_constant(0, 0);
    const std::size_t at = models::modular_layout(network.shape()).modules[0];
    network.parameters[at] = input == 0 ? 1 : 0;
    network.parameters[at + 1] = input == 1 ? 1 : 0;
    network.parameters[at + 36] = -2;
    EXPECT_NEAR(specialisation_of(network)->mean, 1, 1e-12);
  }
  // AND follows either input as well as the other: 1/8 by sqrt(1/4 * 3/16).
  network.set_and(0);
  EXPECT_NEAR(specialisation_of(network)->modules[0], kOneBySqrt3, 1e-12);
}

TEST(Specialisation, NothingWhereItMeansNothing) {
  EXPECT_FALSE(specialisation_of(hand_made("random62", {{"model", "modular"}})));
  EXPECT_FALSE(specialisation_of(hand_made("depth2", {{"model", "dense"}})));
  EXPECT_FALSE(specialisation_of(hand_made("depth2", {{"model", "modular"}, {"fan_in", "3"}, {"modules", "4,3"}})));
}

TEST(InSitu, ThePerfectNetwork) {
  HandMade network = hand_made("depth2", {{"model", "modular-fc"}});
  for (const int module : {0, 1, 2}) {
    network.set_xor(module);
  }
  network.set_and(3);
  network.set_module(4, 1, 0, -1);  // NAND
  const InSitu found = *in_situ_of(network);
  ASSERT_EQ(found.correlation.size(), 5U);
  EXPECT_NEAR(found.mean, 1, 1e-12);
  EXPECT_EQ(found.distance, 0);
  EXPECT_EQ(found.matching, (std::vector<std::vector<int>>{{0, 1, 2}, {0, 1}}));
  EXPECT_NEAR(found.correlation[0][0], 1, 1e-12);
  EXPECT_NEAR(found.correlation[0][1], 0, 1e-12);
  // a0 and a0 AND a1: covariance 1/8, variances 1/4 and 3/16. Two ANDs that share a1: 1/16 by 3/16.
  EXPECT_NEAR(found.correlation[0][3], kOneBySqrt3, 1e-12);
  EXPECT_NEAR(found.correlation[3][0], kOneBySqrt3, 1e-12);
  EXPECT_NEAR(found.correlation[4][4], -1, 1e-12);
  EXPECT_NEAR(found.correlation[3][4], 1.0 / 3, 1e-12);
}

TEST(InSitu, EqualWiringsAreMatchedByWhatTheyCompute) {
  const char* const yaml = "inputs: 2\nlevels:\n  - a0: XOR x0 x1\n    a1: AND x0 x1\n  - b: OR a0 a1\noutputs: [b]\n";
  HandMade network = hand_made(tasks::parse_task_yaml(yaml, "t", "t.yaml"), {{"model", "modular-fc"}});
  network.set_and(0);
  network.set_xor(1);
  network.set_or(2);
  InSitu found = *in_situ_of(network);
  EXPECT_EQ(found.matching, (std::vector<std::vector<int>>{{1, 0}, {0}}));
  EXPECT_NEAR(found.mean, 1, 1e-12);
  network.set_xor(0);
  network.set_and(1);
  found = *in_situ_of(network);
  EXPECT_EQ(found.matching, (std::vector<std::vector<int>>{{0, 1}, {0}}));
  // The wiring comes first, though: b's slot says nothing and is still b's.
  network.set_constant(2, 1);
  EXPECT_NEAR(in_situ_of(network)->mean, 2.0 / 3, 1e-12);
}

TEST(InSitu, SurplusSlotsAndMissingOnes) {
  HandMade network = hand_made("depth1", {{"model", "modular"}, {"modules", "5"}});
  const InSitu wide = *in_situ_of(network);
  EXPECT_EQ(wide.correlation.size(), 5U);
  EXPECT_EQ(std::ranges::count(wide.matching[0], -1), 3);
  HandMade shallow = hand_made("depth2", {{"model", "modular"}, {"modules", "3"}});
  for (const int module : {0, 1, 2}) {
    shallow.set_xor(module);
  }
  // At most 3 of the 5 gates have a slot.
  EXPECT_LE(in_situ_of(shallow)->mean, 3.0 / 5);
  HandMade deep = hand_made("depth1", {{"model", "modular"}, {"modules", "2,3"}});
  EXPECT_EQ(in_situ_of(deep)->matching[1], (std::vector<int>{-1, -1, -1}));
}

TEST(InSitu, SlotsThatServeAnotherTaskAreNoSurplus) {
  HandMade network = hand_made("A+B", {{"model", "modular-fc"}});
  EXPECT_EQ(in_situ_of(network, 0)->distance, 0);
  EXPECT_EQ(in_situ_of(network, 0)->matching, (std::vector<std::vector<int>>{{0, 1, 2, -1, -1, -1}, {0, 1, -1, -1}}));
  EXPECT_EQ(in_situ_of(network, 1)->distance, 0);
  EXPECT_EQ(in_situ_of(network, 1)->matching, (std::vector<std::vector<int>>{{-1, -1, -1, 0, 1, 2}, {-1, -1, 0, 1}}));
}

// Two tasks of two levels: one adds two bits and passes a third on, the other needs other modules.
tasks::TaskSuite passing_suite() {
  const auto task = [](const char* name, const char* levels) {
    return tasks::parse_task_yaml(std::string("inputs: 3\nlevels:\n") + levels, name, "t.yaml").tasks.front();
  };
  return {"both",
          "",
          {task("one", "  - {a: XOR x0 x1, b: AND x0 x1}\n  - {c: ID a, d: NOT b}\noutputs: [c, d]\n"),
           task("two", "  - {a: OR x1 x2, b: NOR x0 x2}\n  - {c: AND a b, d: AND a a}\noutputs: [c, d]\n")}};
}

TEST(InSitu, FreeInputsAreNoUseOfASlot) {
  for (const char* model : {"modular-fc", "modular-shared-fcms"}) {
    const HandMade network = hand_made(passing_suite(), {{"model", model}});
    for (const int task : {0, 1}) {
      EXPECT_EQ(in_situ_of(network, task)->distance, 0) << model << " " << task;
    }
  }
  // Module 1 of level 2 needs module 2 of level 1 alone and reads module 0 as well, which serves the other task.
  const HandMade own = hand_made(passing_suite(), {{"model", "modular-fc"}});
  EXPECT_EQ(in_situ_of(own, 1)->matching, (std::vector<std::vector<int>>{{-1, -1, 0, 1}, {-1, -1, 0, 1}}));
  EXPECT_EQ(measure_network(own.blueprint, own.suite, own.parameters).module_reuse, 0);
}

TEST(InSitu, AgreesWithThePlainForwardPass) {
  for (const char* model : {"modular", "modular-shared"}) {
    for (const char* task : {"depth3", "A+C"}) {
      for (const char* widths : {"12", "5,4"}) {
        const HandMade network =
            hand_made(task, {{"model", model}, {"module_widths", widths}, {"outputs_from", "all"}});
        for (int index = 0; index < static_cast<int>(network.suite.tasks.size()); ++index) {
          const models::PlainValues values =
              models::plain_forward(network.blueprint, network.parameters, network.suite, index);
          const InSitu found = *in_situ_of(network, index);
          ASSERT_EQ(found.correlation.size(), values.slots.size());
          tasks::FunctionGraph probe = *network.suite.tasks[index].graph;
          std::size_t gate_index = 0;
          for (std::size_t level = 0; level < probe.levels.size(); ++level) {
            for (std::size_t gate = 0; gate < probe.levels[level].size(); ++gate, ++gate_index) {
              probe.outputs = {{static_cast<int>(level) + 1, static_cast<int>(gate), false}};
              const tasks::TruthTable table = tasks::truth_table(probe);
              Numbers column;
              for (const std::uint32_t row : table.rows) {
                column.push_back(row);
              }
              for (std::size_t slot = 0; slot < values.slots.size(); ++slot) {
                EXPECT_NEAR(found.correlation[slot][gate_index], pearson(values.slots[slot], column), 1e-12);
              }
            }
          }
        }
      }
    }
  }
}

TEST(InSitu, NothingWhereItMeansNothing) {
  EXPECT_FALSE(in_situ_of(hand_made("random62", {{"model", "modular"}})));
  EXPECT_FALSE(in_situ_of(hand_made("depth2", {{"model", "sparse"}})));
  // Fan-in 3 has no two-input modules to look at, but its slots compute something.
  EXPECT_TRUE(in_situ_of(hand_made("depth2", {{"model", "modular"}, {"fan_in", "3"}, {"modules", "4,3"}})));
}

}  // namespace
}  // namespace modlab::measures
