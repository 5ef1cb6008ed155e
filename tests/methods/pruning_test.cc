#include "methods/sculpt/pruning.h"

#include <gtest/gtest.h>

#include <cmath>

namespace modlab::methods {
namespace {

PrunedMlp network(const std::vector<int>& widths) {
  PrunedMlp made = unpruned_mlp({widths}, models::Init::kKaiming, 7);
  for (float& bias : made.parameters) {
    bias = bias == 0 ? 0.25F : bias;
  }
  return made;
}

std::vector<double> distinct_scores(int count) {
  std::vector<double> scores;
  for (int unit = 0; unit < count; ++unit) {
    scores.push_back(1 + (unit * 7) % count);
  }
  return scores;
}

int hidden_left(const PrunedMlp& pruned) {
  const auto units = used_units(pruned);
  std::size_t left = 0;
  for (std::size_t layer = 1; layer + 1 < units.size(); ++layer) {
    left += units[layer].size();
  }
  return static_cast<int>(left);
}

TEST(Percentile, LiesBetweenNeighboursByLinearInterpolation) {
  EXPECT_DOUBLE_EQ(percentile(0, {1, 2, 4}, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(0, {1, 2, 4}, 50), 2);
  EXPECT_DOUBLE_EQ(percentile(0, {1, 2, 4}, 75), 3);
  EXPECT_DOUBLE_EQ(percentile(0, {1, 2, 4}, 100), 4);
  EXPECT_DOUBLE_EQ(percentile(2, {3, 5}, 50), 1.5);  // of 0 0 3 5
  EXPECT_DOUBLE_EQ(percentile(4, {}, 30), 0);
}

// floor(percent / 100 (n - 1)) + 1 units go where no two scores are equal.
TEST(PruneUnits, RemovesAsManyAsTheSpecSays) {
  const PrunedMlp dense = network({4, 10, 10, 3});
  for (const double percent : {5.0, 30.0, 50.0, 70.0, 94.0}) {
    const PrunedMlp pruned = prune_units(dense, distinct_scores(20), ScoreScale::kGlobal, percent);
    EXPECT_EQ(20 - hidden_left(pruned), static_cast<int>(std::floor(percent / 100 * 19)) + 1) << percent;
  }
}

TEST(PruneUnits, TakesRowColumnAndBiasAndNothingElse) {
  const PrunedMlp dense = network({3, 4, 2});
  const PrunedMlp pruned = prune_units(dense, {5, 1, 6, 7}, ScoreScale::kGlobal, 1);
  const std::vector<LayerPlace> places = layer_places(dense.shape);
  EXPECT_EQ(pruned.edge_count(), 4 * 3 + 2 * 4 - 3 - 2);
  for (int input = 0; input < 3; ++input) {
    EXPECT_EQ(pruned.parameters[places[0].weights + 1 * 3 + input], 0);
  }
  EXPECT_EQ(pruned.parameters[places[0].bias + 1], 0);
  EXPECT_EQ(pruned.parameters[places[0].bias + 0], dense.parameters[places[0].bias + 0]);
  EXPECT_EQ(pruned.parameters[places[1].weights + 1], 0);
  EXPECT_EQ(pruned.parameters[places[1].bias], dense.parameters[places[1].bias]);
}

TEST(PruneUnits, TiedScoresGoTogether) {
  const PrunedMlp pruned = prune_units(network({4, 6, 3}), {0, 0, 0, 2, 3, 4}, ScoreScale::kGlobal, 10);
  EXPECT_EQ(hidden_left(pruned), 3);
}

TEST(PruneUnits, LocalThresholdsTakeFromEveryLayer) {
  std::vector<double> scores = {1, 2, 3, 4, 101, 102, 103, 104};
  const PrunedMlp dense = network({4, 4, 4, 2});
  const auto left = [&](ScoreScale scale) {
    const auto units = used_units(prune_units(dense, scores, scale, 40));
    return std::pair(units[1].size(), units[2].size());
  };
  EXPECT_EQ(left(ScoreScale::kGlobal), std::pair(std::size_t{1}, std::size_t{4}));
  EXPECT_EQ(left(ScoreScale::kLocal), std::pair(std::size_t{2}, std::size_t{2}));
  EXPECT_EQ(left(ScoreScale::kLocalGlobal), std::pair(std::size_t{2}, std::size_t{4}));
}

TEST(PruneEdges, TheLeastStepTakesExactlyTheWeakestEdge) {
  PrunedMlp pruned = network({4, 6, 6, 3});
  const int all = pruned.weight_count();
  for (int gone = 1; gone < all; ++gone) {
    float weakest = 1e9F;
    for (const LayerPlace& place : layer_places(pruned.shape)) {
      for (std::size_t weight = place.weights; weight < place.bias; ++weight) {
        weakest = pruned.kept[weight] != 0 ? std::min(weakest, std::abs(pruned.parameters[weight])) : weakest;
      }
    }
    const PrunedMlp next = prune_edges(pruned, 100.0 * gone / all);
    ASSERT_EQ(next.edge_count(), all - gone);
    for (std::size_t at = 0; at < next.kept.size(); ++at) {
      if (pruned.kept[at] != 0 && next.kept[at] == 0 && pruned.parameters[at] != 0.25F) {
        EXPECT_EQ(std::abs(pruned.parameters[at]), weakest);
      }
    }
    pruned = next;
  }
}

TEST(PruneEdges, ABiasGoesWithTheLastIncomingEdgeAndNotBefore) {
  PrunedMlp made = network({2, 2, 1});
  const std::vector<LayerPlace> places = layer_places(made.shape);
  made.parameters[places[0].weights + 0] = 0.01F;
  made.parameters[places[0].weights + 1] = 0.02F;
  made.parameters[places[0].weights + 2] = 5;
  made.parameters[places[0].weights + 3] = 6;
  made.parameters[places[1].weights + 0] = 7;
  made.parameters[places[1].weights + 1] = 8;
  const PrunedMlp one = prune_edges(made, 10);
  EXPECT_EQ(one.edge_count(), 5);
  EXPECT_NE(one.parameters[places[0].bias], 0);
  const PrunedMlp two = prune_edges(one, 30);
  EXPECT_EQ(two.edge_count(), 4);
  EXPECT_EQ(two.parameters[places[0].bias], 0);
  // The unit still has an outgoing edge, so it still takes part.
  EXPECT_EQ(used_units(two)[1].size(), 2U);
}

TEST(IsCutOff, NoticesInputsAndOutputsWithoutAWay) {
  PrunedMlp made = network({2, 2, 2});
  EXPECT_FALSE(is_cut_off(made));
  const std::vector<LayerPlace> places = layer_places(made.shape);
  PrunedMlp no_input = made;
  no_input.kept[places[0].weights + 1] = no_input.kept[places[0].weights + 3] = 0;
  EXPECT_TRUE(is_cut_off(no_input));
  PrunedMlp no_output = made;
  no_output.kept[places[1].weights + 2] = no_output.kept[places[1].weights + 3] = 0;
  EXPECT_TRUE(is_cut_off(no_output));
}

TEST(Pack, AndUnpackLeaveTheNetworkAsItWas) {
  const PrunedMlp dense = network({4, 8, 8, 3});
  PrunedMlp pruned = prune_edges(prune_units(dense, distinct_scores(16), ScoreScale::kGlobal, 60), 80);
  const auto units = used_units(pruned);
  models::MlpShape room{{4, 9, 7, 3}};
  const PackedMlp packed = pack(pruned, units, room);
  PrunedMlp back = pruned;
  for (float& parameter : back.parameters) {
    parameter = -1;
  }
  unpack(packed.parameters, units, room, back);
  for (std::size_t at = 0; at < back.parameters.size(); ++at) {
    if (pruned.kept[at] != 0) {
      EXPECT_EQ(back.parameters[at], pruned.parameters[at]);
    }
  }
}

}  // namespace
}  // namespace modlab::methods
