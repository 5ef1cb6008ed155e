#include "measures/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"

namespace modlab::measures {
namespace {

// Where an output's pick lies: (level, slot).
std::pair<std::size_t, int> read_place(const tasks::Routing& routing, int pick) {
  if (!routing.outputs_from_all_levels) {
    return {routing.inputs.size() - 1, pick};
  }
  std::size_t level = 0;
  while (level + 1 < routing.inputs.size() && pick >= static_cast<int>(routing.inputs[level].size())) {
    pick -= static_cast<int>(routing.inputs[level].size());
    ++level;
  }
  return {level, pick};
}

void check_pick(int pick, std::size_t candidates, const char* reader) {
  if (pick < 0 || pick >= static_cast<int>(candidates)) {
    throw ConfigError(fmt::format("the routing has {} that picks candidate {} of {}; it belongs to another network",
                                  reader, pick, candidates));
  }
}

void make_set(std::vector<int>& nodes) {
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

int Wiring::edge_count() const {
  std::size_t edges = skipping.size();
  for (const std::vector<Node>& level : levels) {
    for (const Node& node : level) {
      edges += node.reads.size() + node.outputs.size();
    }
  }
  return static_cast<int>(edges);
}

Wiring wiring_of(const tasks::Routing& routing, int inputs) {
  if (routing.inputs.empty()) {
    throw ConfigError("the routing has no levels, so there is nothing to compare");
  }
  Wiring wiring;
  wiring.inputs = inputs;
  wiring.outputs = static_cast<int>(routing.outputs.size());
  auto below = static_cast<std::size_t>(inputs);
  for (const std::vector<std::vector<int>>& slots : routing.inputs) {
    std::vector<Wiring::Node>& level = wiring.levels.emplace_back(slots.size());
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      level[slot].reads = slots[slot];
      make_set(level[slot].reads);
      level[slot].needs = static_cast<int>(level[slot].reads.size());
      for (const int pick : slots[slot]) {
        check_pick(pick, below, "a slot");
      }
    }
    below = slots.size();
  }
  for (int output = 0; output < wiring.outputs; ++output) {
    const auto [level, slot] = read_place(routing, routing.outputs[output]);
    check_pick(slot, wiring.levels[level].size(), "an output");
    wiring.levels[level][slot].outputs.push_back(output);
  }
  return wiring;
}

Wiring wiring_of(const tasks::FunctionGraph& graph) {
  Wiring wiring;
  wiring.inputs = static_cast<int>(graph.inputs.size());
  wiring.outputs = static_cast<int>(graph.outputs.size());
  const auto skip = [&](tasks::Wire from, tasks::Wire to) {
    from.negated = false;
    wiring.skipping.push_back({from, to});
  };
  for (int level = 0; level < static_cast<int>(graph.levels.size()); ++level) {
    const std::vector<tasks::Gate>& gates = graph.levels[level];
    std::vector<Wiring::Node>& nodes = wiring.levels.emplace_back(gates.size());
    for (int gate = 0; gate < static_cast<int>(gates.size()); ++gate) {
      const std::vector<tasks::Wire> needed = tasks::gate_function(gates[gate]).inputs;
      nodes[gate].needs = static_cast<int>(needed.size());
      for (const tasks::Wire& wire : needed) {
        if (wire.level == level) {
          nodes[gate].reads.push_back(wire.index);
        } else {
          skip(wire, {level + 1, gate, false});
        }
      }
      std::ranges::sort(nodes[gate].reads);
    }
  }
  for (int output = 0; output < wiring.outputs; ++output) {
    const tasks::Wire& wire = graph.outputs[output];
    if (wire.level > 0) {
      wiring.levels[wire.level - 1][wire.index].outputs.push_back(output);
    } else {
      skip(wire, {0, output, false});
    }
  }
  return wiring;
}

std::vector<std::vector<bool>> nodes_in_use(const Wiring& wiring) {
  std::vector<std::vector<bool>> used;
  for (const std::vector<Wiring::Node>& level : wiring.levels) {
    used.emplace_back(level.size(), false);
  }
  for (std::size_t level = used.size(); level-- > 0;) {
    for (std::size_t node = 0; node < used[level].size(); ++node) {
      const Wiring::Node& reader = wiring.levels[level][node];
      if (!reader.outputs.empty()) {
        used[level][node] = true;
      }
      for (std::size_t read = 0; level > 0 && used[level][node] && read < reader.reads.size(); ++read) {
        used[level - 1][reader.reads[read]] = true;
      }
    }
  }
  return used;
}

Wiring part_of(const Wiring& wiring, const std::vector<std::vector<bool>>& kept) {
  Wiring part;
  part.inputs = wiring.inputs;
  part.outputs = wiring.outputs;
  std::vector<int> names_below;
  for (std::size_t level = 0; level < wiring.levels.size(); ++level) {
    std::vector<int> names;
    std::vector<Wiring::Node>& nodes = part.levels.emplace_back();
    for (std::size_t node = 0; node < wiring.levels[level].size(); ++node) {
      names.push_back(static_cast<int>(nodes.size()));
      if (kept[level][node]) {
        nodes.push_back(wiring.levels[level][node]);
        for (int& read : nodes.back().reads) {
          read = level > 0 ? names_below[read] : read;
        }
      }
    }
    names_below = std::move(names);
  }
  return part;
}

}  // namespace modlab::measures
