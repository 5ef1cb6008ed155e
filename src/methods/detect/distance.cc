#include "methods/detect/distance.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace modlab::methods {
namespace {

// What two vectors have each and what they share: counts, or sums of weights.
struct Shares {
  double a = 0;
  double b = 0;
  double both = 0;
};

double cosine(const Shares& squares) {
  if (squares.a == 0 || squares.b == 0) {
    return squares.a == squares.b ? 0 : 1;
  }
  // In this order of operations equal vectors come out as 0 or a rounding error away from it, as in the published
  // results, whose clusters are numbered accordingly.
  return std::max(0.0, 1 - squares.both / (std::sqrt(squares.a) * std::sqrt(squares.b)));
}

double jaccard(const Shares& sums) {
  const double either = sums.a + sums.b - sums.both;
  return either == 0 ? 0 : std::max(0.0, 1 - sums.both / either);
}

// The sum of term(a, b) over all columns. Four sums side by side, because each has to wait for its last addition.
template <typename Term>
double sum_over(std::span<const double> a, std::span<const double> b, const Term& term) {
  constexpr std::size_t kSums = 4;
  double sums[kSums] = {};
  std::size_t column = 0;
  for (; column + kSums <= a.size(); column += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) {
      sums[lane] += term(a[column + lane], b[column + lane]);
    }
  }
  for (std::size_t lane = 0; column < a.size(); ++column, ++lane) {
    sums[lane] += term(a[column], b[column]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Fills a table from what two vectors share; shared(a, a) is what a vector has itself.
template <typename SharedBy, typename DistanceOf>
PairTable table_of(int units, const SharedBy& shared, const DistanceOf& distance_of) {
  std::vector<double> own(units);
  for (int unit = 0; unit < units; ++unit) {
    own[unit] = shared(unit, unit);
  }
  PairTable table(units);
  for (int a = 0; a < units; ++a) {
    for (int b = 0; b < a; ++b) {
      table.set(a, b, distance_of(Shares{own[a], own[b], shared(a, b)}));
    }
  }
  return table;
}

double common_bits(const LayerFeatures& features, int a, int b) {
  return count_common(features.bits_of(a), features.bits_of(b));
}

PairTable distances_of_bits(const LayerFeatures& features, Distance distance) {
  const auto common = [&](int a, int b) { return common_bits(features, a, b); };
  return table_of(features.units, common, distance == Distance::kCosine ? cosine : jaccard);
}

PairTable distances_of_weights(const LayerFeatures& features, Distance distance) {
  if (distance == Distance::kCosine) {
    const auto product = [&](int a, int b) {
      return sum_over(features.weights_of(a), features.weights_of(b), [](double x, double y) { return x * y; });
    };
    return table_of(features.units, product, cosine);
  }
  const auto common = [&](int a, int b) {
    return sum_over(features.weights_of(a), features.weights_of(b), [](double x, double y) { return x < y ? x : y; });
  };
  return table_of(features.units, common, jaccard);
}

}  // namespace

int count_ones(std::span<const std::uint64_t> bits) { return count_common(bits, bits); }

int count_common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  int count = 0;
  for (std::size_t word = 0; word < a.size(); ++word) {
    count += std::popcount(a[word] & b[word]);
  }
  return count;
}

PairTable squared_distances(const LayerFeatures& features) {
  if (features.weights.empty()) {
    const auto common = [&](int a, int b) { return common_bits(features, a, b); };
    return table_of(features.units, common, [](const Shares& counts) { return counts.a + counts.b - 2 * counts.both; });
  }
  // From differences, so that rounding cannot leave a distance between equal vectors.
  PairTable table(features.units);
  for (int a = 0; a < features.units; ++a) {
    for (int b = 0; b < a; ++b) {
      table.set(a, b, sum_over(features.weights_of(a), features.weights_of(b), [](double x, double y) {
                  return (x - y) * (x - y);
                }));
    }
  }
  return table;
}

PairTable distances(const LayerFeatures& features, Distance distance) {
  if (distance == Distance::kEuclidean) {
    PairTable table = squared_distances(features);
    std::ranges::transform(table.values(), table.values().begin(), [](double square) { return std::sqrt(square); });
    return table;
  }
  return features.weights.empty() ? distances_of_bits(features, distance) : distances_of_weights(features, distance);
}

}  // namespace modlab::methods
