#include "tasks/routing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace modlab::tasks {
namespace {

// The slots of a routing as one list of nodes. Inputs of the network are no nodes: they keep their names, so they are
// part of a node's first colour.
struct WiringGraph {
  std::vector<std::vector<int>> reads;    // [node]: nodes of the level below, with repetition
  std::vector<std::vector<int>> readers;  // [node]: nodes of the level above, with repetition
  std::vector<std::vector<int>> label;    // [node]: level, network inputs read, outputs that read the node
};

WiringGraph wiring_graph(const Routing& routing) {
  WiringGraph graph;
  int first = 0;
  int first_below = 0;
  for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
    for (const std::vector<int>& slot : routing.inputs[level]) {
      std::vector<int> label = {static_cast<int>(level)};
      std::vector<int> reads;
      for (const int candidate : slot) {
        (level == 0 ? label : reads).push_back(level == 0 ? candidate : first_below + candidate);
      }
      std::sort(label.begin() + 1, label.end());
      graph.label.push_back(std::move(label));
      graph.reads.push_back(std::move(reads));
    }
    first_below = first;
    first += static_cast<int>(routing.inputs[level].size());
  }
  graph.readers.resize(graph.reads.size());
  for (std::size_t node = 0; node < graph.reads.size(); ++node) {
    for (const int source : graph.reads[node]) {
      graph.readers[source].push_back(static_cast<int>(node));
    }
  }
  const int first_output_node = routing.outputs_from_all_levels ? 0 : first_below;
  for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
    // Negative, so that an output cannot be taken for an input.
    graph.label[first_output_node + routing.outputs[output]].push_back(-1 - static_cast<int>(output));
  }
  return graph;
}

using Colours = std::vector<int>;

std::vector<int> sorted_colours(const std::vector<int>& nodes, const Colours& colours) {
  std::vector<int> sorted;
  for (const int node : nodes) {
    sorted.push_back(colours[node]);
  }
  std::ranges::sort(sorted);
  return sorted;
}

int colour_count(const Colours& colours) { return colours.empty() ? 0 : *std::ranges::max_element(colours) + 1; }

std::vector<int> class_sizes(const Colours& colours, int count) {
  std::vector<int> sizes(count, 0);
  for (const int colour : colours) {
    ++sizes[colour];
  }
  return sizes;
}

// Colour refinement on both graphs at once, so that equal colours mean the same in both.
void refine(const WiringGraph& a, const WiringGraph& b, Colours& colours_a, Colours& colours_b) {
  for (int count = 0;;) {
    using Key = std::vector<std::vector<int>>;
    std::map<Key, int> names;
    const auto keys = [&](const WiringGraph& graph, const Colours& colours) {
      std::vector<Key> result;
      for (std::size_t node = 0; node < colours.size(); ++node) {
        result.push_back({{colours[node]},
                          sorted_colours(graph.reads[node], colours),
                          sorted_colours(graph.readers[node], colours)});
        names.emplace(result.back(), 0);
      }
      return result;
    };
    const std::vector<Key> keys_a = keys(a, colours_a);
    const std::vector<Key> keys_b = keys(b, colours_b);
    int next = 0;
    for (auto& [key, name] : names) {
      name = next++;
    }
    for (std::size_t node = 0; node < keys_a.size(); ++node) {
      colours_a[node] = names.at(keys_a[node]);
      colours_b[node] = names.at(keys_b[node]);
    }
    if (next == count) {
      return;
    }
    count = next;
  }
}

bool isomorphic(const WiringGraph& a, const WiringGraph& b, Colours colours_a, Colours colours_b) {
  refine(a, b, colours_a, colours_b);
  const int count = std::max(colour_count(colours_a), colour_count(colours_b));
  const std::vector<int> sizes = class_sizes(colours_a, count);
  if (sizes != class_sizes(colours_b, count)) {
    return false;
  }
  const auto twins = std::ranges::find_if(sizes, [](int size) { return size > 1; });
  if (twins == sizes.end()) {
    return true;
  }
  // Nodes that look alike: one of `a` must correspond to one of those of `b`. Alike usually means exchangeable, and the
  // first try succeeds.
  const int colour = static_cast<int>(twins - sizes.begin());
  const auto node_a = std::ranges::find(colours_a, colour) - colours_a.begin();
  for (std::size_t node_b = 0; node_b < colours_b.size(); ++node_b) {
    if (colours_b[node_b] == colour) {
      Colours chosen_a = colours_a;
      Colours chosen_b = colours_b;
      chosen_a[node_a] = count;
      chosen_b[node_b] = count;
      if (isomorphic(a, b, std::move(chosen_a), std::move(chosen_b))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool same_wiring(const Routing& a, const Routing& b) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
    return false;
  }
  for (std::size_t level = 0; level < a.inputs.size(); ++level) {
    if (a.inputs[level].size() != b.inputs[level].size()) {
      return false;
    }
  }
  const WiringGraph graph_a = wiring_graph(a);
  const WiringGraph graph_b = wiring_graph(b);
  std::map<std::vector<int>, int> names;
  const auto first_colours = [&](const WiringGraph& graph) {
    Colours colours;
    for (const std::vector<int>& label : graph.label) {
      colours.push_back(names.emplace(label, static_cast<int>(names.size())).first->second);
    }
    return colours;
  };
  Colours colours_a = first_colours(graph_a);
  Colours colours_b = first_colours(graph_b);
  return isomorphic(graph_a, graph_b, std::move(colours_a), std::move(colours_b));
}

std::string wiring_text(const Routing& routing) {
  std::string text;
  for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
    std::vector<std::string> slots;
    for (const std::vector<int>& slot : routing.inputs[level]) {
      slots.push_back(fmt::format("({})", fmt::join(slot, ",")));
    }
    text += fmt::format("L{}: {}; ", level + 1, fmt::join(slots, ","));
  }
  return text + fmt::format("out: ({})", fmt::join(routing.outputs, ","));
}

std::string modules_text(const Routing& routing) {
  std::vector<std::string> levels;
  for (std::size_t level = 0; level < routing.modules.size(); ++level) {
    levels.push_back(fmt::format("L{}: {}", level + 1, fmt::join(routing.modules[level], ",")));
  }
  return fmt::format("{}", fmt::join(levels, "; "));
}

}  // namespace modlab::tasks
