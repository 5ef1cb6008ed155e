#include "measures/network_measures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measures/edit_distance.h"
#include "measures/hand_made.h"
#include "measures/specialisation.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"
#include "models/training.h"

namespace modlab::measures {
namespace {

using test::hand_made;
using test::HandMade;
using Settings = std::vector<std::pair<const char*, const char*>>;

NetworkMeasures measures_of(const HandMade& network) {
  return measure_network(network.blueprint, network.suite, network.parameters);
}

TEST(NetworkMeasures, ThePerfectNetwork) {
  HandMade network = hand_made("depth2", {{"model", "modular-shared-fcms"}});
  network.set_xor(0);
  network.set_and(1);
  NetworkMeasures found = measures_of(network);
  EXPECT_EQ(found.edit_distance, 0);
  EXPECT_NEAR(found.specialisation, 1, 1e-12);
  EXPECT_NEAR(found.specialisation_max, 1, 1e-12);
  EXPECT_NEAR(found.in_situ, 1, 1e-12);
  EXPECT_TRUE(std::isnan(found.module_reuse)) << "one task has nothing to share";
  // Level 2 says nothing: two gates of five are lost.
  network.set_constant(1, 0);
  found = measures_of(network);
  EXPECT_NEAR(found.in_situ, 0.6, 1e-12);
  EXPECT_NEAR(found.specialisation, 1, 1e-12);
}

TEST(NetworkMeasures, NotANumberWhereItMeansNothing) {
  for (const HandMade& network :
       {hand_made("depth2", {{"model", "dense"}}), hand_made("random62", {{"model", "modular"}})}) {
    const NetworkMeasures found = measures_of(network);
    for (const double value :
         {found.edit_distance, found.specialisation, found.specialisation_max, found.in_situ, found.module_reuse}) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(NetworkMeasures, ModulesThatSeveralTasksUse) {
  // Level 1: A uses modules 0,1,2, B 3,4,5, C 3,2,0,4. Level 2: two of their own each.
  EXPECT_DOUBLE_EQ(measures_of(hand_made("A+B+C", {{"model", "modular-fc"}})).module_reuse, 4.0 / 12);
  EXPECT_DOUBLE_EQ(measures_of(hand_made("A+B", {{"model", "modular-fc"}})).module_reuse, 0);
  // XOR, OR and AND: A and B share only AND. A and C share XOR and AND; only C uses OR.
  EXPECT_DOUBLE_EQ(measures_of(hand_made("A+B", {{"model", "modular-shared-fcms"}})).module_reuse, 1.0 / 3);
  EXPECT_DOUBLE_EQ(measures_of(hand_made("A+C", {{"model", "modular-shared-fcms"}})).module_reuse, 2.0 / 3);
}

TEST(NetworkMeasures, MeansOverTasks) {
  HandMade network = hand_made("A+C", {{"model", "modular"}});
  const NetworkMeasures found = measures_of(network);
  const InSitu first = *in_situ_correlation(network.blueprint, network.suite, 0, network.parameters);
  const InSitu second = *in_situ_correlation(network.blueprint, network.suite, 1, network.parameters);
  EXPECT_DOUBLE_EQ(found.edit_distance, (first.distance + second.distance) / 2.0);
  EXPECT_DOUBLE_EQ(found.in_situ, (first.mean + second.mean) / 2.0);
  EXPECT_GT(found.edit_distance, 0);
}

TEST(NetworkMeasures, ADivergedNetworkIsMeasuredAllTheSame) {
  HandMade network = hand_made("depth3", {{"model", "modular-shared"}});
  std::ranges::fill(network.parameters, std::nanf(""));
  const NetworkMeasures found = measures_of(network);
  EXPECT_GT(found.edit_distance, 0);
  EXPECT_EQ(found.specialisation, 0);
  EXPECT_EQ(found.in_situ, 0);
}

// With the true numbers of modules, a network of depth 1 or 2 that is right on all 64 rows must have the true
// wiring.
TEST(NetworkMeasures, PerfectTrainedNetworksHaveTheTrueWiring) {
  for (const Settings& settings :
       {Settings{{"task", "depth1"}, {"model", "modular"}}, Settings{{"task", "depth1"}, {"model", "modular-shared"}},
        Settings{{"task", "depth2"}, {"model", "modular"}},
        Settings{{"task", "depth2"}, {"model", "modular-shared"}}}) {
    Settings with_ratio = settings;
    with_ratio.emplace_back("ratio", "0.9");
    const test::Trained trained = test::train_seeds(with_ratio, 96);
    int perfect = 0;
    int imperfect_and_wrong = 0;
    for (std::size_t run = 0; run < trained.results.size(); ++run) {
      const models::Blueprint& blueprint = trained.blueprint_of(run);
      const tasks::TaskSuite& suite = trained.plan.suite_of(trained.plan.runs[run]);
      const std::vector<float>& parameters = trained.results[run].last.parameters;
      const double accuracy =
          models::bit_accuracy(models::plain_forward(blueprint, parameters, suite, 0), suite.tasks[0].table);
      const NetworkMeasures found = measure_network(blueprint, suite, parameters);
      if (accuracy == 1) {
        EXPECT_EQ(found.edit_distance, 0) << settings[0].second << " " << settings[1].second << " seed " << run;
        ++perfect;
      } else {
        imperfect_and_wrong += found.edit_distance > 0 ? 1 : 0;
      }
      const tasks::Routing learned =
          models::learned_routing(std::get<models::ModularShape>(blueprint.shape), parameters).front();
      ASSERT_EQ(found.edit_distance, edit_distance(learned, *suite.tasks[0].graph).distance);
    }
    EXPECT_GE(perfect, 2) << settings[0].second << " " << settings[1].second;
    EXPECT_GE(imperfect_and_wrong, 2);
  }
}

}  // namespace
}  // namespace modlab::measures
