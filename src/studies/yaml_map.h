#pragma once

#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <vector>

namespace modlab::studies {

// A YAML map read key by key: wrong kinds and keys that nobody asked for are mistakes with a place.
class YamlMap {
 public:
  YamlMap(const YAML::Node& node, std::string source, std::string what);

  bool has(const std::string& key) const;
  // The node under `key`, or an undefined one.
  YAML::Node get(const std::string& key);
  std::string text(const std::string& key, const std::string& otherwise = "");
  std::string required_text(const std::string& key);
  double number(const std::string& key, double otherwise);
  std::vector<std::string> texts(const std::string& key);  // a list, or a scalar as a list of one
  std::vector<YAML::Node> maps(const std::string& key);    // a list of maps
  std::vector<std::string> keys() const;

  // Call when all known keys have been asked for.
  void done() const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const;
  const std::string& source() const { return source_; }
  const YAML::Node& node() const { return node_; }

 private:
  YAML::Node node_;
  std::string source_;
  std::string what_;
  std::set<std::string> asked_;
};

// A scalar, or a list of scalars as "3,2".
std::string scalar_text(const YAML::Node& node);

}  // namespace modlab::studies
