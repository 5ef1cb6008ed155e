#include "models/population.h"

#include <algorithm>
#include <mutex>

#include "core/parallel.h"
#include "core/thread_seconds.h"
#include "models/images/image_samples.h"
#include "tasks/split.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

// Images that are missing or do not fit come to light before anything is trained.
void check_data(const RunSpec& /*spec*/, const tasks::TaskSuite& /*suite*/) {}
void check_data(const ImageSpec& spec, const tasks::TaskSuite& suite) {
  count_image_samples(spec, suite, *load_pixels(spec)->data);
}

template <typename Spec>
PlanOf<Spec> make_plan_of(const std::vector<Spec>& runs) {
  PlanOf<Spec> plan;
  std::map<std::string, std::size_t> group_of_key;
  for (const Spec& given : runs) {
    auto suite = plan.suites.find(given.task);
    if (suite == plan.suites.end()) {
      suite = plan.suites.emplace(given.task, tasks::load_task(given.task)).first;
    }
    const Spec spec = resolve(given, suite->second);
    const auto [group, is_new] = group_of_key.emplace(block_key(spec), plan.groups.size());
    if (is_new) {
      plan.groups.push_back({make_blueprint(spec, suite->second), {}});
      check_data(spec, suite->second);
    }
    plan.groups[group->second].runs.push_back(plan.runs.size());
    plan.runs.push_back(spec);
  }
  return plan;
}

template <typename Spec>
void train_all(const PlanOf<Spec>& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
               const SinkOf<Spec>& sink) {
  struct Block {
    const typename PlanOf<Spec>::Group* group;
    std::span<const std::size_t> runs;
  };
  std::vector<Block> blocks;
  for (const auto& group : plan.groups) {
    const std::size_t most = block_size(plan.runs[group.runs.front()], kernels);
    for (std::size_t first = 0; first < group.runs.size(); first += most) {
      blocks.push_back({&group, std::span(group.runs).subspan(first, std::min(most, group.runs.size() - first))});
    }
  }
  std::mutex mutex;
  parallel_for(blocks.size(), threads, [&](std::size_t at) {
    if (progress.stop) {
      return;
    }
    const Block& block = blocks[at];
    std::vector<Spec> lanes;
    for (const std::size_t run : block.runs) {
      lanes.push_back(plan.runs[run]);
    }
    std::vector<engine::LaneResult> results =
        train_one_block(lanes, block.group->blueprint, plan.suite_of(lanes.front()), kernels, progress);
    const std::lock_guard lock(mutex);
    for (std::size_t lane = 0; lane < results.size(); ++lane) {
      sink(block.runs[lane], block.group->blueprint, std::move(results[lane]));
    }
  });
}

template <typename Train>
std::vector<engine::LaneResult> timed(const Train& train) {
  const double begin = thread_seconds();
  std::vector<engine::LaneResult> results = train();
  const double seconds = thread_seconds() - begin;
  for (engine::LaneResult& result : results) {
    result.seconds = seconds / static_cast<double>(results.size());
  }
  return results;
}

}  // namespace

Plan make_plan(const std::vector<RunSpec>& runs) { return make_plan_of(runs); }
ImagePlan make_plan(const std::vector<ImageSpec>& runs) { return make_plan_of(runs); }

std::size_t block_size(const RunSpec& /*spec*/, const engine::Kernels<float>& kernels) {
  return static_cast<std::size_t>(kernels.lanes);
}
std::size_t block_size(const ImageSpec& /*spec*/, const engine::Kernels<float>& /*kernels*/) { return 1; }

std::vector<engine::LaneResult> train_one_block(std::span<const RunSpec> lanes, const Blueprint& blueprint,
                                                const tasks::TaskSuite& suite, const engine::Kernels<float>& kernels,
                                                engine::Progress& progress) {
  std::vector<engine::LaneSettings> settings;
  for (const RunSpec& spec : lanes) {
    settings.push_back(make_lane(spec, blueprint, suite));
  }
  return timed([&] {
    const auto network = make_network<float>(blueprint, kernels);
    return engine::train_block(kernels, *network, blueprint.data, blueprint.block, settings, progress);
  });
}

std::vector<engine::LaneResult> train_one_block(std::span<const ImageSpec> one, const ImageBlueprint& blueprint,
                                                const tasks::TaskSuite& suite, const engine::Kernels<float>& kernels,
                                                engine::Progress& progress) {
  const ImageSpec& spec = one.front();
  const engine::LaneSettings lane = make_lane(spec, blueprint);
  return timed([&] {
    const auto network = make_network<float>(blueprint, engine::solo::kernels_for(kernels.target));
    const auto pixels = load_pixels(spec);
    const engine::solo::Data data = make_image_samples(spec, suite, *pixels);
    return engine::solo::train_solo(kernels, *network, data, blueprint.block, lane, progress);
  });
}

PartRows part_rows(const ImageSpec& spec, const tasks::TaskSuite& suite) {
  PartRows rows;
  rows.outputs = suite.outputs();
  const auto counts = count_image_samples(spec, suite, *load_pixels(spec)->data);
  const auto of = [&](engine::Part part) { return counts[static_cast<std::size_t>(part)]; };
  rows.train = of(engine::Part::kTrain);
  rows.validation = of(engine::Part::kValidation);
  rows.test = of(engine::Part::kTest);
  rows.seen = of(engine::Part::kSeen);
  return rows;
}

PartRows part_rows(const RunSpec& spec, const tasks::TaskSuite& suite) {
  PartRows rows;
  rows.outputs = suite.outputs();
  for (const tasks::Split& split : tasks::published_splits(spec.ratio, spec.split_seed, 1 << suite.inputs(),
                                                           static_cast<int>(suite.tasks.size()))) {
    rows.train += static_cast<int>(split.train.size());
    rows.validation += static_cast<int>(split.validation.size());
    rows.test += static_cast<int>(split.test.size());
  }
  return rows;
}

const char* part_name(std::size_t part, const PartRows& rows) {
  static constexpr const char* kNames[] = {"train", "validation", "test", "seen"};
  const bool is_unseen = rows.seen > 0 && part == static_cast<std::size_t>(engine::Part::kTest);
  return is_unseen ? "unseen" : kNames[part];
}

void train_population(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                      const SinkOf<RunSpec>& sink) {
  train_all(plan, threads, kernels, progress, sink);
}

void train_population(const ImagePlan& plan, int threads, const engine::Kernels<float>& kernels,
                      engine::Progress& progress, const SinkOf<ImageSpec>& sink) {
  train_all(plan, threads, kernels, progress, sink);
}

}  // namespace modlab::models
