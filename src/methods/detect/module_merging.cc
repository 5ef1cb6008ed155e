#include "methods/detect/module_merging.h"

#include <algorithm>
#include <map>
#include <utility>

namespace modlab::methods {
namespace {

constexpr int kNone = -1;

// Edges between the modules of one layer and the clusters of the next.
struct EdgeCounts {
  std::vector<std::map<int, int>> of_cluster;  // [cluster]: from each module below
  std::vector<int> cluster_sum;
  std::vector<int> module_sum;
};

EdgeCounts count_edges(const std::vector<models::Edge>& edges, const std::vector<int>& modules_below,
                       const std::vector<int>& clusters, int module_count) {
  const int cluster_count = clusters.empty() ? 0 : *std::ranges::max_element(clusters) + 1;
  EdgeCounts counts;
  counts.of_cluster.resize(cluster_count);
  counts.cluster_sum.resize(cluster_count);
  counts.module_sum.resize(module_count);
  for (const models::Edge& edge : edges) {
    const int module = modules_below[edge.from];
    const int cluster = clusters[edge.to];
    ++counts.of_cluster[cluster][module];
    ++counts.cluster_sum[cluster];
    ++counts.module_sum[module];
  }
  return counts;
}

// The module of the layer below that the cluster joins, or else the one that it comes nearest to joining.
Join find_join(const EdgeCounts& counts, int layer, int cluster, bool is_output, const DetectSettings& settings) {
  const auto nearness = [&](const Join& join) {
    return is_output ? join.cluster_share : std::min(join.cluster_share, join.module_share);
  };
  const auto is_enough = [&](double share) {
    return settings.merge_at_equal ? share >= settings.merging : share > settings.merging;
  };
  Join nearest = {layer, cluster, kNone, 0, 0, 0, false};
  for (const auto& [module, edges] : counts.of_cluster[cluster]) {
    Join join = {layer, cluster, module, edges, 0, 0, false};
    join.module_share = static_cast<double>(edges) / counts.module_sum[module];
    join.cluster_share = static_cast<double>(edges) / counts.cluster_sum[cluster];
    join.joined = is_enough(nearness(join));
    if (join.joined) {
      return join;
    }
    if (nearest.module == kNone || nearness(join) > nearness(nearest)) {
      nearest = join;
    }
  }
  return nearest;
}

}  // namespace

MergedModules merge_clusters(const models::LayeredNetwork& live, const std::vector<std::vector<int>>& clusters,
                             const DetectSettings& settings) {
  MergedModules modules;
  modules.ids.push_back(clusters[0]);
  modules.count = clusters[0].empty() ? 0 : *std::ranges::max_element(clusters[0]) + 1;
  for (int layer = 1; layer < live.layers(); ++layer) {
    const EdgeCounts counts =
        count_edges(live.connections[layer - 1].edges, modules.ids.back(), clusters[layer], modules.count);
    const bool is_output = layer + 1 == live.layers();
    std::vector<int> module_of(counts.cluster_sum.size(), kNone);
    std::vector<int>& ids = modules.ids.emplace_back();
    for (const int cluster : clusters[layer]) {
      if (module_of[cluster] == kNone) {
        const Join join = find_join(counts, layer, cluster, is_output, settings);
        module_of[cluster] = join.joined ? join.module : modules.count++;
        modules.joins.push_back(join);
      }
      ids.push_back(module_of[cluster]);
    }
  }
  return modules;
}

}  // namespace modlab::methods
