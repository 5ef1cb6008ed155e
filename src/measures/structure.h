#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/layered_network.h"

// How the wiring of a layered network is spread over its inputs, outputs and hidden units (Neural Sculpting, section
// 2).
namespace modlab::measures {

// [unit][output]: over all paths from a unit of `layer` (0: the inputs) to an output, the sum of the products of
// |weight| along the path. Biases play no part. Throws ConfigError where the table has more than a hundred million
// entries.
std::vector<std::vector<double>> path_products(const models::LayeredNetwork& network, int layer = 0);

// The same summed over the outputs, for networks of any size.
std::vector<double> path_sums(const models::LayeredNetwork& network, int layer);

// N_P: how many of the units with the largest values carry more than `percent` of their sum, which is one more than
// the prefixes that carry at most so much; never more than there are units above zero, and 0 where all are zero. Throws
// ConfigError unless 0 < percent <= 100.
int units_for_share(std::span<const double> values, double percent);

// Welch's one-sided t test of "the mean of the first values is smaller".
// Where neither side varies there is no t: a difference of means is then beyond any doubt (t infinite, p 0 or 1), equal
// means are no evidence (t 0, p 0.5), and df is that of the smaller side.
struct WelchTest {
  double mean_first = 0;
  double mean_second = 0;
  double t = 0;
  double df = 0;
  double p = 1;
};

// Nothing where a side has fewer than two values, or a value is not finite.
std::optional<WelchTest> welch_smaller(std::span<const double> first, std::span<const double> second);

inline constexpr double kSignificance = 0.05;

// Sets of units that belong together: the inputs of the k-th group of inputs with the outputs of the k-th of outputs.
struct Groups {
  std::vector<std::vector<int>> inputs;
  std::vector<std::vector<int>> outputs;
};

// For each group: are the path products from its inputs to the other groups' outputs (cross, first) smaller than those
// to its own outputs? Units in no group play no part, and an input may be in several groups.
struct Separation {
  std::vector<std::optional<WelchTest>> tests;

  // All tests are possible and significant at 5 %.
  bool is_separable() const;
};
bool is_significant(const std::optional<WelchTest>& test);

// Throws ConfigError unless there are as many groups of inputs as of outputs, two at least, none empty, with units that
// exist, no input twice in a group and no output twice in all.
Separation separation(const std::vector<std::vector<double>>& products, const Groups& groups);

// All of this of one network.
struct Structure {
  std::optional<Groups> groups;  // that were asked for
  double percent = 90;
  std::vector<std::vector<double>> products;  // from the inputs; empty where nobody looks at them
  std::optional<Separation> separation;       // of the groups
  std::vector<int> shares;                    // N_P of each hidden layer
};

// With groups the products are there in any case. Throws ConfigError as the functions above do.
Structure structure_of(const models::LayeredNetwork& network, const std::optional<Groups>& groups, double percent,
                       bool with_products);

}  // namespace modlab::measures
