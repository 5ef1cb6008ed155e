#include "methods/detect/cluster_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "methods/detect/distance.h"

namespace modlab::methods {
namespace {

constexpr double kDecimals = 1e8;
// Centroids nearer than this are in the same place; squared, and in units of a feature.
constexpr double kSamePlace = 1e-12;

// To the even neighbour from halfway, as the published numbers are.
double rounded(double value) { return std::nearbyint(value * kDecimals) / kDecimals + 0.0; }

double sum_between(const PairTable& table, std::span<const int> first, std::span<const int> second) {
  double sum = 0;
  for (const int a : first) {
    const double* row = table.row(a);
    for (const int b : second) {
      sum += row[b];
    }
  }
  return sum;
}

// Calls merge(node, merge) for every merge, and collects value(clusters) where it is asked for.
template <typename OnMerge, typename Value>
std::vector<double> follow_merges(const Dendrogram& tree, const OnMerge& on_merge, const Value& value) {
  const int leaves = tree.leaves();
  std::vector<double> values(std::max(0, leaves - 2));
  for (int clusters = leaves - 1; clusters >= 2; --clusters) {
    const int index = leaves - 1 - clusters;
    on_merge(leaves + index, tree.merges()[index]);
    values[clusters - 2] = rounded(value(clusters));
  }
  return values;
}

// Over clusters c, with distances as shares of their sum: those within c, minus the square of all those from c.
std::vector<double> modularity(const Dendrogram& tree, const PairTable& distances) {
  std::vector<double> sums(tree.leaves() + tree.merges().size());
  double total = 0;
  for (int unit = 0; unit < tree.leaves(); ++unit) {
    const double* row = distances.row(unit);
    sums[unit] = std::accumulate(row, row + tree.leaves(), 0.0);
    total += sums[unit];
  }
  const double unit_of_sums = total > 0 ? total : 1;
  double metric = 0;
  for (int unit = 0; unit < tree.leaves(); ++unit) {
    sums[unit] /= unit_of_sums;
    metric -= sums[unit] * sums[unit];
  }
  const auto on_merge = [&](int node, const Merge& merge) {
    const double between = sum_between(distances, tree.leaves_of(merge.first), tree.leaves_of(merge.second));
    metric += 2 * (between / unit_of_sums - sums[merge.first] * sums[merge.second]);
    sums[node] = sums[merge.first] + sums[merge.second];
  };
  return follow_merges(tree, on_merge, [&](int) { return metric; });
}

// Clusters keep the slot of their first node's; the other slot falls empty.
class Slots {
 public:
  explicit Slots(const Dendrogram& tree) : slot_(tree.leaves() + tree.merges().size()), sizes_(tree.leaves(), 1) {
    std::iota(slot_.begin(), slot_.begin() + tree.leaves(), 0);
  }

  // The slots that the merge leaves and empties.
  std::pair<int, int> merge(int node, const Merge& merge) {
    const int kept = slot_[merge.first];
    const int emptied = slot_[merge.second];
    slot_[node] = kept;
    sizes_[kept] += sizes_[emptied];
    sizes_[emptied] = 0;
    return {kept, emptied};
  }
  int count() const { return static_cast<int>(sizes_.size()); }
  // 0 where the slot is empty.
  int size(int slot) const { return sizes_[slot]; }

 private:
  std::vector<int> slot_;  // [node]
  std::vector<int> sizes_;
};

class Silhouette {
 public:
  Silhouette(const Dendrogram& tree, PairTable distances)
      : tree_(tree), slots_(tree), sums_(std::move(distances)), own_(tree.leaves()), rivals_(tree.leaves()) {
    std::iota(own_.begin(), own_.end(), 0);
    for (int unit = 0; unit < tree_.leaves(); ++unit) {
      find_rival(unit);
    }
  }

  void merge(int node, const Merge& merge) {
    const auto [kept, emptied] = slots_.merge(node, merge);
    for (const int unit : tree_.leaves_of(node)) {
      own_[unit] = kept;
    }
    for (int unit = 0; unit < tree_.leaves(); ++unit) {
      double* row = sums_.row(unit);
      row[kept] += row[emptied];
      // The mean distance to a union lies between those to its parts, so no other unit gains a nearer rival.
      if (rivals_[unit].slot == kept || rivals_[unit].slot == emptied) {
        find_rival(unit);
      }
    }
  }

  double mean() const {
    double sum = 0;
    for (int unit = 0; unit < tree_.leaves(); ++unit) {
      const int others = slots_.size(own_[unit]) - 1;
      if (others > 0) {
        const double inside = sums_.at(unit, own_[unit]) / others;
        const double larger = std::max(inside, rivals_[unit].mean);
        sum += larger > 0 ? (rivals_[unit].mean - inside) / larger : 0;
      }
    }
    return sum / tree_.leaves();
  }

 private:
  struct Rival {
    int slot = -1;
    double mean = std::numeric_limits<double>::infinity();
  };

  void find_rival(int unit) {
    const double* row = sums_.row(unit);
    Rival rival;
    for (int slot = 0; slot < slots_.count(); ++slot) {
      if (slots_.size(slot) > 0 && slot != own_[unit] && row[slot] / slots_.size(slot) < rival.mean) {
        rival = {slot, row[slot] / slots_.size(slot)};
      }
    }
    rivals_[unit] = rival;
  }

  const Dendrogram& tree_;
  Slots slots_;
  PairTable sums_;  // [unit][slot]: distances to the cluster's units; no longer symmetric
  std::vector<int> own_;
  std::vector<Rival> rivals_;
};

std::vector<double> silhouette(const Dendrogram& tree, const PairTable& distances) {
  Silhouette state(tree, distances);
  return follow_merges(
      tree, [&](int node, const Merge& merge) { state.merge(node, merge); }, [&](int) { return -state.mean(); });
}

// Sums of squares between pairs inside each node. Divided by a cluster's size they are its spread about its centroid.
std::vector<double> squares_inside(const Dendrogram& tree, const PairTable& squares) {
  std::vector<double> inside(tree.leaves() + tree.merges().size());
  for (std::size_t index = 0; index < tree.merges().size(); ++index) {
    const Merge& merge = tree.merges()[index];
    inside[tree.leaves() + index] = inside[merge.first] + inside[merge.second] +
                                    sum_between(squares, tree.leaves_of(merge.first), tree.leaves_of(merge.second));
  }
  return inside;
}

std::vector<double> calinski_harabasz(const Dendrogram& tree, const PairTable& squares) {
  const std::vector<double> inside = squares_inside(tree, squares);
  const auto spread_of = [&](int node) { return inside[node] / static_cast<double>(tree.leaves_of(node).size()); };
  const double total = spread_of(tree.root());
  double within = 0;
  const auto on_merge = [&](int node, const Merge& merge) {
    within += spread_of(node) - spread_of(merge.first) - spread_of(merge.second);
  };
  const auto value = [&](int clusters) {
    // By convention 1 where all clusters are points.
    return within <= 0 ? -1 : -(total - within) * (tree.leaves() - clusters) / (within * (clusters - 1));
  };
  return follow_merges(tree, on_merge, value);
}

class DaviesBouldin {
 public:
  DaviesBouldin(const Dendrogram& tree, const PairTable& squares)
      : tree_(tree),
        squares_(squares),
        inside_(squares_inside(tree, squares)),
        slots_(tree),
        between_(squares),
        scatter_(tree.leaves()),
        own_sum_(tree.leaves()),
        spread_(tree.leaves()),
        rivals_(tree.leaves()) {
    for (int slot = 0; slot < tree_.leaves(); ++slot) {
      rivals_[slot].slot = slot == 0 ? 1 : 0;
    }
  }

  void merge(int node, const Merge& merge) {
    const auto [kept, emptied] = slots_.merge(node, merge);
    const std::span<const int> first = tree_.leaves_of(merge.first);
    const std::span<const int> second = tree_.leaves_of(merge.second);
    add_squares(first, second);
    add_squares(second, first);
    for (int slot = 0; slot < slots_.count(); ++slot) {
      if (slots_.size(slot) > 0 && slot != kept) {
        between_.set(kept, slot, between_.at(kept, slot) + between_.at(emptied, slot));
      }
    }
    const double size = slots_.size(kept);
    scatter_[kept] = inside_[node] / (size * size);
    double sum = 0;
    for (const int unit : tree_.leaves_of(node)) {
      sum += std::sqrt(std::max(0.0, own_sum_[unit] / size - scatter_[kept]));
    }
    spread_[kept] = sum / size;
    update_rivals(kept, emptied);
  }

  double mean() const {
    double sum = 0;
    int clusters = 0;
    for (int slot = 0; slot < slots_.count(); ++slot) {
      if (slots_.size(slot) > 0) {
        sum += rivals_[slot].overlap;
        ++clusters;
      }
    }
    return sum / clusters;
  }

 private:
  // The cluster that another is mixed up with most: both spreads in proportion to the distance of their centroids.
  struct Rival {
    int slot = -1;
    double overlap = 0;
  };

  void add_squares(std::span<const int> to, std::span<const int> from) {
    for (const int unit : to) {
      for (const int other : from) {
        own_sum_[unit] += squares_.at(unit, other);
      }
    }
  }

  // Nothing where the centroids are in the same place, by convention.
  double overlap(int a, int b) const {
    const double pairs = static_cast<double>(slots_.size(a)) * slots_.size(b);
    const double square = between_.at(a, b) / pairs - scatter_[a] - scatter_[b];
    return square < kSamePlace ? 0 : (spread_[a] + spread_[b]) / std::sqrt(square);
  }

  void find_rival(int slot) {
    Rival rival;
    for (int other = 0; other < slots_.count(); ++other) {
      if (slots_.size(other) > 0 && other != slot) {
        const double with_other = overlap(slot, other);
        if (rival.slot < 0 || with_other > rival.overlap) {
          rival = {other, with_other};
        }
      }
    }
    rivals_[slot] = rival;
  }

  void update_rivals(int kept, int emptied) {
    find_rival(kept);
    for (int slot = 0; slot < slots_.count(); ++slot) {
      if (slots_.size(slot) == 0 || slot == kept) {
        continue;
      }
      if (rivals_[slot].slot == kept || rivals_[slot].slot == emptied) {
        find_rival(slot);
      } else if (const double with_kept = overlap(slot, kept); with_kept > rivals_[slot].overlap) {
        rivals_[slot] = {kept, with_kept};
      }
    }
  }

  const Dendrogram& tree_;
  const PairTable& squares_;
  std::vector<double> inside_;
  Slots slots_;
  PairTable between_;            // [slot][slot]: sums of squares between the clusters' units
  std::vector<double> scatter_;  // [slot]: mean square distance to the centroid
  std::vector<double> own_sum_;  // [unit]: squares to the units of its cluster
  std::vector<double> spread_;   // [slot]: mean distance to the centroid
  std::vector<Rival> rivals_;
};

std::vector<double> davies_bouldin(const Dendrogram& tree, const PairTable& squares) {
  DaviesBouldin state(tree, squares);
  return follow_merges(
      tree, [&](int node, const Merge& merge) { state.merge(node, merge); }, [&](int) { return state.mean(); });
}

}  // namespace

std::vector<double> index_values(const Dendrogram& tree, const LayerFeatures& features, const PairTable& distances,
                                 ClusterIndex index) {
  if (tree.leaves() < 3) {
    return {};
  }
  switch (index) {
    case ClusterIndex::kSilhouette:
      return silhouette(tree, distances);
    case ClusterIndex::kCalinskiHarabasz:
      return calinski_harabasz(tree, squared_distances(features));
    case ClusterIndex::kDaviesBouldin:
      return davies_bouldin(tree, squared_distances(features));
    case ClusterIndex::kModularity:
      break;
  }
  return modularity(tree, distances);
}

}  // namespace modlab::methods
