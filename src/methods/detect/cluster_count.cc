#include "methods/detect/cluster_count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/detect/cluster_index.h"
#include "methods/detect/distance.h"

namespace modlab::methods {
namespace {

// Distances below this are what rounding leaves between equal vectors.
constexpr double kRounding = 1e-12;

// Two sets of reached units against what chance would have them share.
struct Overlap {
  int a = 0;
  int b = 0;
  int both = 0;
  double expected = 0;
  double deviation = 0;

  // How far `more` lies above `less`, in deviations where there are any.
  double score(double more, double less) const { return deviation > 0 ? (more - less) / deviation : more - less; }
};

Overlap overlap_of(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, int positions) {
  Overlap overlap = {count_ones(a), count_ones(b), count_common(a, b), 0, 0};
  if (positions > 0) {
    const double g = positions;
    const double chance = static_cast<double>(overlap.a) * overlap.b / (g * g);
    overlap.expected = g * chance;
    overlap.deviation = std::sqrt(g * chance * (1 - chance));
  }
  return overlap;
}

// Units that reach nothing at all are alike, not separate.
bool is_separate(const Overlap& overlap) {
  const int larger = std::max(overlap.a, overlap.b);
  return larger > 0 && ((overlap.both < larger && overlap.both <= overlap.expected) || overlap.both < 1);
}

bool is_single(const Overlap& overlap) {
  return (overlap.both >= 1 && overlap.both >= overlap.expected) || overlap.both >= std::max(overlap.a, overlap.b);
}

std::vector<std::uint64_t> reached_by(const LayerFeatures& features, std::span<const int> units) {
  std::vector<std::uint64_t> reached(features.words);
  for (const int unit : units) {
    std::ranges::transform(reached, features.bits_of(unit), reached.begin(), std::bit_or<>());
  }
  return reached;
}

// On a pair of units, and on the two halves of the layer.
void run_tests(const LayerTree& layer, int unit, int other, LayerDecision& decision) {
  const LayerFeatures& features = layer.features;
  const Overlap pair = overlap_of(features.bits_of(unit), features.bits_of(other), features.positions);
  decision.separate = is_separate(pair);
  decision.z_separate = pair.score(pair.expected, pair.both);

  const Merge& last = layer.tree.merges().back();
  const Overlap halves = overlap_of(reached_by(features, layer.tree.leaves_of(last.first)),
                                    reached_by(features, layer.tree.leaves_of(last.second)), features.positions);
  decision.single = is_single(halves);
  decision.z_single = halves.score(halves.both, halves.expected);

  if (decision.separate && decision.single) {
    decision.verdict = decision.z_single >= decision.z_separate ? Verdict::kOne : Verdict::kAll;
  } else if (decision.separate) {
    decision.verdict = Verdict::kAll;
  } else if (decision.single) {
    decision.verdict = Verdict::kOne;
  }
}

LayerDecision decide(const LayerTree& layer, double threshold) {
  LayerDecision decision;
  decision.units = layer.features.units;
  decision.index = layer.index;
  if (decision.units < 2) {
    decision.clusters = decision.clusters_by_index = decision.units;
    if (decision.units == 1) {
      decision.verdict = Verdict::kOne;
    }
    return decision;
  }
  decision.clusters_by_index = 2;
  double best = std::numeric_limits<double>::infinity();
  for (int clusters = 2; clusters < decision.units; ++clusters) {
    if (const double value = layer.index[clusters - 2]; value <= best) {
      best = value;
      decision.clusters_by_index = clusters;
    }
  }
  decision.consulted =
      decision.clusters_by_index == 2 || decision.clusters_by_index == decision.units - 1 || best > -threshold;
  const Merge& closest = layer.tree.merges().front();
  run_tests(layer, closest.first, closest.second, decision);
  decision.clusters = decision.clusters_by_index;
  if (decision.consulted && decision.verdict) {
    decision.clusters = *decision.verdict == Verdict::kOne ? 1 : decision.units;
  }
  return decision;
}

}  // namespace

LayerTree grow_layer_tree(LayerFeatures features, const DetectSettings& settings) {
  LayerTree layer;
  layer.features = std::move(features);
  PairTable table = distances(layer.features, settings.distance);
  layer.tree = grow_dendrogram(table, settings.linkage);
  // The dendrogram keeps these: they decide between merges at distance zero, and so number the clusters as published.
  // The index divides by the sum of distances and would take them for a structure where all units are alike.
  std::ranges::replace_if(
      table.values(), [](double value) { return value < kRounding; }, 0.0);
  layer.index = index_values(layer.tree, layer.features, table, settings.index);
  return layer;
}

std::optional<Verdict> verdict_on_pair(const LayerTree& layer, int unit, int other) {
  LayerDecision decision;
  run_tests(layer, unit, other, decision);
  return decision.verdict;
}

LayerClusters count_clusters(const LayerTree& layer, double threshold) {
  LayerClusters clusters;
  clusters.decision = decide(layer, threshold);
  if (clusters.decision.units > 0) {
    clusters.labels = cut(layer.tree, clusters.decision.clusters);
  }
  return clusters;
}

}  // namespace modlab::methods
