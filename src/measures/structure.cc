#include "measures/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/errors.h"

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

// What Stirling's formula leaves out of ln Gamma(z), for z of 10 and more: to 17 digits.
double stirling_rest(double z) {
  // Bernoulli numbers: B_2k / (2k (2k - 1)).
  constexpr double kTerms[] = {1.0 / 12,        -1.0 / 360, 1.0 / 1260,       -1.0 / 1680,      1.0 / 1188,
                               -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400, 43867.0 / 244188, -174611.0 / 125400};
  double sum = 0;
  for (std::size_t term = std::size(kTerms); term-- > 0;) {
    sum = sum / (z * z) + kTerms[term];
  }
  return sum / z;
}

// ln B(a, b). Differences of ln Gamma would lose digits where a or b is large.
double log_beta(double a, double b) {
  constexpr double kLarge = 10;
  // B(a, b) = B(a + 1, b) (a + b) / a.
  double factor = 1;
  while (a < kLarge) {
    factor *= (a + b) / a;
    a += 1;
  }
  while (b < kLarge) {
    factor *= (a + b) / b;
    b += 1;
  }
  return std::log(factor) + 0.5 * std::log(2 * std::numbers::pi / b) - (a - 0.5) * std::log1p(b / a) -
         b * std::log1p(a / b) + stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
}

// The continued fraction of I_x(a, b) by Lentz's method, which converges fast where x is below the distribution's mean.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double c = 1;
  double fraction = d;
  for (int term = 1; term <= kMaxTerms; ++term) {
    const double even = term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) {
      break;
    }
  }
  return fraction;
}

// ln x, from whichever of x and 1 - x is the smaller.
double log_of(double x, double rest) { return x < rest ? std::log(x) : std::log1p(-rest); }

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

double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0 || rest <= 0) {
    return x <= 0 ? 0 : 1;
  }
  const double power = std::exp(a * log_of(x, rest) + b * log_of(rest, x) - log_beta(a, b));
  // Beyond the mean the fraction of the other tail converges faster.
  return x < (a + 1) / (a + b + 2) ? power * beta_fraction(a, b, x) / a : 1 - power * beta_fraction(b, a, rest) / b;
}

double student_cdf(double t, double df) {
  // x = df / (df + t^2) and 1 - x, without a square that overflows.
  const double ratio = t / df * t;
  const double x = 1 / (1 + ratio);
  const double rest = std::isinf(ratio) ? 1 : ratio / (1 + ratio);
  const double tail = 0.5 * incomplete_beta(0.5 * df, 0.5, x, rest);
  return t < 0 ? tail : 1 - tail;
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
