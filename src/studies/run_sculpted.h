#pragma once

#include <map>
#include <span>
#include <string>

#include "methods/sculpt/sculpt.h"
#include "studies/store.h"

namespace modlab::studies {

// Sculpts the networks of runs and writes each to the store as it finishes; one network for all runs that differ only
// in how modules are looked for. Stops as sculpt_networks does.
void run_sculpted(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                  int threads, const engine::Kernels<float>& kernels, methods::SculptProgress& progress, Store& store);

// The same for runs that share one training and pruning.
std::string carving_id(const models::RunSpec& run);

// How many networks that will be.
std::size_t different_carvings(std::span<const models::RunSpec> runs);

// How long that will take, in seconds: from one trial of each of a few architectures between the smallest and the
// largest.
double estimate_sculpted_seconds(std::span<const models::RunSpec> runs,
                                 const std::map<std::string, tasks::TaskSuite>& suites, int threads,
                                 const engine::Kernels<float>& kernels);

}  // namespace modlab::studies
