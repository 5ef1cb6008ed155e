#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "methods/sculpt/lane_pool.h"
#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::methods {

// How the network of a run is trained and pruned.
TrialSettings trial_settings(const models::RunSpec& run, int epochs, const tasks::TaskSuite& suite);

// What became of a run.
struct SculptResult {
  TrialOutcome outcome;
  int epochs = 0;  // of every training
};

// Called for each finished run, one at a time, from any thread.
using SculptSink = std::function<void(std::size_t run, SculptResult result)>;

// Sculpts the networks of all runs, which are resolved, on `threads` threads. Ends early if progress.engine.stop is
// set; a run then either reached the sink or left no trace.
void sculpt_networks(std::span<const models::RunSpec> runs, const std::map<std::string, tasks::TaskSuite>& suites,
                     int threads, const engine::Kernels<float>& kernels, SculptProgress& progress,
                     const SculptSink& sink);

// One pair of first steps again, with the network after each accepted step in its history. Throws ConfigError if the
// dense network does not learn the task.
SculptedNetwork carve_again(const models::RunSpec& run, int epochs, const tasks::TaskSuite& suite, double unit_step,
                            double edge_step, const engine::Kernels<float>& kernels);

}  // namespace modlab::methods
