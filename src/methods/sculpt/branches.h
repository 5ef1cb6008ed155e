#pragma once

#include <span>
#include <string>
#include <vector>

#include "methods/sculpt/sculpt.h"

namespace modlab::methods {

// What else a network could have become that has the size of one in a pruning history: controls for whether it is the
// pruning, the mask or the weights that matter.
enum class Branch {
  kRandom,         // the dense network's weights, with as many units and edges in each layer, taken at random
  kReinitialised,  // the same mask, other initial weights
  kRewound,        // the same mask, the weights that the network began with
  kOneShot         // the dense network pruned to as many units and edges in one step
};

std::string branch_name(Branch branch);
// Whether its networks have the wiring, and so the modules, of the one in the history.
bool keeps_mask(Branch branch);
// Throws ConfigError for an unknown name.
Branch branch_from_name(const std::string& name);

struct BranchResult {
  Branch branch = Branch::kRandom;
  std::uint64_t seed = 0;
  PrunedMlp network;
  double accuracy = 0;
};

// Grows branches from the network after the accepted step `level` (0 is the dense network) of a history, each trained
// once, for every seed.
std::vector<BranchResult> grow_branches(const SculptRun& run, int epochs, const tasks::TaskSuite& suite,
                                        const SculptedNetwork& carved, std::size_t level,
                                        std::span<const Branch> branches, std::span<const std::uint64_t> seeds,
                                        const engine::Kernels<float>& kernels);

// The accepted steps of a history, and the network after one of them.
std::vector<const PruneStep*> accepted_steps(const SculptedNetwork& carved);
PrunedMlp network_after(const PruneStep& step, const SculptedNetwork& carved);

}  // namespace modlab::methods
