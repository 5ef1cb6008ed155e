#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tasks/routing.h"

namespace modlab::report {

// A network drawn over the truth: nodes by level, and edges that are right, wrong or missing, or free because a module
// reads more than its gate needs. web/src/report.ts describes the form (RoutingGraph).
class WiringPicture {
 public:
  using Edges = std::set<std::pair<std::string, std::string>>;
  // The name of a routing's node in the picture, if it has one there; level 0 is what the network reads.
  using Place = std::function<std::optional<std::string>(int level, int index)>;

  static std::string node_id(int level, int index);
  static std::string output_id(int index);
  static Edges edges_of(const tasks::Routing& routing, const Place& place);
  // With every node under its own name.
  static Edges edges_of(const tasks::Routing& routing);

  nlohmann::ordered_json& add_node(const std::string& id, const char* kind, int level, int index,
                                   const std::string& label);
  // The node stands for a gate that needs so many values.
  void set_needs(const std::string& id, std::size_t values) { needs_[id] = values; }
  // Without a truth there is nothing to be wrong about.
  void add_edges(const Edges& learned, const std::optional<Edges>& truth);

  nlohmann::ordered_json json() const { return {{"nodes", nodes_}, {"edges", edges_}}; }

 private:
  std::map<std::string, std::size_t> needs_;
  nlohmann::ordered_json nodes_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json edges_ = nlohmann::ordered_json::array();
};

}  // namespace modlab::report
