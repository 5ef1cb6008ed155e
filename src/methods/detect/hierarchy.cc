#include <algorithm>
#include <map>
#include <utility>

#include "methods/detect/detect.h"
#include "methods/detect/live_part.h"

namespace modlab::methods {
namespace {

std::vector<Module> list_modules(const Detection& detection) {
  const std::size_t layers = detection.live.size();
  std::vector<Module> modules(detection.module_count);
  for (int id = 0; id < detection.module_count; ++id) {
    modules[id].id = id;
    modules[id].first_layer = static_cast<int>(layers);
    modules[id].units.resize(layers);
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (std::size_t place = 0; place < detection.live[layer].size(); ++place) {
      Module& module = modules[detection.modules[layer][place]];
      module.first_layer = std::min(module.first_layer, static_cast<int>(layer));
      module.last_layer = static_cast<int>(layer);
      module.units[layer].push_back(detection.live[layer][place]);
    }
  }
  std::ranges::sort(modules, {}, [](const Module& module) {
    return std::pair(module.first_layer, module.units[module.first_layer].front());
  });
  return modules;
}

void count_edges(const models::LayeredNetwork& network, const Detection& detection, Hierarchy& hierarchy) {
  std::vector<int> place_of(hierarchy.modules.size());
  for (std::size_t place = 0; place < hierarchy.modules.size(); ++place) {
    place_of[hierarchy.modules[place].id] = static_cast<int>(place);
  }
  hierarchy.inside_edges.resize(hierarchy.modules.size());
  std::map<std::pair<int, int>, int> counts;
  const models::LayeredNetwork part = live_part(network, detection.live);
  for (std::size_t layer = 0; layer < part.connections.size(); ++layer) {
    for (const models::Edge& edge : part.connections[layer].edges) {
      const int from = place_of[detection.modules[layer][edge.from]];
      const int to = place_of[detection.modules[layer + 1][edge.to]];
      ++(from == to ? hierarchy.inside_edges[from] : counts[{from, to}]);
    }
  }
  for (const auto& [ends, edges] : counts) {
    hierarchy.edges.push_back({ends.first, ends.second, edges});
  }
}

// Modules that feed each other, directly or through others, form a knot (strongly connected components, by Tarjan's
// algorithm). This happens where a module gets a few edges back from one that it feeds in an earlier layer.
class Knots {
 public:
  explicit Knots(const Hierarchy& hierarchy)
      : readers_(hierarchy.modules.size()),
        visit_(hierarchy.modules.size(), kUnseen),
        lowest_(hierarchy.modules.size()),
        knot_(hierarchy.modules.size(), kUnseen) {
    for (const ModuleEdge& edge : hierarchy.edges) {
      readers_[edge.from].push_back(edge.to);
    }
    for (std::size_t module = 0; module < readers_.size(); ++module) {
      if (visit_[module] == kUnseen) {
        visit(static_cast<int>(module));
      }
    }
  }

  int count() const { return count_; }
  // What feeds a knot has a higher number than it.
  int knot_of(int module) const { return knot_[module]; }

 private:
  static constexpr int kUnseen = -1;

  void visit(int module) {
    visit_[module] = lowest_[module] = visits_++;
    open_.push_back(module);
    for (const int reader : readers_[module]) {
      if (visit_[reader] == kUnseen) {
        visit(reader);
        lowest_[module] = std::min(lowest_[module], lowest_[reader]);
      } else if (knot_[reader] == kUnseen) {
        lowest_[module] = std::min(lowest_[module], visit_[reader]);
      }
    }
    if (lowest_[module] == visit_[module]) {
      int member = kUnseen;
      do {
        member = open_.back();
        open_.pop_back();
        knot_[member] = count_;
      } while (member != module);
      ++count_;
    }
  }

  std::vector<std::vector<int>> readers_;
  std::vector<int> visit_;
  std::vector<int> lowest_;  // the earliest visit that can be reached
  std::vector<int> knot_;
  std::vector<int> open_;
  int visits_ = 0;
  int count_ = 0;
};

void find_levels(Hierarchy& hierarchy) {
  const Knots knots(hierarchy);
  std::vector<std::vector<int>> readers(knots.count());
  for (const ModuleEdge& edge : hierarchy.edges) {
    readers[knots.knot_of(edge.from)].push_back(knots.knot_of(edge.to));
  }
  std::vector<int> levels(knots.count());
  for (int knot = knots.count() - 1; knot >= 0; --knot) {
    for (const int reader : readers[knot]) {
      levels[reader] = reader == knot ? levels[reader] : std::max(levels[reader], levels[knot] + 1);
    }
  }
  for (std::size_t module = 0; module < hierarchy.modules.size(); ++module) {
    hierarchy.modules[module].level = levels[knots.knot_of(static_cast<int>(module))];
  }
}

}  // namespace

Hierarchy hierarchy(const models::LayeredNetwork& network, const Detection& detection) {
  Hierarchy hierarchy;
  hierarchy.modules = list_modules(detection);
  count_edges(network, detection, hierarchy);
  find_levels(hierarchy);
  return hierarchy;
}

}  // namespace modlab::methods
