#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace modlab::methods {

enum class Direction { kOutgoing, kIncoming, kBoth };  // which units a unit's feature vector speaks of
enum class Linkage { kAverage, kComplete, kSingle, kWard };
enum class Distance { kCosine, kJaccard, kEuclidean };
enum class ClusterIndex { kModularity, kSilhouette, kCalinskiHarabasz, kDaviesBouldin };

// How modules are read off a sparse network (Neural Sculpting). Defaults are the published ones.
struct DetectSettings {
  Direction direction = Direction::kOutgoing;
  bool weighted = false;  // features are path products of |w| instead of 0 and 1
  int hops = 0;           // layers that a feature vector looks ahead, or back; 0 is all
  Linkage linkage = Linkage::kAverage;
  Distance distance = Distance::kCosine;
  ClusterIndex index = ClusterIndex::kModularity;
  double threshold = 0.2;       // the tests are consulted where the index is weaker than this
  double merging = 0.9;         // share of edges beyond which clusters are one module
  bool merge_at_equal = false;  // also at exactly that share, as the paper writes
};

// Throws ConfigError where settings make no sense, or not together.
void check(const DetectSettings& settings);

// The choices as the words that users write, which are the published ones: "bidirectional", "average", "cosine",
// "modularity-metric". Choice is Direction, Linkage, Distance or ClusterIndex.
template <typename Choice>
std::vector<std::string> choice_names();

template <typename Choice>
std::string_view name_of(Choice choice);

// Throws ConfigError, naming the setting, if there is no such choice.
template <typename Choice>
Choice read_choice(const std::string& setting, const std::string& text);

}  // namespace modlab::methods
