#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/population.h"
#include "models/training_settings.h"

namespace modlab::test {

struct Trained {
  models::Plan plan;
  std::vector<engine::LaneResult> results;

  const models::Blueprint& blueprint_of(std::size_t run) const {
    for (const models::Plan::Group& group : plan.groups) {
      for (const std::size_t member : group.runs) {
        if (member == run) {
          return group.blueprint;
        }
      }
    }
    return plan.groups.front().blueprint;
  }
};

// Trains seeds 0 to `seeds` - 1 of one setting, on one thread.
inline Trained train_seeds(const std::vector<std::pair<const char*, const char*>>& values, int seeds) {
  std::vector<models::RunSpec> runs;
  for (int seed = 0; seed < seeds; ++seed) {
    models::RunSpec spec;
    for (const auto& [name, value] : values) {
      models::bit_settings().set(spec, name, value);
    }
    spec.seed = static_cast<std::uint64_t>(seed);
    runs.push_back(spec);
  }
  Trained trained{models::make_plan(runs), std::vector<engine::LaneResult>(runs.size())};
  engine::Progress progress;
  models::train_population(trained.plan, 1, engine::kernels(), progress,
                           [&](std::size_t run, const models::Blueprint&, engine::LaneResult&& result) {
                             trained.results[run] = std::move(result);
                           });
  return trained;
}

}  // namespace modlab::test
