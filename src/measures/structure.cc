#include "measures/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/errors.h"
#include "measures/distributions.h"

namespace modlab::measures {
namespace {

using models::Edge;
using models::LayeredNetwork;
using Table = std::vector<std::vector<double>>;

constexpr std::size_t kMaxEntries = 100'000'000;

void check_size(const LayeredNetwork& network, int layer) {
  const auto outputs = static_cast<std::size_t>(network.widths.back());
  for (int at = layer; at < network.layers(); ++at) {
    if (static_cast<std::size_t>(network.widths[at]) * outputs > kMaxEntries) {
      throw ConfigError(
          fmt::format("path products of {} units with {} outputs are more than {}; look at smaller layers",
                      network.widths[at], outputs, kMaxEntries));
    }
  }
}

struct Sample {
  double mean = 0;
  double variance = 0;  // of the mean: the sample variance divided by the number of values
};

// Deviations are taken from the first value, so that equal values vary by exactly zero.
Sample sample_of(std::span<const double> values, double scale) {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) {
    sum += (value - values.front()) / scale;
  }
  const double shift = sum / count;
  double squares = 0;
  for (const double value : values) {
    const double deviation = (value - values.front()) / scale - shift;
    squares += deviation * deviation;
  }
  return {values.front() / scale + shift, squares / (count - 1) / count};
}

void check_group(const std::vector<int>& group, std::size_t units, const char* what) {
  if (group.empty()) {
    throw ConfigError(fmt::format("a group of {}s is empty; give it one at least", what));
  }
  for (const int unit : group) {
    if (unit < 0 || static_cast<std::size_t>(unit) >= units) {
      throw ConfigError(fmt::format("{} {} is in a group, but there are {}", what, unit + 1, units));
    }
  }
}

void check_distinct(std::vector<int> units, const char* what) {
  std::ranges::sort(units);
  const auto twice = std::ranges::adjacent_find(units);
  if (twice != units.end()) {
    throw ConfigError(fmt::format("{} {} is in a group twice or in two groups; name it once", what, *twice + 1));
  }
}

void check_groups(const Table& products, const Groups& groups) {
  if (groups.inputs.size() != groups.outputs.size() || groups.inputs.size() < 2) {
    throw ConfigError(fmt::format("{} groups of inputs and {} of outputs; give as many of both, two at least",
                                  groups.inputs.size(), groups.outputs.size()));
  }
  std::vector<int> outputs;
  for (std::size_t group = 0; group < groups.inputs.size(); ++group) {
    check_group(groups.inputs[group], products.size(), "input");
    check_distinct(groups.inputs[group], "input");
    check_group(groups.outputs[group], products.front().size(), "output");
    outputs.insert(outputs.end(), groups.outputs[group].begin(), groups.outputs[group].end());
  }
  check_distinct(std::move(outputs), "output");
}

}  // namespace

Table path_products(const LayeredNetwork& network, int layer) {
  assert(layer >= 0 && layer < network.layers());
  check_size(network, layer);
  const auto outputs = static_cast<std::size_t>(network.widths.back());
  Table above(outputs, std::vector<double>(outputs));
  for (std::size_t output = 0; output < outputs; ++output) {
    above[output][output] = 1;
  }
  for (int at = network.layers() - 2; at >= layer; --at) {
    Table products(network.widths[at], std::vector<double>(outputs));
    for (const Edge& edge : network.connections[at].edges) {
      const double size = std::abs(edge.weight);
      for (std::size_t output = 0; output < outputs; ++output) {
        products[edge.from][output] += size * above[edge.to][output];
      }
    }
    above = std::move(products);
  }
  return above;
}

std::vector<double> path_sums(const LayeredNetwork& network, int layer) {
  assert(layer >= 0 && layer < network.layers());
  std::vector<double> above(network.widths.back(), 1.0);
  for (int at = network.layers() - 2; at >= layer; --at) {
    std::vector<double> sums(network.widths[at]);
    for (const Edge& edge : network.connections[at].edges) {
      sums[edge.from] += std::abs(static_cast<double>(edge.weight)) * above[edge.to];
    }
    above = std::move(sums);
  }
  return above;
}

int units_for_share(std::span<const double> values, double percent) {
  if (!(percent > 0 && percent <= 100)) {
    throw ConfigError(fmt::format("percent must be more than 0 and at most 100, not {}", percent));
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted, std::greater());
  const auto above_zero = std::ranges::count_if(sorted, [](double value) { return value > 0; });
  std::vector<double> prefixes(sorted.size());
  std::partial_sum(sorted.begin(), sorted.end(), prefixes.begin());
  const double limit = prefixes.empty() ? 0 : percent / 100 * prefixes.back();
  const auto within = std::ranges::count_if(prefixes, [&](double prefix) { return prefix <= limit; });
  return static_cast<int>(std::min(within + 1, above_zero));
}

std::optional<WelchTest> welch_smaller(std::span<const double> first, std::span<const double> second) {
  if (first.size() < 2 || second.size() < 2) {
    return std::nullopt;
  }
  double scale = 0;
  for (const std::span<const double> values : {first, second}) {
    for (const double value : values) {
      if (!std::isfinite(value)) {
        return std::nullopt;
      }
      scale = std::max(scale, std::abs(value));
    }
  }
  // The test does not depend on the scale, but squares of very large or small values would be infinite or zero.
  scale = scale > 0 ? scale : 1;
  const Sample a = sample_of(first, scale);
  const Sample b = sample_of(second, scale);
  const double difference = a.mean - b.mean;
  const double variance = a.variance + b.variance;
  const auto df_first = static_cast<double>(first.size() - 1);
  const auto df_second = static_cast<double>(second.size() - 1);
  WelchTest test{.mean_first = a.mean * scale, .mean_second = b.mean * scale};
  if (variance == 0) {
    test.t = difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
    test.df = std::min(df_first, df_second);
  } else {
    const double share_first = a.variance / variance;
    const double share_second = b.variance / variance;
    test.t = difference / std::sqrt(variance);
    test.df = 1 / (share_first * share_first / df_first + share_second * share_second / df_second);
  }
  test.p = student_cdf(test.t, test.df);
  return test;
}

bool is_significant(const std::optional<WelchTest>& test) { return test && test->p < kSignificance; }

bool Separation::is_separable() const { return std::ranges::all_of(tests, is_significant); }

Separation separation(const Table& products, const Groups& groups) {
  check_groups(products, groups);
  Separation result;
  for (std::size_t group = 0; group < groups.inputs.size(); ++group) {
    std::vector<double> cross;
    std::vector<double> own;
    for (const int input : groups.inputs[group]) {
      for (std::size_t other = 0; other < groups.outputs.size(); ++other) {
        for (const int output : groups.outputs[other]) {
          (other == group ? own : cross).push_back(products[input][output]);
        }
      }
    }
    result.tests.push_back(welch_smaller(cross, own));
  }
  return result;
}

Structure structure_of(const LayeredNetwork& network, const std::optional<Groups>& groups, double percent,
                       bool with_products) {
  Structure structure{groups, percent, {}, {}, {}};
  if (with_products || groups) {
    structure.products = path_products(network);
  }
  if (groups) {
    structure.separation = separation(structure.products, *groups);
  }
  for (int layer = 1; layer + 1 < network.layers(); ++layer) {
    structure.shares.push_back(units_for_share(path_sums(network, layer), percent));
  }
  return structure;
}

}  // namespace modlab::measures
