#include "methods/sculpt/unit_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "engine/kernels/kernels.h"

namespace modlab::methods {
namespace {

// Values of a layer's used units on all rows, [unit][row].
class UnitRows {
 public:
  UnitRows() = default;
  UnitRows(std::size_t units, std::size_t rows) : rows_(rows), values_(units * rows) {}

  float* unit(std::size_t index) { return values_.data() + index * rows_; }
  const float* unit(std::size_t index) const { return values_.data() + index * rows_; }

 private:
  std::size_t rows_ = 0;
  std::vector<float> values_;
};

// One network on a whole truth table. Only edges that are there are multiplied, for all rows at once; here and in the
// kernels no function of the C library takes part, so scores are the same on every machine.
class TablePass {
 public:
  TablePass(const PrunedMlp& network, const tasks::TruthTable& table)
      : network_(network),
        table_(table),
        places_(layer_places(network.shape)),
        units_(used_units(network)),
        rows_(table.rows.size()) {
    for (const std::vector<int>& units : units_) {
      values_.emplace_back(units.size(), rows_);
    }
    for (int input = 0; input < table.inputs; ++input) {
      for (std::size_t row = 0; row < rows_; ++row) {
        values_[0].unit(input)[row] = tasks::input_bit(table.inputs, static_cast<int>(row), input) ? 1.0F : 0.0F;
      }
    }
    for (std::size_t layer = 0; layer < places_.size(); ++layer) {
      forward(layer);
    }
  }

  const std::vector<std::vector<int>>& units() const { return units_; }
  std::size_t rows() const { return rows_; }
  const UnitRows& values(std::size_t layer) const { return values_[layer]; }

  // dL/da of every layer's units, where L is each row's loss, or the sum of its outputs.
  std::vector<UnitRows> sensitivities(UnitScore score) {
    std::vector<UnitRows> d(units_.size());
    d.back() = score == UnitScore::kLossSensitivity ? loss_gradient() : output_slope();
    for (std::size_t layer = places_.size() - 1; layer > 0; --layer) {
      d[layer] = UnitRows(units_[layer].size(), rows_);
      for_each_edge(layer, [&](std::size_t from, std::size_t to, float weight) {
        add_product(weight, d[layer + 1].unit(to), d[layer].unit(from));
      });
      // Where the ReLU is at zero the score is zero too, so one gradient serves it and the layers below.
      behind_relu(layer, d[layer]);
    }
    return d;
  }

 private:
  template <typename Visit>
  void for_each_edge(std::size_t layer, Visit visit) const {
    const LayerPlace& place = places_[layer];
    for (std::size_t to = 0; to < units_[layer + 1].size(); ++to) {
      const std::size_t row = place.weights + static_cast<std::size_t>(units_[layer + 1][to]) * place.in;
      for (std::size_t from = 0; from < units_[layer].size(); ++from) {
        const std::size_t weight = row + units_[layer][from];
        if (network_.kept[weight] != 0) {
          visit(from, to, network_.parameters[weight]);
        }
      }
    }
  }

  void add_product(float factor, const float* from, float* to) const {
    for (std::size_t row = 0; row < rows_; ++row) {
      to[row] += factor * from[row];
    }
  }

  void forward(std::size_t layer) {
    UnitRows& y = values_[layer + 1];
    for (std::size_t to = 0; to < units_[layer + 1].size(); ++to) {
      std::fill_n(y.unit(to), rows_, network_.parameters[places_[layer].bias + units_[layer + 1][to]]);
    }
    for_each_edge(layer, [&](std::size_t from, std::size_t to, float weight) {
      add_product(weight, values_[layer].unit(from), y.unit(to));
    });
    if (layer + 1 == places_.size()) {
      return;
    }
    for (std::size_t to = 0; to < units_[layer + 1].size(); ++to) {
      for (std::size_t row = 0; row < rows_; ++row) {
        y.unit(to)[row] = std::max(y.unit(to)[row], 0.0F);
      }
    }
  }

  void behind_relu(std::size_t layer, UnitRows& d) const {
    for (std::size_t unit = 0; unit < units_[layer].size(); ++unit) {
      const float* a = values_[layer].unit(unit);
      float* gradient = d.unit(unit);
      for (std::size_t row = 0; row < rows_; ++row) {
        gradient[row] = a[row] > 0 ? gradient[row] : 0.0F;
      }
    }
  }

  // Sigmoid of the outputs less `targets`, times `scale`.
  UnitRows error(const UnitRows& targets, float scale) {
    const auto outputs = static_cast<int>(units_.back().size());
    UnitRows d(outputs, rows_);
    engine::kernels_for("scalar").loss_gradient({.z = {values_.back().unit(0), rows_},
                                                 .targets = {targets.unit(0), rows_},
                                                 .d = {d.unit(0), rows_},
                                                 .scale = scale,
                                                 .loss = nullptr,
                                                 .kind = engine::LossKind::kBce,
                                                 .rows = static_cast<int>(rows_),
                                                 .outputs = outputs});
    return d;
  }

  UnitRows loss_gradient() {
    UnitRows targets(table_.outputs, rows_);
    for (int output = 0; output < table_.outputs; ++output) {
      for (std::size_t row = 0; row < rows_; ++row) {
        targets.unit(output)[row] = tasks::output_bit(table_, static_cast<int>(row), output) ? 1.0F : 0.0F;
      }
    }
    return error(targets, 1.0F / static_cast<float>(table_.outputs));
  }

  UnitRows output_slope() {
    UnitRows slope = error(UnitRows(table_.outputs, rows_), 1.0F);
    for (int output = 0; output < table_.outputs; ++output) {
      for (std::size_t row = 0; row < rows_; ++row) {
        float& value = slope.unit(output)[row];
        value *= 1.0F - value;
      }
    }
    return slope;
  }

  const PrunedMlp& network_;
  const tasks::TruthTable& table_;
  std::vector<LayerPlace> places_;
  std::vector<std::vector<int>> units_;
  std::size_t rows_;
  std::vector<UnitRows> values_;  // of each layer; logits at the top
};

// |w| of all edges into and out of a unit.
struct UnitEdges {
  std::vector<double> in;
  std::vector<double> out;
};

// [hidden layer][unit].
std::vector<std::vector<UnitEdges>> edges_of_units(const PrunedMlp& network) {
  const std::vector<LayerPlace> places = layer_places(network.shape);
  std::vector<std::vector<UnitEdges>> units;
  for (const int width : network.shape.widths) {
    units.emplace_back(width);
  }
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    std::size_t weight = places[layer].weights;
    for (int to = 0; to < places[layer].out; ++to) {
      for (int from = 0; from < places[layer].in; ++from, ++weight) {
        if (network.kept[weight] != 0) {
          const double magnitude = std::abs(static_cast<double>(network.parameters[weight]));
          units[layer + 1][to].in.push_back(magnitude);
          units[layer][from].out.push_back(magnitude);
        }
      }
    }
  }
  return {units.begin() + 1, units.end() - 1};
}

double mean(const std::vector<double>& numbers) {
  return numbers.empty() ? 0
                         : std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double deviation(const std::vector<double>& numbers) {
  const double middle = mean(numbers);
  double sum = 0;
  for (const double number : numbers) {
    sum += (number - middle) * (number - middle);
  }
  return numbers.empty() ? 0 : std::sqrt(sum / static_cast<double>(numbers.size()));
}

// Sums over all paths from the inputs to a unit, times those from it to the outputs.
std::vector<std::vector<double>> path_products(const PrunedMlp& network) {
  const std::vector<LayerPlace> places = layer_places(network.shape);
  const auto for_each_edge = [&](std::size_t layer, auto visit) {
    std::size_t weight = places[layer].weights;
    for (int to = 0; to < places[layer].out; ++to) {
      for (int from = 0; from < places[layer].in; ++from, ++weight) {
        visit(from, to, std::abs(static_cast<double>(network.parameters[weight])));
      }
    }
  };
  std::vector<std::vector<double>> below;
  std::vector<std::vector<double>> above;
  for (const int width : network.shape.widths) {
    below.emplace_back(width);
    above.emplace_back(width);
  }
  std::ranges::fill(below.front(), 1.0);
  std::ranges::fill(above.back(), 1.0);
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    for_each_edge(layer, [&](int from, int to, double weight) { below[layer + 1][to] += weight * below[layer][from]; });
  }
  for (std::size_t layer = places.size(); layer-- > 0;) {
    for_each_edge(layer, [&](int from, int to, double weight) { above[layer][from] += weight * above[layer + 1][to]; });
  }
  std::vector<std::vector<double>> products(below.begin() + 1, below.end() - 1);
  for (std::size_t layer = 0; layer < products.size(); ++layer) {
    for (std::size_t unit = 0; unit < products[layer].size(); ++unit) {
      products[layer][unit] *= above[layer + 1][unit];
    }
  }
  return products;
}

using LayerScores = std::vector<std::vector<double>>;  // [hidden layer][unit]

LayerScores zero_scores(const PrunedMlp& network) {
  LayerScores scores;
  for (std::size_t layer = 1; layer + 1 < network.shape.widths.size(); ++layer) {
    scores.emplace_back(network.shape.widths[layer]);
  }
  return scores;
}

// Scores that are a number for each row and unit, averaged over rows.
LayerScores sensitivity_scores(const PrunedMlp& network, TablePass& pass, UnitScore score) {
  const std::vector<UnitRows> d = pass.sensitivities(score);
  LayerScores scores = zero_scores(network);
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    const std::vector<int>& units = pass.units()[layer + 1];
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      double sum = 0;
      for (std::size_t row = 0; row < pass.rows(); ++row) {
        sum += std::abs(static_cast<double>(d[layer + 1].unit(unit)[row]) * pass.values(layer + 1).unit(unit)[row]);
      }
      scores[layer][units[unit]] = sum / static_cast<double>(pass.rows());
    }
  }
  return scores;
}

LayerScores activation_scores(const PrunedMlp& network, const TablePass& pass, UnitScore score) {
  LayerScores scores = zero_scores(network);
  const std::vector<std::vector<UnitEdges>> edges = edges_of_units(network);
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    const std::vector<int>& units = pass.units()[layer + 1];
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const float* a = pass.values(layer + 1).unit(unit);
      const std::vector<double> activations(a, a + pass.rows());
      scores[layer][units[unit]] = score == UnitScore::kActivationDeviation
                                       ? deviation(activations)
                                       : mean(edges[layer][units[unit]].out) * mean(activations);
    }
  }
  return scores;
}

LayerScores weight_scores(const PrunedMlp& network) {
  LayerScores scores = zero_scores(network);
  const std::vector<std::vector<UnitEdges>> edges = edges_of_units(network);
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    for (std::size_t unit = 0; unit < scores[layer].size(); ++unit) {
      std::vector<double> all = edges[layer][unit].in;
      all.insert(all.end(), edges[layer][unit].out.begin(), edges[layer][unit].out.end());
      scores[layer][unit] = mean(all);
    }
  }
  return scores;
}

LayerScores random_scores(const PrunedMlp& network, std::uint64_t seed) {
  LayerScores scores = zero_scores(network);
  RandomSequence random(seed, Stream::kMask);
  for (std::vector<double>& layer : scores) {
    for (double& score : layer) {
      score = 1 - random.next_uniform();
    }
  }
  return scores;
}

LayerScores raw_scores(const PrunedMlp& network, const tasks::TruthTable& table, const ScoreSettings& settings) {
  switch (settings.score) {
    case UnitScore::kWeight:
      return weight_scores(network);
    case UnitScore::kPathProduct:
      return path_products(network);
    case UnitScore::kRandom:
      return random_scores(network, settings.seed);
    case UnitScore::kWeightActivation:
    case UnitScore::kActivationDeviation:
      return activation_scores(network, TablePass(network, table), settings.score);
    case UnitScore::kLossSensitivity:
    case UnitScore::kOutputSensitivity:
      break;
  }
  TablePass pass(network, table);
  return sensitivity_scores(network, pass, settings.score);
}

// What to take from a layer's scores, and what to divide them by.
struct Normal {
  double shift = 0;
  double scale = 1;
};

Normal normal_of(ScoreNorm norm, const std::vector<double>& scores, int units_below) {
  switch (norm) {
    case ScoreNorm::kNone:
      break;
    case ScoreNorm::kMeanDeviation:
      return {mean(scores), deviation(scores)};
    case ScoreNorm::kMean:
      return {0, mean(scores)};
    case ScoreNorm::kDeviation:
      return {0, deviation(scores)};
    case ScoreNorm::kSum:
      return {0, std::accumulate(scores.begin(), scores.end(), 0.0)};
    case ScoreNorm::kUnitsBelow:
      return {0, static_cast<double>(units_below)};
    case ScoreNorm::kUnits:
      return {0, static_cast<double>(scores.size())};
  }
  return {};
}

}  // namespace

std::vector<double> unit_scores(const PrunedMlp& network, const tasks::TruthTable& table,
                                const ScoreSettings& settings) {
  LayerScores scores = raw_scores(network, table, settings);
  const std::vector<std::vector<int>> units = used_units(network);
  double lowest = 0;
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    std::vector<double> present;
    for (const int unit : units[layer + 1]) {
      present.push_back(scores[layer][unit]);
    }
    const Normal normal = normal_of(settings.norm, present, static_cast<int>(units[layer].size()));
    for (const int unit : units[layer + 1]) {
      double& score = scores[layer][unit];
      score = normal.scale > 0 ? (score - normal.shift) / normal.scale : 0;
      lowest = std::min(lowest, score);
    }
  }
  std::vector<double> all;
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    std::vector<double> present(scores[layer].size(), lowest);
    for (const int unit : units[layer + 1]) {
      present[unit] = scores[layer][unit];
    }
    all.insert(all.end(), present.begin(), present.end());
  }
  return all;
}

}  // namespace modlab::methods
