#pragma once

#include <functional>

#include "engine/training.h"
#include "experiments/experiment.h"
#include "models/population.h"

// How runs of someone's networks become results.
namespace modlab::experiments {

// A network that was trained epoch by epoch, and the data that it was trained on.
struct TrainedScript {
  const engine::Layout& layout;
  const engine::LaneResult& lane;
  models::PartRows rows;
  int batch_size = 0;
  int tasks = 1;
  std::string test_part;
};
// `add_chance`: what chance reaches in such a run.
Result script_result(const Run& run, const TrainedScript& trained, const Wanted& wanted,
                     const std::function<void(Numbers&)>& add_chance);

}  // namespace modlab::experiments
