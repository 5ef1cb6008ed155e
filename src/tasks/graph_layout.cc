// Sugiyama's method: order by barycentres, then coordinates by least squares within the order.
#include "tasks/graph_layout.h"

#include <algorithm>
#include <cmath>

namespace modlab::tasks {
namespace {

constexpr double kNodeGap = 16;
constexpr int kOrderSweeps = 12;
// Outputs that cross look like a mistake, so such a crossing counts for more.
constexpr int kOutputCrossing = 3;
// Groups are areas, which must not lie across each other.
constexpr int kGroupCrossing = 100;
// Counting compares all pairs of edges; graphs beyond this are drawn in the order given.
constexpr std::size_t kMaxOrderedEdges = 1500;

std::vector<int> positions(const Layout& layout) {
  std::vector<int> position(layout.nodes.size(), 0);
  for (const std::vector<int>& layer : layout.layers) {
    for (std::size_t place = 0; place < layer.size(); ++place) {
      position[layer[place]] = static_cast<int>(place);
    }
  }
  return position;
}

struct Neighbours {
  std::vector<std::vector<int>> before;
  std::vector<std::vector<int>> after;
};

Neighbours find_neighbours(const Layout& layout) {
  Neighbours found;
  found.before.resize(layout.nodes.size());
  found.after.resize(layout.nodes.size());
  for (const LayoutEdge& edge : layout.edges) {
    found.before[edge.to].push_back(edge.from);
    found.after[edge.from].push_back(edge.to);
  }
  return found;
}

bool same_group(const Layout& layout, int a, int b) {
  return layout.nodes[a].group >= 0 && layout.nodes[a].group == layout.nodes[b].group;
}

// A layer's nodes in the pieces that move as one: groups, and nodes without a group alone.
std::vector<std::vector<int>> pieces_of(const Layout& layout, const std::vector<int>& layer) {
  std::vector<std::vector<int>> pieces;
  for (const int node : layer) {
    if (pieces.empty() || !same_group(layout, pieces.back().back(), node)) {
      pieces.emplace_back();
    }
    pieces.back().push_back(node);
  }
  return pieces;
}

std::vector<int> joined(const std::vector<std::vector<int>>& pieces) {
  std::vector<int> layer;
  for (const std::vector<int>& piece : pieces) {
    layer.insert(layer.end(), piece.begin(), piece.end());
  }
  return layer;
}

void sort_by_barycentre(Layout& layout, std::size_t layer, const std::vector<std::vector<int>>& neighbours) {
  std::vector<int>& nodes = layout.layers[layer];
  if (std::ranges::any_of(nodes, [&](int node) { return layout.nodes[node].keeps_order; })) {
    return;
  }
  const std::vector<int> position = positions(layout);
  std::vector<double> barycentre(layout.nodes.size(), 0);
  for (const int node : nodes) {
    double sum = 0;
    for (const int other : neighbours[node]) {
      sum += position[other];
    }
    barycentre[node] = neighbours[node].empty() ? position[node] : sum / static_cast<double>(neighbours[node].size());
  }
  std::vector<std::vector<int>> pieces = pieces_of(layout, nodes);
  for (std::vector<int>& piece : pieces) {
    std::ranges::stable_sort(piece, {}, [&](int node) { return barycentre[node]; });
  }
  std::ranges::stable_sort(pieces, {}, [&](const std::vector<int>& piece) {
    double sum = 0;
    for (const int node : piece) {
      sum += barycentre[node];
    }
    return sum / static_cast<double>(piece.size());
  });
  nodes = joined(pieces);
}

bool swap_neighbours_once(Layout& layout, int& crossings) {
  bool better = false;
  for (std::vector<int>& layer : layout.layers) {
    if (std::ranges::any_of(layer, [&](int node) { return layout.nodes[node].keeps_order; })) {
      continue;
    }
    const auto keep_if_better = [&](std::vector<int> changed) {
      std::swap(layer, changed);
      const int swapped = count_crossings(layout);
      const bool is_better = swapped < crossings;
      if (is_better) {
        crossings = swapped;
        better = true;
      } else {
        std::swap(layer, changed);
      }
      return is_better;
    };
    for (std::size_t place = 0; place + 1 < layer.size(); ++place) {
      if (same_group(layout, layer[place], layer[place + 1])) {
        std::vector<int> changed = layer;
        std::swap(changed[place], changed[place + 1]);
        keep_if_better(std::move(changed));
      }
    }
    std::vector<std::vector<int>> pieces = pieces_of(layout, layer);
    for (std::size_t piece = 0; piece + 1 < pieces.size(); ++piece) {
      std::swap(pieces[piece], pieces[piece + 1]);
      if (!keep_if_better(joined(pieces))) {
        std::swap(pieces[piece], pieces[piece + 1]);
      }
    }
  }
  return better;
}

void order_layers(Layout& layout) {
  if (layout.edges.size() > kMaxOrderedEdges) {
    return;
  }
  const Neighbours neighbours = find_neighbours(layout);
  std::vector<std::vector<int>> best = layout.layers;
  int best_crossings = count_crossings(layout);
  const auto keep_if_better = [&] {
    const int crossings = count_crossings(layout);
    if (crossings < best_crossings) {
      best_crossings = crossings;
      best = layout.layers;
    }
  };
  for (int sweep = 0; sweep < kOrderSweeps && best_crossings > 0; ++sweep) {
    for (std::size_t layer = 1; layer < layout.layers.size(); ++layer) {
      sort_by_barycentre(layout, layer, neighbours.before);
    }
    keep_if_better();
    for (std::size_t layer = layout.layers.size(); layer-- > 0;) {
      sort_by_barycentre(layout, layer, neighbours.after);
    }
    keep_if_better();
  }
  layout.layers = best;
  // Cubic in the edges a round, so only for what fits on a page.
  if (layout.edges.size() <= 150) {
    while (best_crossings > 0 && swap_neighbours_once(layout, best_crossings)) {
    }
  }
}

// The places nearest to `wished` (least squares) that keep the order and the distances between neighbours: after
// subtracting the distances this is isotonic regression, solved by pooling adjacent violators.
std::vector<double> keep_apart(const std::vector<double>& wished, const std::vector<double>& distance) {
  struct Pool {
    double sum;
    int count;
    double mean() const { return sum / count; }
  };
  std::vector<Pool> pools;
  double offset = 0;
  for (std::size_t place = 0; place < wished.size(); ++place) {
    offset += place == 0 ? 0 : distance[place - 1];
    pools.push_back({wished[place] - offset, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::vector<double> placed;
  offset = 0;
  for (const Pool& pool : pools) {
    for (int member = 0; member < pool.count; ++member) {
      offset += placed.empty() ? 0 : distance[placed.size() - 1];
      placed.push_back(pool.mean() + offset);
    }
  }
  return placed;
}

// Between the edges of two nodes, one below the other.
double gap_between(const Layout& layout, int upper, int lower) {
  const bool is_edge = !same_group(layout, upper, lower);
  return kNodeGap + (is_edge ? layout.nodes[upper].below + layout.nodes[lower].above : 0);
}

enum class Look { kBefore, kAfter };

// Moves each node of a layer towards the mean of its neighbours on one side.
void place_layer(Layout& layout, std::size_t layer, Look look) {
  const std::vector<int>& nodes = layout.layers[layer];
  std::vector<double> sum(layout.nodes.size(), 0);
  std::vector<int> count(layout.nodes.size(), 0);
  for (const LayoutEdge& edge : layout.edges) {
    const int node = look == Look::kBefore ? edge.to : edge.from;
    sum[node] += layout.nodes[look == Look::kBefore ? edge.from : edge.to].y;
    ++count[node];
  }
  std::vector<double> distance;
  for (std::size_t place = 0; place + 1 < nodes.size(); ++place) {
    const double heights = layout.nodes[nodes[place]].height + layout.nodes[nodes[place + 1]].height;
    distance.push_back(heights / 2 + gap_between(layout, nodes[place], nodes[place + 1]));
  }
  std::vector<double> wished(nodes.size(), 0);
  std::size_t first_joined = nodes.size();
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    const int node = nodes[place];
    if (count[node] > 0) {
      wished[place] = sum[node] / count[node];
      first_joined = std::min(first_joined, place);
    } else {
      // Nothing pulls at it: it stays close to the one above.
      wished[place] = place > first_joined ? wished[place - 1] + distance[place - 1] : layout.nodes[node].y;
    }
  }
  for (std::size_t place = std::min(first_joined, nodes.size() - 1); first_joined < nodes.size() && place-- > 0;) {
    wished[place] = wished[place + 1] - distance[place];
  }
  const std::vector<double> placed = keep_apart(wished, distance);
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    layout.nodes[nodes[place]].y = placed[place];
  }
}

void place_vertically(Layout& layout) {
  for (const std::vector<int>& layer : layout.layers) {
    double top = 0;
    for (std::size_t place = 0; place < layer.size(); ++place) {
      LayoutNode& node = layout.nodes[layer[place]];
      top += place == 0 ? 0 : gap_between(layout, layer[place - 1], layer[place]);
      node.y = top + node.height / 2;
      top += node.height;
    }
    // All layers start centred on the same line.
    for (const int node : layer) {
      layout.nodes[node].y -= top / 2;
    }
  }
  // Back first, so that few inputs spread over many gates; then forth, so that each gate stands between its inputs.
  for (std::size_t layer = layout.layers.size() - 1; layer-- > 0;) {
    place_layer(layout, layer, Look::kAfter);
  }
  for (std::size_t layer = 1; layer < layout.layers.size(); ++layer) {
    place_layer(layout, layer, Look::kBefore);
  }
  double top = 0;
  double bottom = 0;
  for (const LayoutNode& node : layout.nodes) {
    top = std::min(top, node.y - node.height / 2 - node.above);
    bottom = std::max(bottom, node.y + node.height / 2 + node.below);
  }
  for (LayoutNode& node : layout.nodes) {
    // Whole pixels, so that lines and boxes stay sharp.
    node.y = std::round(node.y - top);
  }
  layout.height = std::ceil(bottom - top);
}

void place_horizontally(Layout& layout) {
  // Steep wires are hard to follow, so tall drawings get more room between their layers.
  const double gap = std::round(std::clamp(36 + 0.12 * layout.height, 56.0, 180.0));
  const auto edge_of = [&](const std::vector<int>& layer) {
    double beside = 0;
    for (const int node : layer) {
      beside = std::max(beside, layout.nodes[node].beside);
    }
    return beside;
  };
  double left = edge_of(layout.layers.front());
  for (const std::vector<int>& layer : layout.layers) {
    double width = 0;
    for (const int node : layer) {
      width = std::max(width, layout.nodes[node].width);
    }
    for (const int node : layer) {
      // One width for a layer: a wire must not start behind a wider neighbour.
      layout.nodes[node].width = width;
      layout.nodes[node].x = left + width / 2;
    }
    left += width + gap;
  }
  layout.width = left - gap + edge_of(layout.layers.back());
}

// Pairs of groups that stand in one order in a layer and in the other order in the next.
int count_group_crossings(const Layout& layout) {
  const auto groups_of = [&](const std::vector<int>& layer) {
    std::vector<int> groups;
    for (const std::vector<int>& piece : pieces_of(layout, layer)) {
      groups.push_back(layout.nodes[piece.front()].group);
    }
    std::erase(groups, -1);
    return groups;
  };
  int crossings = 0;
  std::vector<int> before = groups_of(layout.layers.front());
  for (std::size_t layer = 1; layer < layout.layers.size(); ++layer) {
    std::vector<int> here = groups_of(layout.layers[layer]);
    std::vector<std::ptrdiff_t> places;
    for (const int group : here) {
      if (const auto found = std::ranges::find(before, group); found != before.end()) {
        places.push_back(found - before.begin());
      }
    }
    for (std::size_t place = 0; place < places.size(); ++place) {
      const auto end = places.begin() + static_cast<std::ptrdiff_t>(place);
      crossings += static_cast<int>(std::count_if(places.begin(), end, [&](auto other) { return other > *end; }));
    }
    before = std::move(here);
  }
  return crossings;
}

}  // namespace

int count_crossings(const Layout& layout) {
  const std::vector<int> position = positions(layout);
  int crossings = kGroupCrossing * count_group_crossings(layout);
  for (std::size_t first = 0; first < layout.edges.size(); ++first) {
    const LayoutEdge& a = layout.edges[first];
    for (std::size_t second = 0; second < first; ++second) {
      const LayoutEdge& b = layout.edges[second];
      if (layout.nodes[a.from].layer == layout.nodes[b.from].layer) {
        const int left = position[a.from] - position[b.from];
        const int right = position[a.to] - position[b.to];
        const bool crossed = (left < 0 && right > 0) || (left > 0 && right < 0);
        crossings += !crossed ? 0 : layout.nodes[a.to].keeps_order ? kOutputCrossing : 1;
      }
    }
  }
  return crossings;
}

void arrange(Layout& layout) {
  order_layers(layout);
  place_vertically(layout);
  place_horizontally(layout);
}

}  // namespace modlab::tasks
