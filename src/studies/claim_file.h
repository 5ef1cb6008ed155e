#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "studies/study.h"
#include "studies/yaml_map.h"

namespace modlab::studies {

// The parts of a study's file that say what to draw and what to check. Each throws ConfigError with the line.
Figure read_figure(const YAML::Node& node, const std::string& source);
Claim read_claim(const YAML::Node& node, const std::string& source);
// Names of settings that selection may choose, as the plan has them. Throws ConfigError for others.
std::vector<std::string> tune_names(std::vector<std::string> names);
// The list under 'tune'.
std::vector<std::string> read_tune(YamlMap& map);
// {ratio: [0.1, 0.2], series: dense}; a scalar alone is a series.
Selector read_selector(const YAML::Node& node, const std::string& source);

}  // namespace modlab::studies
