#pragma once

#include <span>
#include <vector>

#include "methods/detect/detect.h"
#include "methods/detect/pair_table.h"

namespace modlab::methods {

// Nodes are the leaves 0 to leaves - 1, and then the merges in their order.
struct Merge {
  int first = 0;  // the smaller number of the two nodes
  int second = 0;
  double distance = 0;
  bool tied = false;  // a third cluster was as near to one of the two, and neither distance zero
};

class Dendrogram {
 public:
  Dendrogram() = default;
  Dendrogram(int leaves, std::vector<Merge> merges);

  int leaves() const { return leaves_; }
  const std::vector<Merge>& merges() const { return merges_; }
  int root() const { return leaves_ + static_cast<int>(merges_.size()) - 1; }
  std::span<const int> leaves_of(int node) const {
    return {order_.data() + begin_[node], static_cast<std::size_t>(size_[node])};
  }

 private:
  int leaves_ = 0;
  std::vector<Merge> merges_;  // by distance
  std::vector<int> order_;     // leaves, such that those of a node stand side by side
  std::vector<int> begin_;     // [node]: of its leaves in order_
  std::vector<int> size_;      // [node]
};

// Merges the nearest clusters until one is left, along chains of nearest neighbours. Among equal distances the order of
// the units decides, by the rules of the published results.
Dendrogram grow_dendrogram(PairTable distances, Linkage linkage);

// The cluster of each leaf after all merges but the last clusters - 1.
std::vector<int> cut(const Dendrogram& tree, int clusters);

}  // namespace modlab::methods
