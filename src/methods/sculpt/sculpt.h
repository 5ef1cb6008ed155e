#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "methods/sculpt/lane_pool.h"
#include "methods/sculpt/sculpt_run.h"
#include "tasks/task.h"

namespace modlab::methods {

// How the network of a run is trained and pruned.
TrialSettings trial_settings(const SculptRun& run, int epochs, const tasks::TaskSuite& suite);

// What became of a run.
struct SculptResult {
  TrialOutcome outcome;
  int epochs = 0;  // of every training
};

// Called for each finished run from any thread; several may be called at once.
using SculptSink = std::function<void(std::size_t run, SculptResult result)>;

// Sculpts the networks of all runs, which are resolved, on `threads` threads. Ends early if progress.engine.stop is
// set; a run then either reached the sink or left no trace.
void sculpt_networks(std::span<const SculptRun> runs, int threads, const engine::Kernels<float>& kernels,
                     SculptProgress& progress, const SculptSink& sink);

}  // namespace modlab::methods
