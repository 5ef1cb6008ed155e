#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "methods/detect/detect.h"

// The choices of DetectSettings as the words that users write, which are the published ones: "bidirectional",
// "average", "cosine", "modularity-metric". Choice is Direction, Linkage, Distance or ClusterIndex.
namespace modlab::methods {

template <typename Choice>
std::vector<std::string> choice_names();

template <typename Choice>
std::string_view name_of(Choice choice);

// Throws ConfigError, naming the setting, if there is no such choice.
template <typename Choice>
Choice read_choice(const std::string& setting, const std::string& text);

}  // namespace modlab::methods
