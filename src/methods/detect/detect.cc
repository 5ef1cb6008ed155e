#include "methods/detect/detect.h"

#include <numeric>
#include <utility>

#include "methods/detect/detect_steps.h"
#include "methods/detect/live_part.h"
#include "methods/detect/module_merging.h"

namespace modlab::methods {
namespace {

std::vector<int> each_its_own(int units) {
  std::vector<int> labels(units);
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

}  // namespace

PreparedNetwork prepare(const models::LayeredNetwork& network, const DetectSettings& settings) {
  check(settings);
  PreparedNetwork prepared;
  prepared.live = live_units(network);
  prepared.part = live_part(network, prepared.live);
  for (LayerFeatures& features : layer_features(prepared.part, settings)) {
    prepared.layers.push_back(grow_layer_tree(std::move(features), settings));
  }
  return prepared;
}

Detection detect_prepared(const PreparedNetwork& prepared, const DetectSettings& settings) {
  check(settings);
  Detection detection;
  detection.live = prepared.live;
  for (const LayerTree& layer : prepared.layers) {
    LayerClusters clusters = count_clusters(layer, settings.threshold);
    detection.clusters.push_back(std::move(clusters.labels));
    detection.decisions.push_back(std::move(clusters.decision));
  }
  detection.clusters.push_back(each_its_own(prepared.part.widths.back()));
  MergedModules modules = merge_clusters(prepared.part, detection.clusters, settings);
  detection.modules = std::move(modules.ids);
  detection.joins = std::move(modules.joins);
  detection.module_count = modules.count;
  return detection;
}

Detection detect(const models::LayeredNetwork& network, const DetectSettings& settings) {
  return detect_prepared(prepare(network, settings), settings);
}

}  // namespace modlab::methods
