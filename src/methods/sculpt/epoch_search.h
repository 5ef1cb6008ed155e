#pragma once

#include <optional>
#include <span>
#include <vector>

#include "methods/sculpt/trial.h"

namespace modlab::methods {

// The epochs that a network may be trained for (Neural Sculpting, section 3.9 of its behaviour), and the longest
// search.
inline constexpr int kSearchedEpochs[] = {10, 15, 20, 30, 40, 50, 60, 80, 120};
inline constexpr int kLongestSearch = 120;
// Networks of these seeds speak for an architecture, so that what a run finds does not depend on which others are asked
// for.
inline constexpr std::uint64_t kProbeSeeds[] = {0, 1, 2, 3};

// For each trial the fewest epochs with which its own dense network and those of the probe seeds reach the threshold;
// probes that never do are left out. Nothing where its own never does. `settings` leave the epochs open.
std::vector<std::optional<int>> search_epochs(std::span<const TrialSpec> trials, int threads,
                                              const engine::Kernels<float>& kernels, engine::Progress& progress);

}  // namespace modlab::methods
