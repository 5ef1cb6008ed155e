#pragma once

#include <vector>

#include "methods/detect/detect.h"

namespace modlab::methods {

struct MergedModules {
  std::vector<std::vector<int>> ids;  // [layer][live unit]
  int count = 0;
  std::vector<Join> joins;
};

// Clusters of the inputs are modules by their labels. Going up, a cluster joins the module of the layer below that it
// shares nearly all edges with, both its own and the module's; an output needs nearly all of its own only. A cluster
// that joins none starts a module with the next number, in the order of its first unit.
MergedModules merge_clusters(const models::LayeredNetwork& live, const std::vector<std::vector<int>>& clusters,
                             const DetectSettings& settings);

}  // namespace modlab::methods
