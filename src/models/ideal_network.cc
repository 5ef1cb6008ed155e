#include "models/ideal_network.h"

#include <algorithm>
#include <map>
#include <utility>

namespace modlab::models {
namespace {

using tasks::FunctionGraph;
using tasks::Wire;

Wire value_of(const Wire& wire) { return {wire.level, wire.index, false}; }

class Builder {
 public:
  IdealNetwork build(const FunctionGraph& graph) {
    const int depth = static_cast<int>(graph.levels.size());
    const bool is_gate = outputs_are_last_level(graph);
    const int last = is_gate ? depth : depth + 1;
    ideal_.values.resize(last + 1);
    ideal_.network.connections.resize(last);
    for (int input = 0; input < static_cast<int>(graph.inputs.size()); ++input) {
      ideal_.values[0].push_back({0, input, false});
    }
    // Gates before the values that pass by, so that a gate's number is its unit's.
    for (int level = 1; level < last; ++level) {
      for (int gate = 0; gate < static_cast<int>(graph.levels[level - 1].size()); ++gate) {
        ideal_.values[level].push_back({level, gate, false});
      }
    }
    std::ranges::transform(graph.outputs, std::back_inserter(ideal_.values[last]), value_of);
    for (int level = 1; level < last; ++level) {
      for (int gate = 0; gate < static_cast<int>(graph.levels[level - 1].size()); ++gate) {
        connect(graph.levels[level - 1][gate].inputs, level, gate);
      }
    }
    for (int output = 0; output < static_cast<int>(graph.outputs.size()); ++output) {
      const Wire& wire = graph.outputs[output];
      connect(is_gate ? graph.levels[depth - 1][wire.index].inputs : std::vector<Wire>{wire}, last, output);
    }
    finish();
    return std::move(ideal_);
  }

 private:
  void finish() {
    for (const std::vector<Wire>& layer : ideal_.values) {
      ideal_.network.widths.push_back(static_cast<int>(layer.size()));
    }
    for (std::size_t layer = 0; layer < ideal_.network.connections.size(); ++layer) {
      Connections& connections = ideal_.network.connections[layer];
      connections.bias.assign(ideal_.network.widths[layer + 1], 0);
      std::ranges::sort(connections.edges, {}, [](const Edge& edge) { return std::pair(edge.to, edge.from); });
      // A gate may read a value twice, for example as it is and negated.
      connections.edges.erase(std::unique(connections.edges.begin(), connections.edges.end()), connections.edges.end());
    }
  }

  void connect(const std::vector<Wire>& wires, int layer, int unit) {
    for (const Wire& wire : wires) {
      const int from = unit_with(value_of(wire), layer - 1);
      ideal_.network.connections[layer - 1].edges.push_back({from, unit, 1});
    }
  }

  // The unit of a layer that has a value from that layer or from one below.
  int unit_with(const Wire& value, int layer) {
    if (layer == value.level) {
      return value.index;
    }
    const auto [pass, is_new] = passes_.try_emplace({layer, value}, static_cast<int>(ideal_.values[layer].size()));
    const int unit = pass->second;
    if (is_new) {
      ideal_.values[layer].push_back(value);
      connect({value}, layer, unit);
    }
    return unit;
  }

  IdealNetwork ideal_;
  std::map<std::pair<int, Wire>, int> passes_;
};

}  // namespace

IdealNetwork ideal_network(const FunctionGraph& graph) { return Builder().build(graph); }

}  // namespace modlab::models
