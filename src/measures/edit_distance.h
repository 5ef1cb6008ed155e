#pragma once

#include <vector>

#include "tasks/function_graph.h"
#include "tasks/routing.h"

namespace modlab::measures {

struct EditDistance {
  int distance = 0;
  std::vector<std::vector<int>> matching;  // [level][slot]: gate of that level, or -1 for a surplus slot
};

// The exact minimum graph edit distance between what a network reads and the truth: inserting or deleting a node or an
// edge costs 1. Strict: inputs and outputs stay themselves, a module may be matched only with a gate of its level. The
// members of a pool play no role, nor does the order of picks; a module that picks a candidate twice has one edge to
// it. Where a gate needs fewer values than its module reads, the others are free: only what is needed can be missing or
// be read in vain. Throws ConfigError if a search over that many modules would not end.
EditDistance edit_distance(const tasks::Routing& learned, const tasks::Routing& truth, int inputs);

// Against a function graph of any kind: wires that skip levels have no counterpart in a network and stay unmatched.
EditDistance edit_distance(const tasks::Routing& learned, const tasks::FunctionGraph& truth);

// As networkx's node_match prices it: any node may stand for any other, which costs 1 where they are not alike. Throws
// ConfigError if the graphs are too large for an exact search.
int relaxed_edit_distance(const tasks::Routing& learned, const tasks::Routing& truth, int inputs);
int relaxed_edit_distance(const tasks::Routing& learned, const tasks::FunctionGraph& truth);

}  // namespace modlab::measures
