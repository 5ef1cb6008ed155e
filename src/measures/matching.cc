#include "measures/matching.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/errors.h"
#include "measures/assignment.h"

namespace modlab::measures {
namespace {

// Weights are whole numbers, so that sums are exact in any order: edits count in the upper bits, preferences in the
// lower ones, where the preferences of all gates together stay below one edit. An edge that both sides have saves two.
constexpr std::int64_t kEdit = std::int64_t{1} << 43;
constexpr std::int64_t kEdge = 2 * kEdit;
constexpr double kPreference = 0x1p32;

// In cells of assignment problems: about a second.
constexpr double kMaxWork = 1e9;

// One level of both sides: the learned wiring (0) and the truth (1).
struct Level {
  std::array<int, 2> size{};
  std::array<std::vector<std::vector<int>>, 2> reads;    // [side][node]: nodes of the level below; no inputs
  std::array<std::vector<std::vector<int>>, 2> readers;  // [side][node]: nodes of the level above
  std::array<std::vector<int>, 2> open_reads;            // [side][node]: how many of them are not yet matched
  std::array<std::vector<int>, 2> open_readers;
  std::vector<std::int64_t> weights;  // [row][column]: what is certain if these two are matched

  // Every node of the smaller side gets a partner: its nodes are rows.
  int row_side() const { return size[0] <= size[1] ? 0 : 1; }
  int rows() const { return size[row_side()]; }
  int columns() const { return size[1 - row_side()]; }
  std::size_t cell(int slot, int gate) const {
    return row_side() == 0 ? static_cast<std::size_t>(slot) * size[1] + gate
                           : static_cast<std::size_t>(gate) * size[0] + slot;
  }
};

int common_elements(const std::vector<int>& a, const std::vector<int>& b) {
  int count = 0;
  for (auto at_a = a.begin(), at_b = b.begin(); at_a != a.end() && at_b != b.end();) {
    count += *at_a == *at_b ? 1 : 0;
    const bool step_a = *at_a <= *at_b;
    const bool step_b = *at_b <= *at_a;
    at_a += step_a ? 1 : 0;
    at_b += step_b ? 1 : 0;
  }
  return count;
}

std::vector<Level> make_levels(const Wiring& learned, const Wiring& truth, const Preference& preference) {
  const std::array<const Wiring*, 2> wirings = {&learned, &truth};
  std::vector<Level> levels(std::min(learned.levels.size(), truth.levels.size()));
  for (std::size_t index = 0; index < levels.size(); ++index) {
    Level& level = levels[index];
    for (int side = 0; side < 2; ++side) {
      const std::vector<Wiring::Node>& nodes = wirings[side]->levels[index];
      level.size[side] = static_cast<int>(nodes.size());
      level.reads[side].resize(nodes.size());
      level.readers[side].resize(nodes.size());
      level.open_reads[side].resize(nodes.size());
      level.open_readers[side].resize(nodes.size());
      for (std::size_t node = 0; index > 0 && node < nodes.size(); ++node) {
        level.reads[side][node] = nodes[node].reads;
        level.open_reads[side][node] = static_cast<int>(nodes[node].reads.size());
        for (const int read : nodes[node].reads) {
          levels[index - 1].readers[side][read].push_back(static_cast<int>(node));
          ++levels[index - 1].open_readers[side][read];
        }
      }
    }
    level.weights.resize(static_cast<std::size_t>(level.size[0]) * level.size[1]);
    for (int slot = 0; slot < level.size[0]; ++slot) {
      for (int gate = 0; gate < level.size[1]; ++gate) {
        const Wiring::Node& a = learned.levels[index][slot];
        const Wiring::Node& b = truth.levels[index][gate];
        const int certain =
            common_elements(a.outputs, b.outputs) + (index == 0 ? common_elements(a.reads, b.reads) : 0);
        const double wish = preference.empty() ? 0.0 : preference[index][slot][gate];
        level.weights[level.cell(slot, gate)] =
            kEdge * certain + kEdit * needless(a, b) + std::llround(kPreference * wish);
      }
    }
  }
  return levels;
}

class Search {
 public:
  Search(const Wiring& learned, const Wiring& truth, const Preference& preference)
      : levels_(make_levels(learned, truth, preference)), columns_(levels_.size()), taken_(levels_.size()) {
    choose_searched_levels();
  }

  // [level][row]: the column of the best matching.
  const std::vector<std::vector<int>>& run() {
    search(0);
    return best_columns_;
  }
  const std::vector<Level>& levels() const { return levels_; }
  std::int64_t best() const { return best_; }

 private:
  struct Choice {
    int level;
    int row;
  };

  void choose_searched_levels() {
    // Logarithms of the number of matchings on the first, third, ... and on the second, fourth, ... levels.
    std::array<double, 2> counts{};
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (int row = 0; row < levels_[level].rows(); ++row) {
        counts[level % 2] += std::log(levels_[level].columns() - row);
      }
    }
    const std::size_t searched = counts[0] < counts[1] && levels_.size() > 1 ? 0 : 1;
    for (std::size_t index = 0; index < levels_.size(); ++index) {
      const Level& level = levels_[index];
      columns_[index].assign(level.rows(), -1);
      taken_[index].assign(level.columns(), 0);
      if (index % 2 != searched) {
        assigned_.push_back(static_cast<int>(index));
        continue;
      }
      const std::size_t first = choices_.size();
      for (int row = 0; row < level.rows(); ++row) {
        choices_.push_back({static_cast<int>(index), row});
      }
      // Nodes with many edges first: they decide the most.
      const auto edges = [&](const Choice& choice) {
        const int side = level.row_side();
        return level.reads[side][choice.row].size() + level.readers[side][choice.row].size();
      };
      std::stable_sort(choices_.begin() + static_cast<std::ptrdiff_t>(first), choices_.end(),
                       [&](const Choice& a, const Choice& b) { return edges(a) > edges(b); });
    }
  }

  // Matches a row with a column (sign 1) or takes it back (-1). What the two share with nodes of the levels around
  // them becomes certain.
  void match(const Choice& choice, int column, int sign) {
    Level& level = levels_[choice.level];
    const std::array<int, 2> node =
        level.row_side() == 0 ? std::array{choice.row, column} : std::array{column, choice.row};
    columns_[choice.level][choice.row] = sign > 0 ? column : -1;
    taken_[choice.level][column] = sign > 0 ? 1 : 0;
    settled_ += sign * level.weights[level.cell(node[0], node[1])];
    const auto settle = [&](Level& other, const auto& neighbours, auto& open) {
      for (int side = 0; side < 2; ++side) {
        for (const int neighbour : neighbours[side][node[side]]) {
          open[side][neighbour] -= sign;
        }
      }
      for (const int slot : neighbours[0][node[0]]) {
        for (const int gate : neighbours[1][node[1]]) {
          other.weights[other.cell(slot, gate)] += sign * kEdge;
        }
      }
    };
    if (choice.level > 0) {
      Level& below = levels_[choice.level - 1];
      settle(below, level.reads, below.open_readers);
    }
    if (choice.level + 1 < static_cast<int>(levels_.size())) {
      Level& above = levels_[choice.level + 1];
      settle(above, level.readers, above.open_reads);
    }
  }

  // The most that a level can still give.
  std::int64_t assign(const Level& level) {
    const int row_side = level.row_side();
    const int column_side = 1 - row_side;
    hopes_.resize(level.weights.size());
    std::size_t cell = 0;
    for (int row = 0; row < level.rows(); ++row) {
      for (int column = 0; column < level.columns(); ++column, ++cell) {
        hopes_[cell] = level.weights[cell] +
                       kEdge * (std::min(level.open_reads[row_side][row], level.open_reads[column_side][column]) +
                                std::min(level.open_readers[row_side][row], level.open_readers[column_side][column]));
      }
    }
    work_ += static_cast<double>(cell) * level.rows();
    if (work_ > kMaxWork) {
      throw ConfigError("the edit distance between networks of this many modules takes too long to find");
    }
    return assignment_.maximise(hopes_, level.rows(), level.columns());
  }

  // No matching that goes on from the choices so far is worth more; if all are made, exactly what it is worth.
  std::int64_t bound(std::size_t made) {
    std::int64_t sum = settled_;
    for (std::size_t at = made; at < choices_.size(); ++at) {
      const Level& level = levels_[choices_[at].level];
      std::int64_t most = 0;
      for (int column = 0; column < level.columns(); ++column) {
        if (taken_[choices_[at].level][column] == 0) {
          most = std::max(most, level.weights[static_cast<std::size_t>(choices_[at].row) * level.columns() + column]);
        }
      }
      sum += most;
    }
    for (const int level : assigned_) {
      sum += assign(levels_[level]);
    }
    return sum;
  }

  void search(std::size_t made) {
    if (made == choices_.size()) {
      accept();
      return;
    }
    const Choice choice = choices_[made];
    std::vector<std::pair<std::int64_t, int>> ways;
    for (int column = 0; column < levels_[choice.level].columns(); ++column) {
      if (taken_[choice.level][column] == 0) {
        match(choice, column, 1);
        ways.emplace_back(bound(made + 1), column);
        match(choice, column, -1);
      }
    }
    std::ranges::stable_sort(ways, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [most, column] : ways) {
      if (most <= best_) {
        return;
      }
      match(choice, column, 1);
      search(made + 1);
      match(choice, column, -1);
    }
  }

  void accept() {
    std::int64_t sum = settled_;
    for (const int level : assigned_) {
      sum += assign(levels_[level]);
      for (int row = 0; row < levels_[level].rows(); ++row) {
        columns_[level][row] = assignment_.column_of(row);
      }
    }
    if (sum > best_) {
      best_ = sum;
      best_columns_ = columns_;
    }
  }

  std::vector<Level> levels_;
  std::vector<int> assigned_;              // the levels that an assignment solves
  std::vector<Choice> choices_;            // the rows of the others
  std::vector<std::vector<int>> columns_;  // [level][row], or -1
  std::vector<std::vector<char>> taken_;   // [level][column]
  std::int64_t settled_ = 0;               // weights of the choices made
  std::int64_t best_ = -1;
  std::vector<std::vector<int>> best_columns_;
  double work_ = 0;
  Assignment assignment_;
  std::vector<std::int64_t> hopes_;
};

}  // namespace

int needless(const Wiring::Node& slot, const Wiring::Node& gate) {
  return std::max(0, static_cast<int>(slot.reads.size()) - gate.needs);
}

Matching best_matching(const Wiring& learned, const Wiring& truth, const Preference& preference) {
  Search search(learned, truth, preference);
  const std::vector<std::vector<int>>& columns = search.run();
  Matching matching;
  matching.saved = static_cast<int>(search.best() / kEdit);
  for (std::size_t index = 0; index < learned.levels.size(); ++index) {
    matching.gates.emplace_back(learned.levels[index].size(), -1);
    for (int row = 0; index < columns.size() && row < search.levels()[index].rows(); ++row) {
      const int column = columns[index][row];
      const bool rows_are_slots = search.levels()[index].row_side() == 0;
      matching.gates[index][rows_are_slots ? row : column] = rows_are_slots ? column : row;
    }
  }
  return matching;
}

int edit_distance(const Wiring& learned, const Wiring& truth, const Matching& matching) {
  // Nodes that stay without a partner, and the edges that only one side has.
  int distance = std::abs(learned.outputs - truth.outputs) + std::abs(learned.inputs - truth.inputs);
  for (std::size_t level = 0; level < std::max(learned.levels.size(), truth.levels.size()); ++level) {
    const auto size = [&](const Wiring& wiring) {
      return level < wiring.levels.size() ? static_cast<int>(wiring.levels[level].size()) : 0;
    };
    distance += std::abs(size(learned) - size(truth));
  }
  return distance + learned.edge_count() + truth.edge_count() - matching.saved;
}

}  // namespace modlab::measures
