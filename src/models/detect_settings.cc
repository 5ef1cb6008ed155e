#include "models/detect_settings.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::models {
namespace {

template <typename Choice>
struct Name {
  Choice choice;
  std::string_view text;
};

template <typename Choice>
struct Names;

template <>
struct Names<Direction> {
  static constexpr std::array<Name<Direction>, 3> kAll = {
      {{Direction::kOutgoing, "outgoing"}, {Direction::kIncoming, "incoming"}, {Direction::kBoth, "bidirectional"}}};
};
template <>
struct Names<Linkage> {
  static constexpr std::array<Name<Linkage>, 4> kAll = {{{Linkage::kAverage, "average"},
                                                         {Linkage::kComplete, "complete"},
                                                         {Linkage::kSingle, "single"},
                                                         {Linkage::kWard, "ward"}}};
};
template <>
struct Names<Distance> {
  static constexpr std::array<Name<Distance>, 3> kAll = {
      {{Distance::kCosine, "cosine"}, {Distance::kJaccard, "jaccard"}, {Distance::kEuclidean, "euclidean"}}};
};
template <>
struct Names<ClusterIndex> {
  static constexpr std::array<Name<ClusterIndex>, 4> kAll = {{{ClusterIndex::kModularity, "modularity-metric"},
                                                              {ClusterIndex::kSilhouette, "silhouette"},
                                                              {ClusterIndex::kCalinskiHarabasz, "ch-index"},
                                                              {ClusterIndex::kDaviesBouldin, "db-index"}}};
};

}  // namespace

void check(const DetectSettings& settings) {
  if (settings.hops < 0) {
    throw ConfigError("the number of hops must not be negative; 0 looks at all layers");
  }
  if (!std::isfinite(settings.threshold)) {
    throw ConfigError("the threshold of the cluster index must be a finite number");
  }
  if (!(settings.merging >= 0 && settings.merging <= 1)) {
    throw ConfigError("the merging threshold must be a share of edges, from 0 to 1");
  }
  if (settings.linkage == Linkage::kWard && settings.distance != Distance::kEuclidean) {
    throw ConfigError("ward linkage is defined for euclidean distance only; choose that, or another linkage");
  }
}

template <typename Choice>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  for (const Name<Choice>& name : Names<Choice>::kAll) {
    names.emplace_back(name.text);
  }
  return names;
}

template <typename Choice>
std::string_view name_of(Choice choice) {
  for (const Name<Choice>& name : Names<Choice>::kAll) {
    if (name.choice == choice) {
      return name.text;
    }
  }
  return "";
}

template <typename Choice>
Choice read_choice(const std::string& setting, const std::string& text) {
  for (const Name<Choice>& name : Names<Choice>::kAll) {
    if (name.text == text) {
      return name.choice;
    }
  }
  const std::vector<std::string> names = choice_names<Choice>();
  throw ConfigError(fmt::format("{} must be one of {}, not '{}'{}", setting, join_text(names, ", "), text,
                                did_you_mean(text, names)));
}

template std::vector<std::string> choice_names<Direction>();
template std::vector<std::string> choice_names<Linkage>();
template std::vector<std::string> choice_names<Distance>();
template std::vector<std::string> choice_names<ClusterIndex>();
template std::string_view name_of(Direction choice);
template std::string_view name_of(Linkage choice);
template std::string_view name_of(Distance choice);
template std::string_view name_of(ClusterIndex choice);
template Direction read_choice(const std::string& setting, const std::string& text);
template Linkage read_choice(const std::string& setting, const std::string& text);
template Distance read_choice(const std::string& setting, const std::string& text);
template ClusterIndex read_choice(const std::string& setting, const std::string& text);

}  // namespace modlab::models
