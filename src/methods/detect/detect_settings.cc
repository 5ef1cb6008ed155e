#include "methods/detect/detect_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.h"
#include "core/text.h"
#include "settings/setting_values.h"

namespace modlab::methods {
namespace {

using settings::Word;
using settings::word_for;

template <typename Choice>
struct Words;

template <>
struct Words<Direction> {
  static constexpr Word<Direction> kAll[] = {
      {"outgoing", Direction::kOutgoing}, {"incoming", Direction::kIncoming}, {"bidirectional", Direction::kBoth}};
};
template <>
struct Words<Linkage> {
  static constexpr Word<Linkage> kAll[] = {{"average", Linkage::kAverage},
                                           {"complete", Linkage::kComplete},
                                           {"single", Linkage::kSingle},
                                           {"ward", Linkage::kWard}};
};
template <>
struct Words<Distance> {
  static constexpr Word<Distance> kAll[] = {
      {"cosine", Distance::kCosine}, {"jaccard", Distance::kJaccard}, {"euclidean", Distance::kEuclidean}};
};
template <>
struct Words<ClusterIndex> {
  static constexpr Word<ClusterIndex> kAll[] = {{"modularity-metric", ClusterIndex::kModularity},
                                                {"silhouette", ClusterIndex::kSilhouette},
                                                {"ch-index", ClusterIndex::kCalinskiHarabasz},
                                                {"db-index", ClusterIndex::kDaviesBouldin}};
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
  for (const Word<Choice>& word : Words<Choice>::kAll) {
    names.emplace_back(word.text);
  }
  return names;
}

template <typename Choice>
std::string_view name_of(Choice choice) {
  return word_for(choice, Words<Choice>::kAll);
}

template <typename Choice>
Choice read_choice(const std::string& setting, const std::string& text) {
  for (const Word<Choice>& word : Words<Choice>::kAll) {
    if (word.text == text) {
      return word.value;
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

}  // namespace modlab::methods
