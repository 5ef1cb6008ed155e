#pragma once

#include <cstdint>
#include <vector>

#include "measures/wiring.h"

namespace modlab::measures {

// Which node of one wiring stands for which of another, level by level.
struct Matching {
  std::vector<std::vector<int>> gates;  // [level][slot]: gate of that level, or -1
  int saved = 0;                        // edits: two for each edge that both wirings have, one for each needless read
};

// How many of the values that a slot reads are free if it stands for the gate, which needs fewer.
int needless(const Wiring::Node& slot, const Wiring::Node& gate);

// How much each slot would like each gate, from 0 to 1: [level][slot][gate]. Decides between matchings that are equally
// good otherwise.
using Preference = std::vector<std::vector<std::vector<double>>>;

// The matching that saves the most edits, and of those the one with the largest sum of preferences. On every level
// as many nodes as possible are matched: it costs nothing. Throws ConfigError if that takes more than a second or so.
//
// The search is exact. With the matchings of every second level given, the levels between them no longer depend on each
// other, and each is a linear assignment. So only every second level is searched (branch and bound), and a bound on
// what is still open is again an assignment: two nodes can share at most as many open edges as either of them has.
Matching best_matching(const Wiring& learned, const Wiring& truth, const Preference& preference = {});

// The cost of turning one wiring into the other under a matching of as many nodes as possible.
int edit_distance(const Wiring& learned, const Wiring& truth, const Matching& matching);

// See edit_distance.h.
int relaxed_edit_distance(const Wiring& learned, const Wiring& truth);

}  // namespace modlab::measures
