#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tasks/routing.h"

namespace modlab::test {

// A graph edit distance by trying every way to pair nodes of one graph with nodes of another, or with none. Written
// from the definition, without any of the shortcuts of src/measures. The first graph is the network: where a module
// reads more than its gate, as many reads that the gate does not have are free.
struct PlainGraph {
  std::vector<std::pair<int, int>> labels;  // kind and number: input, level or output
  std::set<std::pair<int, int>> edges;

  static constexpr int kModule = 1;

  static PlainGraph of(const tasks::Routing& routing, int inputs) {
    PlainGraph graph;
    constexpr int kInput = 0;
    constexpr int kOutput = 2;
    for (int input = 0; input < inputs; ++input) {
      graph.labels.emplace_back(kInput, input);
    }
    int first_below = 0;
    for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
      const int first = static_cast<int>(graph.labels.size());
      for (const std::vector<int>& slot : routing.inputs[level]) {
        for (const int pick : slot) {
          graph.edges.emplace(first_below + pick, static_cast<int>(graph.labels.size()));
        }
        graph.labels.emplace_back(kModule, static_cast<int>(level));
      }
      first_below = first;
    }
    const int first_readable = routing.outputs_from_all_levels ? inputs : first_below;
    for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
      graph.edges.emplace(first_readable + routing.outputs[output], static_cast<int>(graph.labels.size()));
      graph.labels.emplace_back(kOutput, static_cast<int>(output));
    }
    return graph;
  }
};

class BruteForce {
 public:
  // What it costs to let a node stand for another that is not alike; 100 forbids it.
  BruteForce(PlainGraph a, PlainGraph b, int mismatch)
      : a_(std::move(a)), b_(std::move(b)), mismatch_(mismatch), partner_(a_.labels.size(), -1) {}

  int distance() {
    try_node(0, 0);
    return best_;
  }

 private:
  static constexpr int kForbidden = 100;

  void try_node(std::size_t node, int cost) {
    if (cost >= best_) {
      return;
    }
    if (node == a_.labels.size()) {
      best_ = std::min(best_, cost + remaining_cost());
      return;
    }
    for (std::size_t other = 0; other < b_.labels.size(); ++other) {
      const bool is_free = std::find(partner_.begin(), partner_.begin() + static_cast<std::ptrdiff_t>(node),
                                     static_cast<int>(other)) == partner_.begin() + static_cast<std::ptrdiff_t>(node);
      const int price = a_.labels[node] == b_.labels[other] ? 0 : mismatch_;
      if (is_free && price < kForbidden) {
        partner_[node] = static_cast<int>(other);
        try_node(node + 1, cost + price);
      }
    }
    partner_[node] = -1;
    try_node(node + 1, cost + 1);
  }

  // Nodes of b that are nobody's partner, and edges that only one side has.
  int remaining_cost() const {
    const auto matched = std::ranges::count_if(partner_, [](int other) { return other >= 0; });
    int preserved = 0;
    std::map<int, int> reads;
    std::map<int, int> needless;
    for (const auto& [from, to] : a_.edges) {
      const bool is_preserved =
          partner_[from] >= 0 && partner_[to] >= 0 && b_.edges.contains({partner_[from], partner_[to]});
      preserved += is_preserved ? 1 : 0;
      needless[to] += is_preserved ? 0 : 1;
      ++reads[to];
    }
    int free = 0;
    for (const auto& [node, count] : needless) {
      const int gate = partner_[node];
      if (gate >= 0 && a_.labels[node].first == PlainGraph::kModule && b_.labels[gate].first == PlainGraph::kModule) {
        const auto needs = std::ranges::count_if(b_.edges, [&](const auto& edge) { return edge.second == gate; });
        free += std::clamp(reads[node] - static_cast<int>(needs), 0, count);
      }
    }
    return static_cast<int>(b_.labels.size()) - static_cast<int>(matched) +
           static_cast<int>(a_.edges.size() + b_.edges.size()) - 2 * preserved - free;
  }

  PlainGraph a_;
  PlainGraph b_;
  int mismatch_;
  std::vector<int> partner_;
  int best_ = std::numeric_limits<int>::max();
};

inline int strict_by_force(const tasks::Routing& a, const tasks::Routing& b, int inputs) {
  return BruteForce(PlainGraph::of(a, inputs), PlainGraph::of(b, inputs), 100).distance();
}
inline int relaxed_by_force(const tasks::Routing& a, const tasks::Routing& b, int inputs) {
  return BruteForce(PlainGraph::of(a, inputs), PlainGraph::of(b, inputs), 1).distance();
}

}  // namespace modlab::test
