#pragma once

#include <functional>
#include <memory>
#include <span>

#include "engine/kernels/kernels.h"
#include "methods/sculpt/trial.h"

namespace modlab::methods {

// How far all trials are; shared with the thread that shows it.
struct SculptProgress {
  engine::Progress engine;  // whose stop ends everything
  std::atomic<int> trials_done{0};
  std::atomic<std::int64_t> trainings{0};
  std::atomic<int> edges_left{0};  // of the network that was trained last
};

// A trial that is over, by its number; called from any thread, several at once.
using TrialSink = std::function<void(std::size_t trial, TrialOutcome outcome)>;

// Sculpts many networks at once: trainings of all trials that have the same recipe and depth fill the lanes of a block,
// whatever stage they are in. A trial's outcome depends on that trial alone.
void sculpt_all(std::span<const TrialSpec> trials, int threads, const engine::Kernels<float>& kernels,
                SculptProgress& progress, const TrialSink& sink);

}  // namespace modlab::methods
