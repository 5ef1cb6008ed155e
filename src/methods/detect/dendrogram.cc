#include "methods/detect/dendrogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace modlab::methods {
namespace {

constexpr double kEqual = 1e-12;  // apart from rounding

// Clusters live in the slots of their units; a merge empties the lower slot and keeps the union in the higher one.
class ChainOfNeighbours {
 public:
  ChainOfNeighbours(PairTable distances, Linkage linkage)
      : distances_(std::move(distances)), linkage_(linkage), sizes_(distances_.units(), 1) {}

  // Pairs of slots, in the order of merging.
  std::vector<Merge> merges() {
    std::vector<Merge> merges;
    while (static_cast<int>(merges.size()) + 1 < distances_.units()) {
      merges.push_back(next_pair());
      unite(merges.back());
    }
    return merges;
  }

 private:
  struct Neighbour {
    int slot = -1;
    double distance = std::numeric_limits<double>::infinity();
  };

  Merge next_pair() {
    if (chain_.empty()) {
      const auto lowest = std::ranges::find_if(sizes_, [](int size) { return size > 0; });
      chain_.push_back(static_cast<int>(lowest - sizes_.begin()));
    }
    while (true) {
      const int top = chain_.back();
      const int below = chain_.size() > 1 ? chain_[chain_.size() - 2] : -1;
      const Neighbour nearest = nearest_to(top, below);
      if (nearest.slot == below) {
        chain_.resize(chain_.size() - 2);
        const bool tied = nearest.distance > kEqual &&
                          (has_third(top, below, nearest.distance) || has_third(below, top, nearest.distance));
        return {std::min(top, below), std::max(top, below), nearest.distance, tied};
      }
      chain_.push_back(nearest.slot);
    }
  }

  // Where others are as near as the slot that the chain came from, it stays that one; otherwise it is the lowest.
  Neighbour nearest_to(int slot, int before) const {
    const double* row = distances_.row(slot);
    Neighbour nearest;
    if (before >= 0) {
      nearest = {before, row[before]};
    }
    for (int other = 0; other < distances_.units(); ++other) {
      if (sizes_[other] > 0 && other != slot && row[other] < nearest.distance) {
        nearest = {other, row[other]};
      }
    }
    return nearest;
  }

  // Is there one as near to `slot` as `partner` is?
  bool has_third(int slot, int partner, double distance) const {
    const double* row = distances_.row(slot);
    for (int other = 0; other < distances_.units(); ++other) {
      if (sizes_[other] > 0 && other != slot && other != partner && row[other] <= distance + kEqual) {
        return true;
      }
    }
    return false;
  }

  void unite(const Merge& pair) {
    for (int other = 0; other < distances_.units(); ++other) {
      if (sizes_[other] > 0 && other != pair.first && other != pair.second) {
        distances_.set(other, pair.second, distance_to_union(other, pair));
      }
    }
    sizes_[pair.second] += sizes_[pair.first];
    sizes_[pair.first] = 0;
  }

  double distance_to_union(int other, const Merge& pair) const {
    const double to_first = distances_.at(other, pair.first);
    const double to_second = distances_.at(other, pair.second);
    const double first = sizes_[pair.first];
    const double second = sizes_[pair.second];
    switch (linkage_) {
      case Linkage::kComplete:
        return std::max(to_first, to_second);
      case Linkage::kSingle:
        return std::min(to_first, to_second);
      case Linkage::kWard: {
        const double third = sizes_[other];
        const double square = ((third + first) * to_first * to_first + (third + second) * to_second * to_second -
                               third * pair.distance * pair.distance) /
                              (first + second + third);
        return std::sqrt(std::max(0.0, square));
      }
      case Linkage::kAverage:
        break;
    }
    return (first * to_first + second * to_second) / (first + second);
  }

  PairTable distances_;
  Linkage linkage_;
  std::vector<int> sizes_;  // of the clusters in the slots; 0 where there is none
  std::vector<int> chain_;
};

// From pairs of slots, sorted, to pairs of nodes.
void name_nodes(std::vector<Merge>& merges) {
  const int leaves = static_cast<int>(merges.size()) + 1;
  std::vector<int> parent(leaves + merges.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root_of = [&](int node) {
    while (parent[node] != node) {
      // Halving the way keeps it short.
      parent[node] = parent[parent[node]];
      node = parent[node];
    }
    return node;
  };
  for (std::size_t index = 0; index < merges.size(); ++index) {
    Merge& merge = merges[index];
    const int a = root_of(merge.first);
    const int b = root_of(merge.second);
    parent[a] = parent[b] = leaves + static_cast<int>(index);
    merge.first = std::min(a, b);
    merge.second = std::max(a, b);
  }
}

// The largest number on top, in an array of which node i has nodes 2 i + 1 and 2 i + 2 below it. Where an item ends up
// is part of the result: it is the label of a cluster. The standard library leaves that open.
class LabelHeap {
 public:
  explicit LabelHeap(int item) : items_{item} {}

  const std::vector<int>& items() const { return items_; }
  int top() const { return items_[0]; }
  void push(int item) {
    items_.push_back(item);
    rise(items_.size() - 1);
  }
  // The gap at the top sinks to the bottom along the larger items, and the new item rises from there.
  void replace_top(int item) {
    std::size_t gap = 0;
    for (std::size_t below = 1; below < items_.size(); below = 2 * gap + 1) {
      if (below + 1 < items_.size() && items_[below + 1] > items_[below]) {
        ++below;
      }
      items_[gap] = items_[below];
      gap = below;
    }
    items_[gap] = item;
    rise(gap);
  }

 private:
  void rise(std::size_t place) {
    while (place > 0 && items_[(place - 1) / 2] < items_[place]) {
      std::swap(items_[(place - 1) / 2], items_[place]);
      place = (place - 1) / 2;
    }
  }

  std::vector<int> items_;
};

}  // namespace

Dendrogram::Dendrogram(int leaves, std::vector<Merge> merges)
    : leaves_(leaves),
      merges_(std::move(merges)),
      order_(leaves),
      begin_(leaves + merges_.size(), 0),
      size_(leaves + merges_.size(), 1) {
  for (std::size_t index = 0; index < merges_.size(); ++index) {
    size_[leaves_ + index] = size_[merges_[index].first] + size_[merges_[index].second];
  }
  for (std::size_t index = merges_.size(); index-- > 0;) {
    const Merge& merge = merges_[index];
    begin_[merge.first] = begin_[leaves_ + index];
    begin_[merge.second] = begin_[merge.first] + size_[merge.first];
  }
  for (int leaf = 0; leaf < leaves_; ++leaf) {
    order_[begin_[leaf]] = leaf;
  }
}

Dendrogram grow_dendrogram(PairTable distances, Linkage linkage) {
  const int leaves = distances.units();
  std::vector<Merge> merges = ChainOfNeighbours(std::move(distances), linkage).merges();
  std::ranges::stable_sort(merges, {}, &Merge::distance);
  name_nodes(merges);
  return {leaves, std::move(merges)};
}

std::vector<int> cut(const Dendrogram& tree, int clusters) {
  LabelHeap nodes(tree.root());
  for (int split = 1; split < clusters; ++split) {
    const Merge& merge = tree.merges()[nodes.top() - tree.leaves()];
    nodes.push(merge.first);
    nodes.replace_top(merge.second);
  }
  std::vector<int> labels(tree.leaves());
  for (std::size_t label = 0; label < nodes.items().size(); ++label) {
    for (const int leaf : tree.leaves_of(nodes.items()[label])) {
      labels[leaf] = static_cast<int>(label);
    }
  }
  return labels;
}

}  // namespace modlab::methods
