#include "report/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "methods/detect/cross_edges.h"

namespace modlab::report {
namespace {

using methods::Hierarchy;
using methods::Module;

// Orders of the modules that are tried, and places of modules that this may take in all.
constexpr int kMaxTries = 3000;
constexpr int kMaxPlaces = 300'000;
constexpr int kUnitSweeps = 6;
constexpr double kDisorder = 4;  // inputs or outputs in another order than the network's, in gaps of a link's length

// Modules as boxes that may slide sideways. Those that share a layer keep apart.
class Boxes {
 public:
  Boxes(const Hierarchy& hierarchy, std::vector<double> widths, double gap)
      : hierarchy_(hierarchy), widths_(std::move(widths)), gap_(gap), order_(widths_.size()), links_(widths_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    for (const methods::ModuleEdge& edge : hierarchy.edges) {
      links_[edge.from].emplace_back(edge.to, edge.edges);
      links_[edge.to].emplace_back(edge.from, edge.edges);
    }
  }

  // The middles of the boxes.
  std::vector<double> place() {
    find_order();
    return placed(order_, 200, 12);
  }

 private:
  using Order = std::vector<int>;

  // Neighbours from left to right on each layer.
  std::vector<std::pair<int, int>> neighbours(const Order& order) const {
    const std::size_t layers = hierarchy_.modules.empty() ? 0 : hierarchy_.modules.front().units.size();
    std::vector<int> last(layers, -1);
    std::vector<std::pair<int, int>> pairs;
    for (const int box : order) {
      for (int layer = hierarchy_.modules[box].first_layer; layer <= hierarchy_.modules[box].last_layer; ++layer) {
        if (last[layer] >= 0 && (pairs.empty() || pairs.back() != std::pair(last[layer], box))) {
          pairs.emplace_back(last[layer], box);
        }
        last[layer] = box;
      }
    }
    return pairs;
  }

  double distance(const std::pair<int, int>& pair) const {
    return (widths_[pair.first] + widths_[pair.second]) / 2 + gap_;
  }

  // Boxes drift towards those that they are wired to and push each other aside.
  std::vector<double> placed(const Order& order, int rounds, int pushes) const {
    const std::vector<std::pair<int, int>> pairs = neighbours(order);
    std::vector<double> x(widths_.size(), 0);
    for (const auto& pair : pairs) {
      x[pair.second] = std::max(x[pair.second], x[pair.first] + distance(pair));
    }
    for (int round = 0; round < rounds; ++round) {
      const std::vector<double> before = x;
      const double middle = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
      for (std::size_t box = 0; box < x.size(); ++box) {
        double sum = 0;
        double weight = 0;
        for (const auto& [other, edges] : links_[box]) {
          sum += edges * before[other];
          weight += edges;
        }
        // What is wired to nothing must not stay behind.
        x[box] += ((weight > 0 ? sum / weight : middle) - before[box]) / 2;
      }
      for (int push = 0; push < pushes; ++push) {
        for (const auto& pair : pairs) {
          const double missing = distance(pair) - (x[pair.second] - x[pair.first]);
          if (missing > 0) {
            x[pair.first] -= missing / 2;
            x[pair.second] += missing / 2;
          }
        }
      }
    }
    for (const auto& pair : pairs) {
      x[pair.second] = std::max(x[pair.second], x[pair.first] + distance(pair));
    }
    return x;
  }

  // Long links are bad, and so is another order of inputs and outputs than the network's.
  double cost(const Order& order) const {
    const std::vector<double> x = placed(order, 30, 3);
    double sum = 0;
    for (const methods::ModuleEdge& edge : hierarchy_.edges) {
      sum += edge.edges * std::abs(x[edge.from] - x[edge.to]);
    }
    const auto first_of = [&](int box, bool is_input) -> const std::vector<int>& {
      const auto& units = hierarchy_.modules[box].units;
      return is_input ? units.front() : units.back();
    };
    for (const bool is_input : {true, false}) {
      int before = -1;
      for (const int box : order) {
        if (const std::vector<int>& units = first_of(box, is_input); !units.empty()) {
          sum += units.front() < before ? kDisorder * gap_ : 0;
          before = units.front();
        }
      }
    }
    return sum;
  }

  // Two change places, or one moves to the other's: whatever makes it better, until nothing does.
  void find_order() {
    const int most = std::min(kMaxTries, kMaxPlaces / std::max(1, static_cast<int>(order_.size())));
    double best = cost(order_);
    int tries = 0;
    const auto keep_if_better = [&](const Order& other) {
      const double other_cost = ++tries <= most ? cost(other) : best;
      const bool is_better = other_cost < best - 1e-6;
      if (is_better) {
        best = other_cost;
        order_ = other;
      }
      return is_better;
    };
    const auto at = [](Order& order, std::size_t place) { return order.begin() + static_cast<std::ptrdiff_t>(place); };
    for (bool is_better = true; is_better && tries < most;) {
      is_better = false;
      for (std::size_t first = 0; first + 1 < order_.size() && tries < most; ++first) {
        for (std::size_t second = first + 1; second < order_.size() && tries < most; ++second) {
          Order swapped = order_;
          std::swap(swapped[first], swapped[second]);
          Order to_the_right = order_;
          std::rotate(at(to_the_right, first), at(to_the_right, first + 1), at(to_the_right, second + 1));
          Order to_the_left = order_;
          std::rotate(at(to_the_left, first), at(to_the_left, second), at(to_the_left, second + 1));
          is_better =
              keep_if_better(swapped) || keep_if_better(to_the_right) || keep_if_better(to_the_left) || is_better;
        }
      }
    }
  }

  const Hierarchy& hierarchy_;
  std::vector<double> widths_;
  double gap_;
  Order order_;
  std::vector<std::vector<std::pair<int, int>>> links_;  // [box]: other, edges
};

// Units of a module on one layer: so many side by side, in so many rows.
struct Grid {
  int columns = 0;
  int rows = 0;
};

Grid grid_of(std::size_t units, int row) {
  const int count = static_cast<int>(units);
  if (count == 0) {
    return {};
  }
  const int rows = (count + row - 1) / row;
  return {(count + rows - 1) / rows, rows};
}

class Arranger {
 public:
  Arranger(const models::LayeredNetwork& network, const Hierarchy& hierarchy, const LayeredSizes& sizes,
           const std::vector<double>& steps, const std::vector<double>& name_widths)
      : network_(network), hierarchy_(hierarchy), sizes_(sizes), steps_(steps), name_widths_(name_widths) {
    for (const int width : network.widths) {
      layout_.units.emplace_back(width);
    }
  }

  LayeredLayout arrange() {
    place_layers();
    place_modules();
    order_units();
    return std::move(layout_);
  }

 private:
  double row_step() const { return std::min(sizes_.step, 1.5 * sizes_.height); }

  void place_layers() {
    std::vector<int> rows(network_.widths.size(), 1);
    for (const Module& module : hierarchy_.modules) {
      for (std::size_t layer = 0; layer < rows.size(); ++layer) {
        rows[layer] = std::max(rows[layer], grid_of(module.units[layer].size(), sizes_.row).rows);
      }
    }
    layout_.layers.resize(rows.size());
    double top = sizes_.edge + sizes_.name;
    for (std::size_t layer = rows.size(); layer-- > 0;) {
      const double height = sizes_.height + (rows[layer] - 1) * row_step();
      layout_.layers[layer] = top + height / 2;
      heights_.insert(heights_.begin(), height);
      top += height + sizes_.layer_gap;
    }
    layout_.height = top - sizes_.layer_gap + sizes_.edge;
  }

  void place_modules() {
    std::vector<double> widths;
    for (std::size_t number = 0; number < hierarchy_.modules.size(); ++number) {
      double width = name_widths_[number];
      for (std::size_t layer = 0; layer < steps_.size(); ++layer) {
        width = std::max(width,
                         steps_[layer] * grid_of(hierarchy_.modules[number].units[layer].size(), sizes_.row).columns);
      }
      // A step has some room around its unit already.
      widths.push_back(width + sizes_.edge);
    }
    const std::vector<double> middles = Boxes(hierarchy_, widths, sizes_.gap).place();
    double left = 0;
    double right = 0;
    for (std::size_t number = 0; number < widths.size(); ++number) {
      left = number == 0 ? middles[0] - widths[0] / 2 : std::min(left, middles[number] - widths[number] / 2);
      right = number == 0 ? middles[0] + widths[0] / 2 : std::max(right, middles[number] + widths[number] / 2);
    }
    layout_.width = std::ceil(right - left);
    for (std::size_t number = 0; number < widths.size(); ++number) {
      const Module& module = hierarchy_.modules[number];
      const double top =
          layout_.layers[module.last_layer] - heights_[module.last_layer] / 2 - sizes_.edge - sizes_.name;
      const double bottom = layout_.layers[module.first_layer] + heights_[module.first_layer] / 2 + sizes_.edge;
      layout_.modules.push_back(
          {std::round(middles[number] - widths[number] / 2 - left), top, std::ceil(widths[number]), bottom - top});
    }
  }

  void put_units(std::size_t number, int layer, const std::vector<int>& units) {
    const Grid grid = grid_of(units.size(), sizes_.row);
    const Box& box = layout_.modules[number];
    const double room = (box.width - sizes_.edge) / std::max(1, grid.columns);
    const double step = std::clamp(room, steps_[layer], sizes_.spread * steps_[layer]);
    for (int place = 0; place < static_cast<int>(units.size()); ++place) {
      const int row = place / grid.columns;
      const int in_row = std::min(grid.columns, static_cast<int>(units.size()) - row * grid.columns);
      layout_.units[layer][units[place]] = {
          box.left + box.width / 2 + step * (place % grid.columns - (in_row - 1) / 2.0),
          layout_.layers[layer] + row_step() * (row - (grid.rows - 1) / 2.0)};
    }
  }

  // Inputs and outputs keep their order; hidden units move to where they are wired to.
  void order_units() {
    std::vector<std::vector<std::vector<int>>> units;  // [module][layer]
    for (std::size_t number = 0; number < hierarchy_.modules.size(); ++number) {
      units.push_back(hierarchy_.modules[number].units);
      for (int layer = 0; layer < network_.layers(); ++layer) {
        put_units(number, layer, units[number][layer]);
      }
    }
    const std::vector<std::vector<int>> module_of = methods::modules_by_unit(network_, hierarchy_);
    for (int sweep = 0; sweep < kUnitSweeps; ++sweep) {
      for (int layer = 1; layer + 1 < network_.layers(); ++layer) {
        std::vector<double> sums(network_.widths[layer]);
        std::vector<double> counts(network_.widths[layer]);
        for (const models::Edge& edge : network_.connections[layer - 1].edges) {
          if (module_of[layer - 1][edge.from] >= 0) {
            sums[edge.to] += layout_.units[layer - 1][edge.from].x;
            ++counts[edge.to];
          }
        }
        for (const models::Edge& edge : network_.connections[layer].edges) {
          if (module_of[layer + 1][edge.to] >= 0) {
            sums[edge.from] += layout_.units[layer + 1][edge.to].x;
            ++counts[edge.from];
          }
        }
        for (std::size_t number = 0; number < units.size(); ++number) {
          std::ranges::stable_sort(units[number][layer], {},
                                   [&](int unit) { return sums[unit] / std::max(1.0, counts[unit]); });
          put_units(number, layer, units[number][layer]);
        }
      }
    }
  }

  const models::LayeredNetwork& network_;
  const Hierarchy& hierarchy_;
  const LayeredSizes& sizes_;
  const std::vector<double>& steps_;
  const std::vector<double>& name_widths_;
  std::vector<double> heights_;  // [layer]
  LayeredLayout layout_;
};

}  // namespace

LayeredLayout arrange_modules(const models::LayeredNetwork& network, const Hierarchy& hierarchy,
                              const LayeredSizes& sizes, const std::vector<double>& steps,
                              const std::vector<double>& name_widths) {
  return Arranger(network, hierarchy, sizes, steps, name_widths).arrange();
}

}  // namespace modlab::report
