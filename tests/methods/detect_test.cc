#include "methods/detect/detect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/errors.h"
#include "methods/small_networks.h"

namespace modlab::methods {
namespace {

using models::LayeredNetwork;
using test::full_network;
using test::kBoth;
using test::kLevels;
using test::kNone;
using test::kOverlapOne;
using test::kOverlapThree;
using test::kReused;
using test::kSeparable;
using test::small_network;

using Layers = std::vector<std::vector<int>>;

void expect_index(const LayerDecision& decision, const std::vector<double>& expected, double tolerance = 5e-9) {
  ASSERT_EQ(decision.index.size(), expected.size());
  for (std::size_t place = 0; place < expected.size(); ++place) {
    EXPECT_NEAR(decision.index[place], expected[place], tolerance) << place + 2 << " clusters";
  }
}

void expect_tests(const LayerDecision& decision, double z_separate, double z_single, std::optional<Verdict> verdict) {
  EXPECT_NEAR(decision.z_separate, z_separate, 5e-5);
  EXPECT_NEAR(decision.z_single, z_single, 5e-5);
  EXPECT_EQ(decision.verdict, verdict);
}

TEST(Detect, SeparableInputs) {
  const Detection detection = detect(kSeparable, {});
  EXPECT_EQ(detection.modules, (Layers{{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 1, 0, 0}}));
  EXPECT_EQ(detection.module_count, 2);
  for (const LayerDecision& decision : detection.decisions) {
    expect_index(decision, {-0.5, -0.375});
    EXPECT_TRUE(decision.consulted);
    EXPECT_EQ(decision.clusters, 2);
  }
  expect_tests(detection.decisions[0], -1.63299, -1.63299, std::nullopt);
  expect_tests(detection.decisions[1], -1.15470, -1.15470, std::nullopt);
}

TEST(Detect, SeparableAndReused) {
  const Detection detection = detect(kBoth, {});
  EXPECT_EQ(detection.modules, (Layers{{2, 2, 1, 1, 0, 0}, {1, 0, 2}, {3, 4, 5}}));
  expect_index(detection.decisions[0], {-.22222222, -.33333333, -.27777778, -.22222222});
  EXPECT_EQ(detection.decisions[0].clusters, 3);
  EXPECT_FALSE(detection.decisions[0].consulted);
  expect_index(detection.decisions[1], {-.22222222});
  expect_tests(detection.decisions[1], .3873, 0, Verdict::kAll);
  EXPECT_TRUE(detection.decisions[1].separate && detection.decisions[1].single);
  EXPECT_EQ(detection.decisions[1].clusters, 3);
}

TEST(Detect, WhatIsWiredAllToAllIsOneModule) {
  const Detection detection = detect(kNone, {});
  EXPECT_EQ(detection.modules, (Layers{{0, 0, 0, 0}, {0, 0}, {0}, {0, 0, 0, 0}}));
  // Figure 40: the metric sees no structure, whatever rounding leaves of the distances.
  expect_index(detection.decisions[0], {0, 0}, 0);
  expect_tests(detection.decisions[0], 0, 0, Verdict::kOne);
  expect_tests(detection.decisions[1], 0, 0, Verdict::kOne);
}

TEST(Detect, ReusedFunction) {
  const Detection detection = detect(kReused, {});
  std::vector<int> outputs;
  for (int output = 0; output < 16; ++output) {
    outputs.push_back(output % 2 == 0 ? 1 : 2);
  }
  EXPECT_EQ(detection.modules, (Layers{{0, 0, 0, 0}, {0, 0, 0}, {0, 0}, {1, 2}, outputs}));
  expect_index(detection.decisions[0], {-.36971763, -.35670346});
  expect_tests(detection.decisions[0], -1.0225, 0, Verdict::kOne);
  expect_index(detection.decisions[1], {-.46266455});
  expect_tests(detection.decisions[1], 0, 0, Verdict::kOne);
  expect_tests(detection.decisions[2], 0, 0, Verdict::kOne);
  EXPECT_NEAR(detection.decisions[3].z_separate, 2.3094, 5e-5);
  EXPECT_EQ(detection.decisions[3].verdict, Verdict::kAll);
}

TEST(Detect, ThreeLevels) {
  const Detection detection = detect(kLevels, {});
  EXPECT_EQ(detection.modules, (Layers{{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 0, 1}, {2, 2}, {3, 4}, {3, 4, 3, 4}}));
  expect_index(detection.decisions[0], {-.39467383, -.33440171, -.28040986, -.22268517, -.19382282, -.15955663});
  expect_tests(detection.decisions[0], -1.5374, -.5131, std::nullopt);
  EXPECT_EQ(detection.decisions[0].clusters, 2);
  EXPECT_EQ(detection.decisions[1].clusters, 2);
  EXPECT_EQ(detection.decisions[2].verdict, Verdict::kOne);
  EXPECT_EQ(detection.decisions[3].verdict, Verdict::kAll);
}

TEST(Detect, SharedInput) {
  const Detection detection = detect(kOverlapOne, {});
  EXPECT_EQ(detection.modules, (Layers{{1, 1, 1, 2, 0, 0, 0}, {3, 3, 4}, {4, 3, 4}, {4, 3}}));
  expect_index(detection.decisions[0], {-.39839448, -.40343135, -.3262202, -.27873571, -.19104726});
  EXPECT_EQ(detection.decisions[0].clusters, 3);
  EXPECT_FALSE(detection.decisions[0].consulted);
}

TEST(Detect, ThreeSharedInputs) {
  const Detection detection = detect(kOverlapThree, {});
  EXPECT_EQ(detection.modules, (Layers{{2, 0, 0, 0, 1}, {3, 3, 4}, {5, 6, 5}, {6, 5}}));
  expect_index(detection.decisions[0], {-.34232366, -.34668644, -.29653298});
  EXPECT_EQ(detection.decisions[0].clusters, 3);
}

// Figure 39: six inputs in three pairs, then three layers of three units.
TEST(Detect, TheMetricOfFigure39) {
  const LayeredNetwork network = small_network(
      {6, 3, 3, 3, 3}, {"0>0 1>0 2>1 3>1 4>2 5>2", "0>0 1>1 2>2", "0>0 1>1 2>2", "0>0 0>1 1>0 1>2 2>1 2>2"});
  const Detection detection = detect(network, {});
  expect_index(detection.decisions[0], {-.22, -.33, -.28, -.22}, .005);
  for (std::size_t layer = 1; layer < 4; ++layer) {
    expect_index(detection.decisions[layer], {-.22}, .005);
  }
}

// Figure 38: three units, of which two are alike.
TEST(Detect, TheMetricOfFigure38) {
  const Detection detection = detect(small_network({3, 2}, {"0>0 1>0 2>1"}), {});
  expect_index(detection.decisions[0], {-.5});
}

TEST(Detect, TwoUnitsAreAlwaysPutToTheTests) {
  for (const bool apart : {true, false}) {
    const LayeredNetwork network = apart ? small_network({2, 2}, {"0>0 1>1"}) : full_network({2, 2});
    const LayerDecision decision = detect(network, {}).decisions[0];
    EXPECT_EQ(decision.clusters_by_index, 2);
    EXPECT_TRUE(decision.consulted);
    EXPECT_EQ(decision.clusters, apart ? 2 : 1);
    EXPECT_EQ(decision.verdict, apart ? Verdict::kAll : Verdict::kOne);
  }
}

TEST(Detect, DeadUnitsAreDropped) {
  // Input 1 is not read, unit 1 not fed, unit 2 read by nobody, and unit 3 by output 1 alone.
  const LayeredNetwork network = small_network({3, 4, 2}, {"0>0 2>0 2>2 2>3", "0>0 1>0 3>1"});
  EXPECT_EQ(live_units(network), (Layers{{0, 2}, {0, 3}, {0, 1}}));
}

TEST(Detect, DeathSpreadsAlongChains) {
  const LayeredNetwork network = small_network({2, 2, 2, 1}, {"0>0 1>1", "0>0 1>1", "0>0"});
  EXPECT_EQ(live_units(network), (Layers{{0}, {0}, {0}, {0}}));
}

TEST(Detect, AnEmptyHiddenLayerLeavesOutputsAlone) {
  const LayeredNetwork network = small_network({3, 2, 2, 3}, {"0>0 1>1 2>1", "0>0", "1>2"});
  const Detection detection = detect(network, {});
  EXPECT_EQ(detection.live, (Layers{{}, {}, {}, {0, 1, 2}}));
  EXPECT_EQ(detection.modules, (Layers{{}, {}, {}, {0, 1, 2}}));
  EXPECT_EQ(detection.module_count, 3);
  EXPECT_EQ(hierarchy(network, detection).modules.size(), 3);
}

TEST(Detect, OutputsWithoutEdgesAreModulesOfTheirOwn) {
  const LayeredNetwork network = small_network({2, 1, 3}, {"0>0 1>0", "0>1"});
  const Detection detection = detect(network, {});
  EXPECT_EQ(detection.modules, (Layers{{0, 0}, {0}, {1, 0, 2}}));
  EXPECT_EQ(detection.joins[1].module, -1);
  EXPECT_FALSE(detection.joins[1].joined);
}

TEST(Detect, LayersOfOneUnit) {
  const Detection detection = detect(small_network({1, 1, 1}, {"0>0", "0>0"}), {});
  EXPECT_EQ(detection.modules, (Layers{{0}, {0}, {0}}));
  EXPECT_EQ(detection.decisions[0].clusters, 1);
  EXPECT_FALSE(detection.decisions[0].consulted);
}

TEST(Detect, NoHiddenLayer) {
  const Detection detection = detect(small_network({4, 2}, {"0>0 1>0 2>1 3>1"}), {});
  EXPECT_EQ(detection.clusters[0][0], detection.clusters[0][1]);
  EXPECT_EQ(detection.modules[0][0], detection.modules[1][0]);
  EXPECT_EQ(detection.modules[0][2], detection.modules[1][1]);
  EXPECT_EQ(detection.module_count, 2);
}

// A layer of ten units, of which one has an edge to the other side: nine tenths of the edges stay within.
LayeredNetwork nine_tenths() {
  std::string edges;
  for (int unit = 0; unit < 10; ++unit) {
    edges += std::to_string(unit) + ">" + (unit == 0 ? "1 " : "0 ");
    edges += std::to_string(unit + 10) + ">1 ";
  }
  // Outputs 2 and 3 tell the two halves apart.
  for (int unit = 0; unit < 10; ++unit) {
    edges += std::to_string(unit) + ">2 " + std::to_string(unit + 10) + ">3 ";
  }
  return small_network({20, 4}, {edges});
}

TEST(Detect, MergesBeyondTheShareOnly) {
  const LayeredNetwork network = nine_tenths();
  Detection detection = detect(network, {});
  // 10 of output 1's 11 edges come from the second half: more than 0.9.
  const int second_half = detection.modules[0][19];
  EXPECT_EQ(detection.modules[1][1], second_half);
  EXPECT_NEAR(detection.joins[1].cluster_share, 10.0 / 11, 1e-12);
  DetectSettings settings;
  settings.merging = 10.0 / 11;
  detection = detect(network, settings);
  EXPECT_NE(detection.modules[1][1], second_half);
  settings.merge_at_equal = true;
  detection = detect(network, settings);
  EXPECT_EQ(detection.modules[1][1], second_half);
}

TEST(Detect, AHiddenClusterNeedsBothShares) {
  // All edges of each hidden unit come from the inputs' one module, but half of its edges go to each.
  const LayeredNetwork network = small_network({2, 2, 2}, {"0>0 0>1 1>0 1>1", "0>0 1>1"});
  const Detection detection = detect(network, {});
  EXPECT_EQ(detection.modules, (Layers{{0, 0}, {1, 2}, {1, 2}}));
  EXPECT_EQ(detection.joins[0].cluster_share, 1);
  EXPECT_EQ(detection.joins[0].module_share, 0.5);
  // Outputs need their own edges only.
  EXPECT_EQ(detect(small_network({2, 2}, {"0>0 0>1 1>0 1>1"}), {}).modules, (Layers{{0, 0}, {0, 0}}));
}

TEST(Detect, BelowAHalfTheLowestModuleTakesAll) {
  DetectSettings settings;
  settings.merging = 0.4;
  const LayeredNetwork network = small_network({2, 1, 3}, {"0>0 1>0", "0>0 0>1 0>2"});
  EXPECT_EQ(detect(network, settings).modules, (Layers{{0, 0}, {0}, {0, 0, 0}}));
  // Output 0 has half of its edges from each input.
  const Detection detection = detect(small_network({2, 3}, {"0>0 1>0 0>1 1>2"}), settings);
  EXPECT_NE(detection.modules[0][0], detection.modules[0][1]);
  EXPECT_EQ(detection.modules[1][0], 0);
}

// [layer][unit]: its new number.
LayeredNetwork renumbered(const LayeredNetwork& network, const Layers& numbers) {
  LayeredNetwork other = network;
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    for (models::Edge& edge : other.connections[layer].edges) {
      edge.from = numbers[layer][edge.from];
      edge.to = numbers[layer + 1][edge.to];
    }
  }
  return models::checked(other, "renumbered");
}

std::vector<int> by_first_appearance(const std::vector<int>& labels) {
  std::map<int, int> names;
  std::vector<int> named;
  for (const int label : labels) {
    named.push_back(names.emplace(label, static_cast<int>(names.size())).first->second);
  }
  return named;
}

TEST(Detect, TheOrderOfUnitsDoesNotMatter) {
  for (const LayeredNetwork& network : {kSeparable, kBoth, kNone, kReused, kLevels, kOverlapOne, kOverlapThree}) {
    const Detection detection = detect(network, {});
    for (int shift = 1; shift < 4; ++shift) {
      Layers numbers;
      for (const int width : network.widths) {
        std::vector<int>& layer = numbers.emplace_back();
        for (int unit = 0; unit < width; ++unit) {
          // Backwards, and turned.
          layer.push_back((2 * width - 1 - unit + shift) % width);
        }
      }
      const Detection other = detect(renumbered(network, numbers), {});
      std::vector<int> labels;
      std::vector<int> other_labels;
      for (std::size_t layer = 0; layer < numbers.size(); ++layer) {
        for (std::size_t unit = 0; unit < numbers[layer].size(); ++unit) {
          labels.push_back(detection.modules[layer][unit]);
          other_labels.push_back(other.modules[layer][numbers[layer][unit]]);
        }
      }
      EXPECT_EQ(by_first_appearance(labels), by_first_appearance(other_labels));
    }
  }
}

TEST(Detect, ADeadUnitChangesNothing) {
  for (const LayeredNetwork& network : {kBoth, kReused, kLevels, kOverlapThree}) {
    const Detection detection = detect(network, {});
    LayeredNetwork larger = network;
    // In front of all others of the first hidden layer; it reads input 0, and nobody reads it.
    ++larger.widths[1];
    for (models::Edge& edge : larger.connections[0].edges) {
      ++edge.to;
    }
    for (models::Edge& edge : larger.connections[1].edges) {
      ++edge.from;
    }
    larger.connections[0].edges.push_back({0, 0, 1});
    larger.connections[0].bias.clear();
    const Detection other = detect(models::checked(larger, "larger"), {});
    EXPECT_EQ(other.clusters, detection.clusters);
    EXPECT_EQ(other.modules, detection.modules);
    EXPECT_EQ(other.live[1].front(), 1);
    for (std::size_t layer = 0; layer < detection.decisions.size(); ++layer) {
      EXPECT_EQ(other.decisions[layer].index, detection.decisions[layer].index);
      EXPECT_EQ(other.decisions[layer].z_single, detection.decisions[layer].z_single);
    }
  }
}

TEST(Detect, HopsLimitWhatAFeatureSees) {
  const LayeredNetwork network = small_network({2, 3, 2}, {"0>0 0>2 1>1 1>2", "0>0 1>1 2>0 2>1"});
  DetectSettings settings;
  // Each input reaches four of five, and three of them are shared: 3 - 16/5, in deviations.
  EXPECT_NEAR(detect(network, settings).decisions[0].z_single, (3 - 16.0 / 5) / std::sqrt(16.0 / 5 * (1 - 16.0 / 25)),
              1e-12);
  settings.hops = 1;
  // Two of three, and one is shared.
  EXPECT_NEAR(detect(network, settings).decisions[0].z_single, (1 - 4.0 / 3) / std::sqrt(4.0 / 3 * (1 - 4.0 / 9)),
              1e-12);
}

TEST(Detect, IncomingFeaturesGroupUnitsByWhatFeedsThem) {
  // Hidden units 0 and 1 read the same inputs and feed different outputs.
  const LayeredNetwork network = small_network({4, 4, 4}, {"0>0 1>0 0>1 1>1 2>2 3>2 2>3 3>3", "0>0 1>1 2>2 3>3"});
  DetectSettings settings;
  EXPECT_EQ(detect(network, settings).decisions[1].clusters, 4);
  settings.direction = Direction::kIncoming;
  const Detection detection = detect(network, settings);
  EXPECT_EQ(by_first_appearance(detection.clusters[1]), (std::vector<int>{0, 0, 1, 1}));
  // Nothing feeds inputs: they are all alike.
  EXPECT_EQ(detection.decisions[0].clusters, 1);
  EXPECT_EQ(detection.decisions[0].verdict, Verdict::kOne);
  settings.direction = Direction::kBoth;
  EXPECT_EQ(by_first_appearance(detect(network, settings).clusters[0]), (std::vector<int>{0, 0, 1, 1}));
}

TEST(Detect, WeightsTellUnitsApartThatReachTheSame) {
  LayeredNetwork network = full_network({4, 2});
  const std::vector<float> weights = {9, 1, 8, -1, 1, 9, -1, 8};
  // Inputs 0 and 2 feed output 0 mostly, 1 and 3 output 1.
  for (models::Edge& edge : network.connections[0].edges) {
    edge.weight = weights[edge.to * 4 + edge.from];
  }
  EXPECT_EQ(detect(network, {}).decisions[0].index, (std::vector<double>{0, 0}));
  DetectSettings settings;
  settings.weighted = true;
  for (const Distance distance : {Distance::kCosine, Distance::kJaccard, Distance::kEuclidean}) {
    settings.distance = distance;
    const LayerDecision decision = detect(network, settings).decisions[0];
    EXPECT_EQ(decision.clusters_by_index, 2);
    EXPECT_LT(decision.index[0], -0.4);
  }
}

TEST(Detect, EverySettingTakesEveryShape) {
  const std::vector<LayeredNetwork> networks = {
      small_network({1, 1}, {"0>0"}), small_network({2, 1, 1}, {"0>0 1>0", ""}),
      small_network({3, 2, 2}, {"0>0 1>1 2>1", "0>0 1>0"}), full_network({3, 1, 3, 1}), kOverlapThree};
  for (const LayeredNetwork& network : networks) {
    for (const std::string& direction : methods::choice_names<Direction>()) {
      for (const std::string& distance : methods::choice_names<Distance>()) {
        for (const std::string& index : methods::choice_names<ClusterIndex>()) {
          for (const int hops : {0, 1, 99}) {
            for (const bool weighted : {false, true}) {
              DetectSettings settings;
              settings.direction = methods::read_choice<Direction>("direction", direction);
              settings.distance = methods::read_choice<Distance>("distance", distance);
              settings.index = methods::read_choice<ClusterIndex>("index", index);
              settings.linkage = distance == "euclidean" ? Linkage::kWard : Linkage::kComplete;
              settings.hops = hops;
              settings.weighted = weighted;
              const Detection detection = detect(network, settings);
              int largest = -1;
              for (std::size_t layer = 0; layer < detection.live.size(); ++layer) {
                ASSERT_EQ(detection.modules[layer].size(), detection.live[layer].size());
                for (const int module : detection.modules[layer]) {
                  largest = std::max(largest, module);
                }
              }
              EXPECT_EQ(largest + 1, detection.module_count);
            }
          }
        }
      }
    }
  }
}

std::string message_of(const DetectSettings& settings) {
  try {
    detect(kBoth, settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Detect, RefusesSettingsThatMeanNothing) {
  DetectSettings settings;
  settings.linkage = Linkage::kWard;
  EXPECT_EQ(message_of(settings),
            "ward linkage is defined for euclidean distance only; choose that, or another linkage");
  settings = {};
  settings.hops = -1;
  EXPECT_EQ(message_of(settings), "the number of hops must not be negative; 0 looks at all layers");
  settings = {};
  settings.merging = 1.5;
  EXPECT_EQ(message_of(settings), "the merging threshold must be a share of edges, from 0 to 1");
  settings = {};
  settings.weighted = true;
  EXPECT_EQ(message_of(settings), "");
  LayeredNetwork network = full_network({2, 1, 1, 1, 1, 1, 1});
  for (models::Connections& connections : network.connections) {
    for (models::Edge& edge : connections.edges) {
      edge.weight = 1e38F;
    }
  }
  EXPECT_THROW(detect(network, settings), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
