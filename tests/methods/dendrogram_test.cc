#include "methods/detect/dendrogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/random.h"

namespace modlab::methods {
namespace {

// Points on a plane, so that Ward's distances have a meaning; no two distances are equal.
struct Points {
  std::vector<double> x;
  std::vector<double> y;

  explicit Points(int count) {
    RandomSequence random(7, Stream::kMask);
    for (int point = 0; point < count; ++point) {
      x.push_back(random.next_uniform());
      y.push_back(random.next_uniform());
    }
  }
  double distance(int a, int b) const { return std::hypot(x[a] - x[b], y[a] - y[b]); }
  PairTable table() const {
    PairTable table(static_cast<int>(x.size()));
    for (int a = 0; a < table.units(); ++a) {
      for (int b = 0; b < a; ++b) {
        table.set(a, b, distance(a, b));
      }
    }
    return table;
  }
};

using Cluster = std::set<int>;

double mean(const std::vector<double>& values, const Cluster& cluster) {
  double sum = 0;
  for (const int point : cluster) {
    sum += values[point];
  }
  return sum / static_cast<double>(cluster.size());
}

// From the definition of each linkage.
double distance_between(const Points& points, const Cluster& a, const Cluster& b, Linkage linkage) {
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const int first : a) {
    for (const int second : b) {
      const double distance = points.distance(first, second);
      sum += distance;
      least = std::min(least, distance);
      most = std::max(most, distance);
    }
  }
  const auto size_a = static_cast<double>(a.size());
  const auto size_b = static_cast<double>(b.size());
  switch (linkage) {
    case Linkage::kComplete:
      return most;
    case Linkage::kSingle:
      return least;
    case Linkage::kWard:
      return std::sqrt(2 * size_a * size_b / (size_a + size_b)) *
             std::hypot(mean(points.x, a) - mean(points.x, b), mean(points.y, a) - mean(points.y, b));
    case Linkage::kAverage:
      break;
  }
  return sum / (size_a * size_b);
}

TEST(Dendrogram, MergesTheNearestClustersOfEveryLinkage) {
  const Points points(25);
  for (const Linkage linkage : {Linkage::kAverage, Linkage::kComplete, Linkage::kSingle, Linkage::kWard}) {
    const Dendrogram tree = grow_dendrogram(points.table(), linkage);
    ASSERT_EQ(tree.merges().size(), 24);
    std::vector<Cluster> clusters;
    for (int leaf = 0; leaf < tree.leaves(); ++leaf) {
      clusters.push_back({leaf});
    }
    for (const Merge& merge : tree.merges()) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < clusters.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          nearest = std::min(nearest, distance_between(points, clusters[a], clusters[b], linkage));
        }
      }
      const auto first = tree.leaves_of(merge.first);
      const auto second = tree.leaves_of(merge.second);
      const Cluster a(first.begin(), first.end());
      const Cluster b(second.begin(), second.end());
      EXPECT_NEAR(merge.distance, nearest, 1e-12);
      EXPECT_NEAR(merge.distance, distance_between(points, a, b, linkage), 1e-12);
      EXPECT_EQ(std::erase(clusters, a), 1);
      EXPECT_EQ(std::erase(clusters, b), 1);
      clusters.push_back(a);
      clusters.back().insert(b.begin(), b.end());
    }
  }
}

TEST(Dendrogram, CutsAreTheStatesBetweenMerges) {
  const Dendrogram tree = grow_dendrogram(Points(25).table(), Linkage::kAverage);
  for (int clusters = 1; clusters <= 25; ++clusters) {
    const std::vector<int> labels = cut(tree, clusters);
    EXPECT_EQ(Cluster(labels.begin(), labels.end()).size(), clusters);
    EXPECT_EQ(std::ranges::max(labels), clusters - 1);
    for (std::size_t index = 0; index < tree.merges().size(); ++index) {
      // Leaves of a merge lie in one cluster if it was made, and its two parts in two if not.
      const Merge& merge = tree.merges()[index];
      const bool made = static_cast<int>(index) < 25 - clusters;
      EXPECT_EQ(labels[tree.leaves_of(merge.first)[0]] == labels[tree.leaves_of(merge.second)[0]], made);
    }
  }
}

// Four pairs at distances 1, 2, 3, 4, far from each other. Nodes 8 to 11 are the pairs, 12 and 13 pairs of pairs.
TEST(Dendrogram, LabelsArePlacesInAHeap) {
  PairTable table(8);
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < a; ++b) {
      const bool pair = a / 2 == b / 2;
      const bool half = a / 4 == b / 4;
      table.set(a, b, pair ? 1 + a / 2 : half ? 10 + a / 4 : 100);
    }
  }
  const Dendrogram tree = grow_dendrogram(table, Linkage::kAverage);
  EXPECT_EQ(cut(tree, 1), std::vector<int>(8, 0));
  // The root, 14, is split into 12 and 13: 12 is pushed, and 13 takes the top.
  EXPECT_EQ(cut(tree, 2), (std::vector<int>{1, 1, 1, 1, 0, 0, 0, 0}));
  // 13 is split into 10 and 11, and 12 rises to the top: 12, 11, 10 after 10 went to the end and 11 into the gap.
  EXPECT_EQ(cut(tree, 3), (std::vector<int>{0, 0, 0, 0, 2, 2, 1, 1}));
  // 12 is split into 8 and 9: 11, 9, 10, 8.
  EXPECT_EQ(cut(tree, 4), (std::vector<int>{3, 3, 1, 1, 2, 2, 0, 0}));
}

TEST(Dendrogram, EqualDistancesMergeAlongTheChain) {
  // Units on a ring, neighbours one apart: the chain goes 0, 1, and finds 0 again, since 2 is no nearer.
  PairTable ring(4);
  for (int unit = 0; unit < 4; ++unit) {
    ring.set(unit, (unit + 1) % 4, 1);
    ring.set(unit, (unit + 2) % 4, 2);
  }
  const Dendrogram tree = grow_dendrogram(ring, Linkage::kAverage);
  EXPECT_EQ(tree.merges()[0].first, 0);
  EXPECT_EQ(tree.merges()[0].second, 1);
  // The union is in slot 1 and as far from 2 as from 3, which are nearer to each other.
  EXPECT_EQ(tree.merges()[1].first, 2);
  EXPECT_EQ(tree.merges()[1].second, 3);
}

TEST(Dendrogram, OneUnitAndNone) {
  EXPECT_EQ(cut(grow_dendrogram(PairTable(1), Linkage::kAverage), 1), std::vector<int>{0});
  EXPECT_EQ(grow_dendrogram(PairTable(0), Linkage::kAverage).leaves(), 0);
}

}  // namespace
}  // namespace modlab::methods
