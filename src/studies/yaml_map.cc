#include "studies/yaml_map.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "core/text.h"
#include "io/yaml_file.h"

namespace modlab::studies {

YamlMap::YamlMap(const YAML::Node& node, std::string source, std::string what)
    : node_(node), source_(std::move(source)), what_(std::move(what)) {
  if (!node_.IsMap()) {
    fail(node_, fmt::format("{} must be a map of names and values", what_));
  }
}

void YamlMap::fail(const YAML::Node& node, const std::string& message) const {
  throw ConfigError(fmt::format("{}: {}", node.IsDefined() ? io::place_of(node, source_) : source_, message));
}

bool YamlMap::has(const std::string& key) const { return node_[key].IsDefined(); }

YAML::Node YamlMap::get(const std::string& key) {
  asked_.insert(key);
  return node_[key];
}

std::string YamlMap::text(const std::string& key, const std::string& otherwise) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) {
    return otherwise;
  }
  if (!node.IsScalar()) {
    fail(node, fmt::format("'{}' must be a text", key));
  }
  return scalar_text(node);
}

std::string YamlMap::required_text(const std::string& key) {
  std::string value = text(key);
  if (value.empty()) {
    fail(node_, fmt::format("{} needs '{}'", what_, key));
  }
  return value;
}

double YamlMap::number(const std::string& key, double otherwise) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) {
    return otherwise;
  }
  const std::optional<double> value = node.IsScalar() ? parse_real(node.Scalar()) : std::nullopt;
  if (!value) {
    fail(node, fmt::format("'{}' must be a number", key));
  }
  return *value;
}

std::vector<std::string> YamlMap::texts(const std::string& key) {
  const YAML::Node node = get(key);
  if (!node.IsDefined()) {
    return {};
  }
  if (node.IsScalar()) {
    return {scalar_text(node)};
  }
  std::vector<std::string> values;
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      values.push_back(scalar_text(item));
    }
  }
  if (values.empty()) {
    fail(node, fmt::format("'{}' must be a list with something in it", key));
  }
  return values;
}

std::vector<YAML::Node> YamlMap::maps(const std::string& key) {
  const YAML::Node node = get(key);
  std::vector<YAML::Node> items;
  if (!node.IsDefined()) {
    return items;
  }
  if (!node.IsSequence()) {
    fail(node, fmt::format("'{}' must be a list", key));
  }
  for (const YAML::Node& item : node) {
    items.push_back(item);
  }
  return items;
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> names;
  for (const auto& entry : node_) {
    names.push_back(entry.first.IsScalar() ? entry.first.Scalar() : "");
  }
  return names;
}

void YamlMap::done() const {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!asked_.contains(key)) {
      const std::string nearest = did_you_mean(key, known);
      fail(entry.first, fmt::format("{} knows no {}{}", what_, io::quote_for_message(key),
                                    nearest.empty() ? "; it knows " + join_text(known, ", ") : nearest));
    }
  }
}

std::string scalar_text(const YAML::Node& node) {
  if (node.IsScalar()) {
    return printable(trim(node.Scalar()));
  }
  std::vector<std::string> parts;
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      parts.push_back(item.IsScalar() ? printable(item.Scalar()) : "");
    }
  }
  return join_text(parts, ",");
}

}  // namespace modlab::studies
