#pragma once

#include <vector>

#include "methods/detect/cluster_count.h"
#include "methods/detect/detect.h"

namespace modlab::methods {

// The two halves of detect(): what takes time and depends on no threshold, and what is quick.
struct PreparedNetwork {
  std::vector<std::vector<int>> live;
  models::LayeredNetwork part;    // of the live units
  std::vector<LayerTree> layers;  // all but the outputs
};

PreparedNetwork prepare(const models::LayeredNetwork& network, const DetectSettings& settings);
Detection detect_prepared(const PreparedNetwork& prepared, const DetectSettings& settings);

}  // namespace modlab::methods
