#pragma once

#include <vector>

#include "methods/detect/dendrogram.h"
#include "methods/detect/features.h"

namespace modlab::methods {

// How well the cuts of a dendrogram into 2, 3, .. leaves - 1 clusters describe the units: the lower the better, rounded
// to 8 decimals so that what is equal ties. The modularity metric is as published; the silhouette is negated and uses
// the distances given; Calinski's and Harabasz's index (negated) and Davies' and Bouldin's always use Euclid's
// distance.
//
// All follow the merges from single units upwards. The modularity metric takes time in proportion to the pairs of
// units, and so does Calinski's and Harabasz's. The two others remember every cluster's nearest rival and look for a
// new one only where a merge took it away: they are nearly as quick as a rule, and cubic at worst.
std::vector<double> index_values(const Dendrogram& tree, const LayerFeatures& features, const PairTable& distances,
                                 ClusterIndex index);

}  // namespace modlab::methods
