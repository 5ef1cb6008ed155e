#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/errors.h"
#include "measures/assignment.h"
#include "measures/edit_distance.h"
#include "measures/matching.h"
#include "measures/wiring.h"

namespace modlab::measures {
namespace {

// Sets of nodes are words of 64 bits.
constexpr int kMaxNodes = 64;
// In cells of assignment problems: about a second.
constexpr double kMaxWork = 1e9;

// Any directed graph. Nodes with equal labels are alike.
struct Graph {
  std::vector<int> labels;
  std::vector<std::uint64_t> reads;
  std::vector<std::uint64_t> readers;
  int edges = 0;

  int size() const { return static_cast<int>(labels.size()); }
  bool is_module(int node) const { return labels[node] >= 0 && labels[node] < kMaxNodes; }
  void connect(int from, int to) {
    reads[to] |= std::uint64_t{1} << from;
    readers[from] |= std::uint64_t{1} << to;
    ++edges;
  }
};

// Nodes are the inputs, then the levels, then the outputs. Inputs and outputs are alike only to themselves, nodes of a
// level to all of them.
Graph graph_of(const Wiring& wiring) {
  Graph graph;
  std::vector<int> first;  // node of each level, the inputs being level 0; then of the outputs
  for (int input = 0; input < wiring.inputs; ++input) {
    graph.labels.push_back(-1 - input);
  }
  first.push_back(0);
  for (std::size_t level = 0; level < wiring.levels.size(); ++level) {
    first.push_back(graph.size());
    graph.labels.insert(graph.labels.end(), wiring.levels[level].size(), static_cast<int>(level));
  }
  first.push_back(graph.size());
  for (int output = 0; output < wiring.outputs; ++output) {
    graph.labels.push_back(static_cast<int>(wiring.levels.size()) + kMaxNodes + output);
  }
  if (graph.size() > kMaxNodes) {
    throw ConfigError("the relaxed edit distance is for graphs of at most 64 nodes; use the strict one");
  }
  graph.reads.resize(graph.size());
  graph.readers.resize(graph.size());
  for (std::size_t level = 0; level < wiring.levels.size(); ++level) {
    for (std::size_t index = 0; index < wiring.levels[level].size(); ++index) {
      const int node = first[level + 1] + static_cast<int>(index);
      for (const int read : wiring.levels[level][index].reads) {
        graph.connect(first[level] + read, node);
      }
      for (const int output : wiring.levels[level][index].outputs) {
        graph.connect(node, first.back() + output);
      }
    }
  }
  for (const Wiring::Wire& wire : wiring.skipping) {
    graph.connect(first[wire.from.level] + wire.from.index,
                  (wire.to.level > 0 ? first[wire.to.level] : first.back()) + wire.to.index);
  }
  return graph;
}

// Branch and bound over the partners of the smaller graph's nodes. Every one of them gets a partner: to replace a node
// costs at most 1, to delete one and insert another costs 2. A matching is worth 2 for each edge it preserves and 1 for
// each value that a module reads beyond what its gate needs, less 1 for each pair that is not alike; the cost is what
// remains of all nodes without a partner and all edges.
class RelaxedSearch {
 public:
  // Only matchings worth more than `known` are of interest.
  RelaxedSearch(const Graph& learned, const Graph& truth, int known)
      : rows_are_learned_(learned.size() <= truth.size()),
        rows_(rows_are_learned_ ? learned : truth),
        columns_(rows_are_learned_ ? truth : learned),
        best_(known) {
    for (int row = 0; row < rows_.size(); ++row) {
      order_.push_back(row);
    }
    std::ranges::stable_sort(order_, [&](int one, int other) { return degree(one) > degree(other); });
    partner_.assign(rows_.size(), -1);
    open_rows_ = all(rows_);
    open_columns_ = all(columns_);
  }

  int run() {
    if (bound() > best_) {
      search(0);
    }
    return best_;
  }

 private:
  static std::uint64_t all(const Graph& graph) {
    return graph.size() == kMaxNodes ? ~std::uint64_t{0} : (std::uint64_t{1} << graph.size()) - 1;
  }
  int degree(int row) const { return std::popcount(rows_.reads[row]) + std::popcount(rows_.readers[row]); }

  // Two for each edge between a row and the rows that have partners, if it is preserved when `column` is its partner.
  int settled_edges(int row, int column) const {
    int count = 0;
    for (std::uint64_t left = rows_.reads[row] & ~open_rows_; left != 0; left &= left - 1) {
      count += static_cast<int>((columns_.reads[column] >> partner_[std::countr_zero(left)]) & 1U);
    }
    for (std::uint64_t left = rows_.readers[row] & ~open_rows_; left != 0; left &= left - 1) {
      count += static_cast<int>((columns_.readers[column] >> partner_[std::countr_zero(left)]) & 1U);
    }
    return count;
  }
  int free_reads(int row, int column) const {
    if (!rows_.is_module(row) || !columns_.is_module(column)) {
      return 0;
    }
    const int more = std::popcount(rows_.reads[row]) - std::popcount(columns_.reads[column]);
    return std::max(0, rows_are_learned_ ? more : -more);
  }
  int worth(int row, int column) const {
    return 2 * settled_edges(row, column) + free_reads(row, column) -
           (rows_.labels[row] == columns_.labels[column] ? 0 : 1);
  }
  // Edges between open nodes are worth 1 to each of their ends.
  int hope(int row, int column) const {
    const auto open = [](std::uint64_t nodes, std::uint64_t of) { return std::popcount(nodes & of); };
    return std::min(open(rows_.reads[row], open_rows_), open(columns_.reads[column], open_columns_)) +
           std::min(open(rows_.readers[row], open_rows_), open(columns_.readers[column], open_columns_));
  }

  int bound() {
    weights_.clear();
    for (std::uint64_t rows = open_rows_; rows != 0; rows &= rows - 1) {
      for (std::uint64_t columns = open_columns_; columns != 0; columns &= columns - 1) {
        const int row = std::countr_zero(rows);
        const int column = std::countr_zero(columns);
        weights_.push_back(worth(row, column) + hope(row, column));
      }
    }
    const int row_count = std::popcount(open_rows_);
    work_ += static_cast<double>(weights_.size()) * row_count;
    if (work_ > kMaxWork) {
      throw ConfigError("the relaxed edit distance of graphs of this size takes too long to find; use the strict one");
    }
    return settled_ + static_cast<int>(assignment_.maximise(weights_, row_count, std::popcount(open_columns_)));
  }

  void match(int row, int column) {
    settled_ += worth(row, column);
    partner_[row] = column;
    open_rows_ &= ~(std::uint64_t{1} << row);
    open_columns_ &= ~(std::uint64_t{1} << column);
  }
  void take_back(int row, int column) {
    open_rows_ |= std::uint64_t{1} << row;
    open_columns_ |= std::uint64_t{1} << column;
    settled_ -= worth(row, column);
  }

  void search(std::size_t made) {
    if (made == order_.size()) {
      best_ = std::max(best_, settled_);
      return;
    }
    const int row = order_[made];
    std::vector<std::pair<int, int>> ways;
    for (std::uint64_t left = open_columns_; left != 0; left &= left - 1) {
      const int column = std::countr_zero(left);
      match(row, column);
      ways.emplace_back(bound(), column);
      take_back(row, column);
    }
    std::ranges::stable_sort(ways, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [most, column] : ways) {
      if (most <= best_) {
        return;
      }
      match(row, column);
      search(made + 1);
      take_back(row, column);
    }
  }

  bool rows_are_learned_;
  const Graph& rows_;
  const Graph& columns_;
  std::vector<int> order_;
  std::vector<int> partner_;
  std::uint64_t open_rows_ = 0;
  std::uint64_t open_columns_ = 0;
  int settled_ = 0;
  int best_ = 0;
  double work_ = 0;
  Assignment assignment_;
  std::vector<std::int64_t> weights_;
};

}  // namespace

int relaxed_edit_distance(const Wiring& learned, const Wiring& truth) {
  // The strict distance is a matching already, and a better one is often not to be had.
  const int strict = edit_distance(learned, truth, best_matching(learned, truth));
  const Graph a = graph_of(learned);
  const Graph b = graph_of(truth);
  const int without_worth = std::abs(a.size() - b.size()) + a.edges + b.edges;
  return without_worth - RelaxedSearch(a, b, without_worth - strict).run();
}

int relaxed_edit_distance(const tasks::Routing& learned, const tasks::Routing& truth, int inputs) {
  return relaxed_edit_distance(wiring_of(learned, inputs), wiring_of(truth, inputs));
}

int relaxed_edit_distance(const tasks::Routing& learned, const tasks::FunctionGraph& truth) {
  return relaxed_edit_distance(wiring_of(learned, static_cast<int>(truth.inputs.size())), wiring_of(truth));
}

}  // namespace modlab::measures
