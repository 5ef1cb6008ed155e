#include "methods/sculpt/unit_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "methods/sculpt/pruning.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

// The textbook, in double: what the outputs are when the units of one layer have these activations.
std::vector<double> outputs_from(const models::LayeredNetwork& network, std::size_t layer, std::vector<double> values) {
  for (; layer < network.connections.size(); ++layer) {
    const models::Connections& connections = network.connections[layer];
    std::vector<double> next(connections.bias.begin(), connections.bias.end());
    for (const models::Edge& edge : connections.edges) {
      next[edge.to] += static_cast<double>(edge.weight) * values[edge.from];
    }
    if (layer + 1 < network.connections.size()) {
      for (double& value : next) {
        value = std::max(value, 0.0);
      }
    }
    values = next;
  }
  return values;
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

class UnitScores : public testing::Test {
 protected:
  UnitScores() : suite_(tasks::load_task("sculpt/6-3-3-3")), table_(suite_.tasks.front().table) {
    network_ = unpruned_mlp({{6, 7, 5, 3}}, models::Init::kTorch, 3);
    network_ = prune_edges(network_, 20);
    layered_ = to_layered(network_);
  }

  // mean |d f / d a| |a| over all rows by central differences.
  double numeric(std::size_t layer, int unit, UnitScore score) const {
    constexpr double kStep = 1e-6;
    double sum = 0;
    for (int row = 0; row < static_cast<int>(table_.rows.size()); ++row) {
      std::vector<double> inputs;
      for (int input = 0; input < table_.inputs; ++input) {
        inputs.push_back(tasks::input_bit(table_.inputs, row, input) ? 1 : 0);
      }
      std::vector<double> values = models::unit_values(layered_, inputs)[layer];
      const double a = values[unit];
      const auto f = [&](double shift) {
        values[unit] = a + shift;
        const std::vector<double> outputs = outputs_from(layered_, layer, values);
        double total = 0;
        for (int output = 0; output < table_.outputs; ++output) {
          const double o = sigmoid(outputs[output]);
          const bool one = tasks::output_bit(table_, row, output);
          total += score == UnitScore::kOutputSensitivity ? o : -std::log(one ? o : 1 - o) / table_.outputs;
        }
        return total;
      };
      sum += std::abs((f(kStep) - f(-kStep)) / (2 * kStep) * a);
    }
    return sum / static_cast<double>(table_.rows.size());
  }

  tasks::TaskSuite suite_;
  const tasks::TruthTable& table_;
  PrunedMlp network_;
  models::LayeredNetwork layered_;
};

TEST_F(UnitScores, SensitivitiesAgreeWithCentralDifferences) {
  for (const UnitScore score : {UnitScore::kLossSensitivity, UnitScore::kOutputSensitivity}) {
    const std::vector<double> scores = unit_scores(network_, table_, {score, ScoreNorm::kNone, 0});
    ASSERT_EQ(scores.size(), 12U);
    double largest = 0;
    for (int unit = 0; unit < 12; ++unit) {
      const double expected = unit < 7 ? numeric(1, unit, score) : numeric(2, unit - 7, score);
      EXPECT_NEAR(scores[unit], expected, 1e-5 + 1e-3 * expected) << unit;
      largest = std::max(largest, expected);
    }
    EXPECT_GT(largest, 0.01);
  }
}

TEST_F(UnitScores, WeightsAreAveragedOverTheEdgesThatAreLeft) {
  const std::vector<double> scores = unit_scores(network_, table_, {UnitScore::kWeight, ScoreNorm::kNone, 0});
  double sum = 0;
  int count = 0;
  for (const models::Edge& edge : layered_.connections[0].edges) {
    if (edge.to == 2) {
      sum += std::abs(edge.weight);
      ++count;
    }
  }
  for (const models::Edge& edge : layered_.connections[1].edges) {
    if (edge.from == 2) {
      sum += std::abs(edge.weight);
      ++count;
    }
  }
  EXPECT_NEAR(scores[2], sum / count, 1e-9);
}

TEST_F(UnitScores, NormsMakeLayersComparable) {
  const auto layers = [&](ScoreNorm norm) {
    const std::vector<double> all = unit_scores(network_, table_, {UnitScore::kWeight, norm, 0});
    return std::pair(std::vector(all.begin(), all.begin() + 7), std::vector(all.begin() + 7, all.end()));
  };
  const auto sum = [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  EXPECT_NEAR(sum(layers(ScoreNorm::kSum).first), 1, 1e-9);
  EXPECT_NEAR(sum(layers(ScoreNorm::kSum).second), 1, 1e-9);
  EXPECT_NEAR(sum(layers(ScoreNorm::kMean).second), 5, 1e-9);
  EXPECT_NEAR(sum(layers(ScoreNorm::kMeanDeviation).first), 0, 1e-9);
  const double plain = layers(ScoreNorm::kNone).second[0];
  EXPECT_NEAR(layers(ScoreNorm::kUnits).second[0], plain / 5, 1e-9);
  EXPECT_NEAR(layers(ScoreNorm::kUnitsBelow).second[0], plain / 7, 1e-9);
}

// Whatever the score and the norm, what is gone is never above what is left: percentages count it.
TEST_F(UnitScores, UnitsWithoutEdgesComeLast) {
  const PrunedMlp pruned = prune_units(network_, unit_scores(network_, table_, {}), ScoreScale::kGlobal, 40);
  const auto units = used_units(pruned);
  for (const UnitScore score :
       {UnitScore::kLossSensitivity, UnitScore::kOutputSensitivity, UnitScore::kWeightActivation, UnitScore::kWeight,
        UnitScore::kActivationDeviation, UnitScore::kPathProduct, UnitScore::kRandom}) {
    for (const ScoreNorm norm : {ScoreNorm::kNone, ScoreNorm::kMeanDeviation, ScoreNorm::kSum, ScoreNorm::kDeviation}) {
      const std::vector<double> scores = unit_scores(pruned, table_, {score, norm, 5});
      const double lowest = *std::min_element(scores.begin(), scores.end());
      for (int unit = 0; unit < 12; ++unit) {
        const auto& layer = units[unit < 7 ? 1 : 2];
        if (std::find(layer.begin(), layer.end(), unit < 7 ? unit : unit - 7) == layer.end()) {
          EXPECT_EQ(scores[unit], lowest) << static_cast<int>(score) << " " << static_cast<int>(norm);
        }
      }
    }
  }
}

}  // namespace
}  // namespace modlab::methods
