#include "methods/detect/cluster_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "methods/detect/distance.h"
#include "methods/detect/live_part.h"
#include "methods/random_networks.h"

namespace modlab::methods {
namespace {

using Vector = std::vector<double>;

// Feature vectors written out as numbers.
std::vector<Vector> vectors_of(const LayerFeatures& features) {
  std::vector<Vector> vectors;
  for (int unit = 0; unit < features.units; ++unit) {
    Vector& vector = vectors.emplace_back();
    if (!features.weights.empty()) {
      vector.assign(features.weights_of(unit).begin(), features.weights_of(unit).end());
      continue;
    }
    for (const std::uint64_t word : features.bits_of(unit)) {
      for (int bit = 0; bit < 64; ++bit) {
        vector.push_back(static_cast<double>((word >> bit) & 1));
      }
    }
  }
  return vectors;
}

double euclidean(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t column = 0; column < a.size(); ++column) {
    sum += (a[column] - b[column]) * (a[column] - b[column]);
  }
  return std::sqrt(sum);
}

Vector mean_of(const std::vector<Vector>& vectors, const std::vector<int>& members) {
  Vector mean(vectors[0].size());
  for (const int member : members) {
    for (std::size_t column = 0; column < mean.size(); ++column) {
      mean[column] += vectors[member][column] / static_cast<double>(members.size());
    }
  }
  return mean;
}

using Clusters = std::vector<std::vector<int>>;

Clusters clusters_of(const std::vector<int>& labels) {
  Clusters clusters(*std::ranges::max_element(labels) + 1);
  for (std::size_t unit = 0; unit < labels.size(); ++unit) {
    clusters[labels[unit]].push_back(static_cast<int>(unit));
  }
  return clusters;
}

double sum_between(const PairTable& table, const std::vector<int>& a, const std::vector<int>& b) {
  double sum = 0;
  for (const int first : a) {
    for (const int second : b) {
      sum += table.at(first, second);
    }
  }
  return sum;
}

// The four indices from their definitions, one cut at a time.
double modularity(const Clusters& clusters, const PairTable& distances) {
  std::vector<int> all;
  for (const auto& cluster : clusters) {
    all.insert(all.end(), cluster.begin(), cluster.end());
  }
  const double total = sum_between(distances, all, all);
  double metric = 0;
  for (const auto& cluster : clusters) {
    const double from = sum_between(distances, cluster, all) / total;
    metric += sum_between(distances, cluster, cluster) / total - from * from;
  }
  return metric;
}

double silhouette(const Clusters& clusters, const PairTable& distances) {
  double sum = 0;
  int units = 0;
  for (const auto& cluster : clusters) {
    for (const int unit : cluster) {
      ++units;
      if (cluster.size() == 1) {
        continue;
      }
      const double inside = sum_between(distances, {unit}, cluster) / static_cast<double>(cluster.size() - 1);
      double outside = std::numeric_limits<double>::infinity();
      for (const auto& other : clusters) {
        if (&other != &cluster) {
          outside = std::min(outside, sum_between(distances, {unit}, other) / static_cast<double>(other.size()));
        }
      }
      sum += std::max(inside, outside) > 0 ? (outside - inside) / std::max(inside, outside) : 0;
    }
  }
  return -sum / units;
}

double calinski_harabasz(const Clusters& clusters, const std::vector<Vector>& vectors) {
  std::vector<int> all;
  for (const auto& cluster : clusters) {
    all.insert(all.end(), cluster.begin(), cluster.end());
  }
  const Vector centre = mean_of(vectors, all);
  double between = 0;
  double within = 0;
  for (const auto& cluster : clusters) {
    const Vector centroid = mean_of(vectors, cluster);
    between += static_cast<double>(cluster.size()) * std::pow(euclidean(centroid, centre), 2);
    for (const int unit : cluster) {
      within += std::pow(euclidean(vectors[unit], centroid), 2);
    }
  }
  const auto count = static_cast<double>(clusters.size());
  return within < 1e-12 ? -1 : -between * (static_cast<double>(all.size()) - count) / (within * (count - 1));
}

double davies_bouldin(const Clusters& clusters, const std::vector<Vector>& vectors) {
  std::vector<Vector> centroids;
  Vector spreads;
  for (const auto& cluster : clusters) {
    centroids.push_back(mean_of(vectors, cluster));
    double sum = 0;
    for (const int unit : cluster) {
      sum += euclidean(vectors[unit], centroids.back());
    }
    spreads.push_back(sum / static_cast<double>(cluster.size()));
  }
  double sum = 0;
  for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster) {
    double worst = 0;
    for (std::size_t other = 0; other < clusters.size(); ++other) {
      const double apart = euclidean(centroids[cluster], centroids[other]);
      if (apart > 1e-6) {
        worst = std::max(worst, (spreads[cluster] + spreads[other]) / apart);
      }
    }
    sum += worst;
  }
  return sum / static_cast<double>(clusters.size());
}

double from_definition(ClusterIndex index, const Clusters& clusters, const LayerFeatures& features,
                       const PairTable& table) {
  switch (index) {
    case ClusterIndex::kSilhouette:
      return silhouette(clusters, table);
    case ClusterIndex::kCalinskiHarabasz:
      return calinski_harabasz(clusters, vectors_of(features));
    case ClusterIndex::kDaviesBouldin:
      return davies_bouldin(clusters, vectors_of(features));
    case ClusterIndex::kModularity:
      break;
  }
  return modularity(clusters, table);
}

constexpr ClusterIndex kIndices[] = {ClusterIndex::kModularity, ClusterIndex::kSilhouette,
                                     ClusterIndex::kCalinskiHarabasz, ClusterIndex::kDaviesBouldin};

LayerFeatures random_features(int units, double chance, bool weighted, std::uint64_t seed) {
  const models::LayeredNetwork network = test::random_network({units, 12, 9}, chance, seed);
  DetectSettings settings;
  settings.weighted = weighted;
  return layer_features(live_part(network, live_units(network)), settings)[0];
}

TEST(ClusterIndex, AgreesWithItsDefinitionForEveryCut) {
  for (const bool weighted : {false, true}) {
    for (const double chance : {0.1, 0.3, 0.7}) {
      for (const Distance distance : {Distance::kCosine, Distance::kJaccard, Distance::kEuclidean}) {
        const LayerFeatures features = random_features(30, chance, weighted, 1);
        const PairTable table = distances(features, distance);
        const Dendrogram tree = grow_dendrogram(table, Linkage::kAverage);
        for (const ClusterIndex index : kIndices) {
          const Vector values = index_values(tree, features, table, index);
          ASSERT_EQ(values.size(), features.units - 2);
          for (int clusters = 2; clusters < features.units; ++clusters) {
            const double expected = from_definition(index, clusters_of(cut(tree, clusters)), features, table);
            EXPECT_NEAR(values[clusters - 2], expected, 1e-8 * (1 + std::abs(expected))) << clusters << " clusters";
          }
        }
      }
    }
  }
}

// Six units in three pairs of equals, all pairs equally far apart.
TEST(ClusterIndex, SpreadlessClustersTieForTheLastTwo) {
  LayerFeatures features;
  features.units = 6;
  features.positions = 3;
  features.words = 1;
  features.bits = {1, 1, 2, 2, 4, 4};
  const PairTable table = distances(features, Distance::kCosine);
  const Dendrogram tree = grow_dendrogram(table, Linkage::kAverage);
  const Vector metric = index_values(tree, features, table, ClusterIndex::kModularity);
  EXPECT_EQ(metric, (Vector{-.22222222, -.33333333, -.27777778, -.22222222}));
  const Vector silhouettes = index_values(tree, features, table, ClusterIndex::kSilhouette);
  EXPECT_EQ(silhouettes[1], -1);
  EXPECT_EQ(std::ranges::min(silhouettes), -1);
  const Vector calinski = index_values(tree, features, table, ClusterIndex::kCalinskiHarabasz);
  EXPECT_EQ(Vector(calinski.begin() + 1, calinski.end()), (Vector{-1, -1, -1}));
  const Vector davies = index_values(tree, features, table, ClusterIndex::kDaviesBouldin);
  EXPECT_EQ(Vector(davies.begin() + 1, davies.end()), (Vector{0, 0, 0}));
  EXPECT_GT(davies[0], 0);
}

TEST(ClusterIndex, HasNoValueForFewerThanThreeUnits) {
  LayerFeatures features;
  features.units = 2;
  features.positions = 2;
  features.words = 1;
  features.bits = {1, 2};
  const PairTable table = distances(features, Distance::kCosine);
  for (const ClusterIndex index : kIndices) {
    EXPECT_TRUE(index_values(grow_dendrogram(table, Linkage::kAverage), features, table, index).empty());
  }
}

}  // namespace
}  // namespace modlab::methods
