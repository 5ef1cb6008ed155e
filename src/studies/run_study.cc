#include "studies/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "io/compress.h"
#include "measures/image_measures.h"
#include "measures/network_measures.h"
#include "models/images/image_samples.h"
#include "models/settings.h"
#include "studies/curve.h"
#include "studies/image_details.h"

namespace modlab::studies {
namespace {

template <std::size_t kCount>
void fill_parts(const engine::Scores& scores, const models::PartRows& rows, int tasks, PartResult (&parts)[kCount]) {
  for (std::size_t part = 0; part < kCount; ++part) {
    const engine::PartScore& score = scores.parts[part];
    if (const int count = rows[part] / tasks; count > 0) {
      parts[part] = {100.0 * score.right_bits / (count * rows.outputs), 100.0 * score.right_rows / count, score.loss};
    }
  }
}

SnapshotResult snapshot_result(const engine::Snapshot& snapshot, const models::PartRows& rows, int tasks) {
  SnapshotResult result;
  result.epoch = snapshot.epoch;
  fill_parts(snapshot.scores, rows, 1, result.parts);
  for (const engine::Scores& scores : snapshot.per_task) {
    PartResult parts[engine::kParts];
    fill_parts(scores, rows, tasks, parts);
    std::ranges::copy(parts, result.tasks.emplace_back().begin());
  }
  return result;
}

std::string weight_bytes(const std::vector<float>& parameters) {
  return io::compress({reinterpret_cast<const char*>(parameters.data()), parameters.size() * sizeof(float)});
}

FinishedRun finish(const models::RunSpec& spec, const tasks::TaskSuite& suite, const models::Blueprint& blueprint,
                   const engine::LaneResult& lane, Keep keep, const engine::Kernels<float>& kernels) {
  FinishedRun run;
  run.id = models::run_id(spec);
  run.settings = models::settings_json(spec).dump();
  const models::PartRows rows = models::part_rows(spec, suite);
  const auto tasks = static_cast<int>(suite.tasks.size());
  run.result = {snapshot_result(lane.best, rows, tasks),
                snapshot_result(lane.last, rows, tasks),
                lane.diverged,
                lane.seconds,
                rows,
                {}};
  const auto measure = [&](const char* name, const engine::Snapshot& snapshot, SnapshotResult& result) {
    if (!spec.on_images) {
      result.measures = measures::measure_network(blueprint, suite, snapshot.parameters);
      return;
    }
    const measures::ImageView view = measures::view_image_network(spec, blueprint, suite, snapshot.parameters, kernels);
    result.measures = view.measures;
    run.details[name] = image_details(view, suite).dump();
  };
  measure("best", lane.best, run.result.best);
  measure("last", lane.last, run.result.last);
  if (keep != Keep::kResults) {
    run.curve = encode_curve(lane.curve, spec.on_images ? engine::kScoreParts : engine::kParts);
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
                           finished.push_back(finish(spec, runs.suite_of(spec), blueprint, lanes[lane], keep, kernels));
                         }
                         const std::lock_guard lock(mutex);
                         store.add(finished);
                       });
}

namespace {

// Threads share memory and the store, which a calibration does not.
constexpr double kThreadEfficiency = 0.93;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What becomes of a trained network: measures, and a curve as long as it will be.
double finishing_seconds(const models::Plan& runs, const models::Plan::Group& group, engine::LaneResult example,
                         Keep keep, const engine::Kernels<float>& kernels) {
  example.curve.resize(static_cast<std::size_t>(group.blueprint.block.epochs), example.curve.back());
  const models::RunSpec& spec = runs.runs[group.runs.front()];
  const auto begin = std::chrono::steady_clock::now();
  finish(spec, runs.suite_of(spec), group.blueprint, example, keep, kernels);
  return seconds_since(begin);
}

double estimate_lanes(const models::Plan& runs, const models::Plan::Group& group, Keep keep,
                      const engine::Kernels<float>& kernels) {
  constexpr int kWarmEpochs = 1;
  constexpr int kTimedEpochs = 5;
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
    const auto begin = std::chrono::steady_clock::now();
    results = engine::train_block(kernels, *network, group.blueprint.data, settings, lanes, progress);
    return seconds_since(begin);
  };
  // The difference leaves out what a block costs once.
  const double warm = time_epochs(kWarmEpochs);
  const double epoch = std::max(0.0, time_epochs(kWarmEpochs + kTimedEpochs) - warm) / kTimedEpochs;
  const double finishing = finishing_seconds(runs, group, results.front(), keep, kernels);
  const std::size_t blocks = (group.runs.size() + lane_count - 1) / lane_count;
  return static_cast<double>(blocks) * (warm + epoch * group.blueprint.block.epochs) +
         finishing * static_cast<double>(group.runs.size());
}

// An epoch on images takes up to a second, and its steps cost the same whatever the ratio: a few hundred samples tell.
struct ImageCalibration {
  double sample = 0;      // seconds to learn from one
  double evaluation = 0;  // seconds to test one
  double finishing = 0;
};

ImageCalibration calibrate_images(const models::Plan& runs, const models::Plan::Group& group, Keep keep,
                                  const engine::Kernels<float>& kernels) {
  constexpr int kSteps = 12;
  const models::RunSpec& spec = runs.runs[group.runs.front()];
  const tasks::TaskSuite& suite = runs.suite_of(spec);
  engine::solo::Data data = models::make_image_samples(spec, suite, *models::load_pixels(spec));
  const auto network = models::make_image_network<float>(group.blueprint, engine::solo::kernels_for(kernels.target));
  const engine::LaneSettings lane = models::make_lane(spec, group.blueprint, suite);
  engine::solo::SampleList& train = data.parts[static_cast<std::size_t>(engine::Part::kTrain)];
  const int evaluated =
      data[engine::Part::kValidation].count() + data[engine::Part::kTest].count() + data[engine::Part::kSeen].count();
  const auto time_steps = [&](int steps, std::vector<engine::LaneResult>& results) {
    engine::solo::Data part = data;
    engine::solo::SampleList& list = part.parts[static_cast<std::size_t>(engine::Part::kTrain)];
    const int count = std::min(train.count(), steps * spec.batch_size);
    list.targets.resize(static_cast<std::size_t>(count));
    list.numbers.resize(static_cast<std::size_t>(count) * data.images);
    engine::BlockSettings settings = group.blueprint.block;
    settings.epochs = 1;
    engine::Progress progress;
    const auto begin = std::chrono::steady_clock::now();
    results = engine::solo::train_solo(kernels, *network, part, settings, lane, progress);
    return std::pair{seconds_since(begin), count};
  };
  std::vector<engine::LaneResult> results;
  time_steps(1, results);  // warm
  const auto [few_seconds, few] = time_steps(1, results);
  const auto [many_seconds, many] = time_steps(kSteps, results);
  ImageCalibration found;
  found.sample = many > few ? std::max(0.0, many_seconds - few_seconds) / (many - few) : few_seconds / few;
  found.evaluation = std::max(0.0, few_seconds - few * found.sample) / evaluated;
  found.finishing = finishing_seconds(runs, group, results.front(), keep, kernels);
  return found;
}

}  // namespace

double estimate_seconds(const models::Plan& runs, Keep keep, int threads, const engine::Kernels<float>& kernels) {
  double total = 0;
  std::map<std::string, ImageCalibration> calibrations;
  for (const models::Plan::Group& group : runs.groups) {
    if (!group.blueprint.on_images()) {
      total += estimate_lanes(runs, group, keep, kernels);
      continue;
    }
    const models::RunSpec& spec = runs.runs[group.runs.front()];
    const std::string key =
        fmt::format("{}/{}/{}", models::model_name(spec.model), spec.batch_size, group.blueprint.layout.count);
    auto found = calibrations.find(key);
    if (found == calibrations.end()) {
      found = calibrations.emplace(key, calibrate_images(runs, group, keep, kernels)).first;
    }
    const ImageCalibration& calibration = found->second;
    for (const std::size_t run : group.runs) {
      const models::PartRows rows = models::part_rows(runs.runs[run], runs.suite_of(runs.runs[run]));
      total += group.blueprint.block.epochs * (rows.train * calibration.sample +
                                               (rows.validation + rows.test + rows.seen) * calibration.evaluation) +
               calibration.finishing;
    }
  }
  return total / (threads == 1 ? 1 : threads * kThreadEfficiency);
}

}  // namespace modlab::studies
