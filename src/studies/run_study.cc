#include "studies/run_study.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "io/compress.h"
#include "measures/network_measures.h"
#include "models/settings.h"
#include "studies/curve.h"

namespace modlab::studies {
namespace {

std::array<PartResult, engine::kParts> part_results(const engine::Scores& scores, const models::PartRows& rows,
                                                    int tasks) {
  const int part_rows[] = {rows.train / tasks, rows.validation / tasks, rows.test / tasks};
  std::array<PartResult, engine::kParts> parts;
  for (std::size_t part = 0; part < engine::kParts; ++part) {
    const engine::PartScore& score = scores.parts[part];
    parts[part] = {100.0 * score.right_bits / (part_rows[part] * rows.outputs),
                   100.0 * score.right_rows / part_rows[part], score.loss};
  }
  return parts;
}

SnapshotResult snapshot_result(const engine::Snapshot& snapshot, const models::PartRows& rows,
                               const models::Blueprint& blueprint, const tasks::TaskSuite& suite) {
  SnapshotResult result;
  result.epoch = snapshot.epoch;
  std::ranges::copy(part_results(snapshot.scores, rows, 1), result.parts);
  for (const engine::Scores& scores : snapshot.per_task) {
    result.tasks.push_back(part_results(scores, rows, static_cast<int>(suite.tasks.size())));
  }
  result.measures = measures::measure_network(blueprint, suite, snapshot.parameters);
  return result;
}

std::string weight_bytes(const std::vector<float>& parameters) {
  return io::compress({reinterpret_cast<const char*>(parameters.data()), parameters.size() * sizeof(float)});
}

FinishedRun finish(const models::RunSpec& spec, const tasks::TaskSuite& suite, const models::Blueprint& blueprint,
                   const engine::LaneResult& lane, Keep keep) {
  FinishedRun run;
  run.id = models::run_id(spec);
  run.settings = models::settings_json(spec).dump();
  run.rows = models::part_rows(spec, suite);
  run.result = {snapshot_result(lane.best, run.rows, blueprint, suite),
                snapshot_result(lane.last, run.rows, blueprint, suite), lane.diverged, lane.seconds};
  if (keep != Keep::kResults) {
    run.curve = encode_curve(lane.curve);
  }
  if (keep == Keep::kBest || keep == Keep::kAll) {
    run.weights["best"] = weight_bytes(lane.best.parameters);
  }
  if (keep == Keep::kAll) {
    run.weights["last"] = weight_bytes(lane.last.parameters);
  }
  return run;
}

}  // namespace

void run_study(const models::Plan& runs, Keep keep, int threads, const engine::Kernels<float>& kernels,
               engine::Progress& progress, Store& store) {
  std::mutex mutex;
  models::train_blocks(runs, threads, kernels, progress,
                       [&](const models::Blueprint& blueprint, std::span<const std::size_t> block,
                           std::vector<engine::LaneResult>&& lanes) {
                         std::vector<FinishedRun> finished;
                         for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
                           const models::RunSpec& spec = runs.runs[block[lane]];
                           finished.push_back(finish(spec, runs.suite_of(spec), blueprint, lanes[lane], keep));
                         }
                         const std::lock_guard lock(mutex);
                         store.add(finished);
                       });
}

double estimate_seconds(const models::Plan& runs, Keep keep, int threads, const engine::Kernels<float>& kernels) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmEpochs = 1;
  constexpr int kTimedEpochs = 5;
  // Threads share memory and the store, which the calibration does not.
  constexpr double kThreadEfficiency = 0.93;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  double total = 0;
  for (const models::Plan::Group& group : runs.groups) {
    const auto lane_count = std::min<std::size_t>(static_cast<std::size_t>(kernels.lanes), group.runs.size());
    std::vector<engine::LaneSettings> lanes;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const models::RunSpec& spec = runs.runs[group.runs[lane]];
      lanes.push_back(models::make_lane(spec, group.blueprint, runs.suite_of(spec)));
    }
    const auto network = models::make_network<float>(group.blueprint, kernels);
    std::vector<engine::LaneResult> results;
    const auto time_epochs = [&](int epochs) {
      engine::BlockSettings settings = group.blueprint.block;
      settings.epochs = epochs;
      engine::Progress progress;
      const auto begin = Clock::now();
      results = engine::train_block(kernels, *network, group.blueprint.data, settings, lanes, progress);
      return since(begin);
    };
    // The difference leaves out what a block costs once.
    const double warm = time_epochs(kWarmEpochs);
    const double epoch = std::max(0.0, time_epochs(kWarmEpochs + kTimedEpochs) - warm) / kTimedEpochs;
    // What becomes of a trained network: measures, and a curve as long as it will be.
    engine::LaneResult& example = results.front();
    example.curve.resize(static_cast<std::size_t>(group.blueprint.block.epochs), example.curve.back());
    const models::RunSpec& spec = runs.runs[group.runs.front()];
    const auto begin = Clock::now();
    finish(spec, runs.suite_of(spec), group.blueprint, example, keep);
    const double finishing = since(begin);
    const std::size_t blocks = (group.runs.size() + lane_count - 1) / lane_count;
    total += static_cast<double>(blocks) * (warm + epoch * group.blueprint.block.epochs) +
             finishing * static_cast<double>(group.runs.size());
  }
  return total / (threads == 1 ? 1 : threads * kThreadEfficiency);
}

}  // namespace modlab::studies
