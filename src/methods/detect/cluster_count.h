#pragma once

#include <optional>
#include <vector>

#include "methods/detect/dendrogram.h"
#include "methods/detect/features.h"

namespace modlab::methods {

// All that the clusters of a layer are chosen from; whatever the threshold.
struct LayerTree {
  LayerFeatures features;
  Dendrogram tree;
  std::vector<double> index;  // for 2, 3, .. units - 1 clusters
};

LayerTree grow_layer_tree(LayerFeatures features, const DetectSettings& settings);

struct LayerClusters {
  LayerDecision decision;
  std::vector<int> labels;  // of each unit
};

// As many clusters as the index likes best, the larger number where it cannot tell. Where that is the smallest or the
// largest number it can judge, or the index is weaker than the threshold, two tests may decide instead: are even the
// two most similar units wired separately, are even the two most different halves wired alike?
LayerClusters count_clusters(const LayerTree& layer, double threshold);

// What the tests would say had these two been taken for the most similar units.
std::optional<Verdict> verdict_on_pair(const LayerTree& layer, int unit, int other);

}  // namespace modlab::methods
