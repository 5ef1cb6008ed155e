#include "bench/ours.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "models/population.h"

namespace modlab::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Timing time_loop(const Work& work, int networks, int epochs, int threads, int repeats,
                 const engine::Kernels<float>& kernels) {
  std::vector<models::RunSpec> runs;
  for (int seed = 0; seed < networks; ++seed) {
    models::RunSpec spec = work.spec;
    spec.seed = static_cast<std::uint64_t>(seed);
    spec.epochs = epochs;
    runs.push_back(spec);
  }
  Timing best{.seconds = 1e30, .networks = networks, .epochs = epochs, .test_accuracy = 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    engine::Progress progress;
    double right = 0;
    const models::Plan plan = models::make_plan(runs);
    const auto begin = std::chrono::steady_clock::now();
    models::train_population(plan, threads, kernels, progress,
                             [&](std::size_t run, const models::Blueprint& /*blueprint*/, engine::LaneResult&& result) {
                               const models::RunSpec& spec = plan.runs[run];
                               const models::PartRows rows = models::part_rows(spec, plan.suite_of(spec));
                               right += 100.0 * result.best.scores[engine::Part::kTest].right_bits /
                                        (rows.test * rows.outputs);
                             });
    best.seconds = std::min(best.seconds, seconds_since(begin));
    best.test_accuracy = right / networks;
  }
  return best;
}

Timing time_steps(const Work& work, int steps, int repeats, const engine::Kernels<float>& kernels) {
  models::RunSpec spec = work.spec;
  spec.epochs = steps;
  const models::Plan plan = models::make_plan({spec});
  models::Blueprint blueprint = plan.groups.front().blueprint;
  // An epoch is one step on the first rows of the table, and nothing is evaluated before the end.
  blueprint.block.evaluate_every = steps;
  blueprint.block.batch_size = work.rows;
  std::vector<engine::LaneSettings> lanes;
  for (int lane = 0; lane < kernels.lanes; ++lane) {
    models::RunSpec lane_spec = plan.runs.front();
    lane_spec.seed = static_cast<std::uint64_t>(lane);
    lanes.push_back(models::make_lane(lane_spec, blueprint, plan.suite_of(lane_spec)));
    lanes.back().train.clear();
    for (int row = 0; row < work.rows; ++row) {
      lanes.back().train.push_back(static_cast<std::uint32_t>(row));
    }
  }
  Timing best{.seconds = 1e30, .networks = kernels.lanes, .epochs = steps, .test_accuracy = 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    engine::Progress progress;
    const auto network = models::make_network<float>(blueprint, kernels);
    const auto begin = std::chrono::steady_clock::now();
    engine::train_block(kernels, *network, blueprint.data, blueprint.block, lanes, progress);
    best.seconds = std::min(best.seconds, seconds_since(begin));
  }
  return best;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace modlab::bench
