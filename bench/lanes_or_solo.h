#pragma once

#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "engine/kernels/kernels.h"

namespace modlab::bench {

// The layers that most of a network's time goes to, trained (forward, back to weights and inputs; no optimiser) once
// with a network in every lane and once with one network at a time: which of the two a family should use.
struct LanesOrSolo {
  std::string family;
  std::vector<int> widths;
  int rows = 0;
  SpentTime lanes, solo;  // of one network and step
};
LanesOrSolo time_lanes_and_solo(const std::string& family, const std::vector<int>& widths, int rows,
                                const engine::Kernels<float>& kernels);

// Those of the monolithic networks on rules at width 32 and batch 256: the core of rules-mlp, what a token's code
// becomes in rules-mha, and the cell of rules-rnn, of which a step has 256 rows.
std::vector<LanesOrSolo> time_rule_layers(const engine::Kernels<float>& kernels);

}  // namespace modlab::bench
