#include "models/population.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "core/random.h"
#include "core/thread_seconds.h"
#include "models/images/image_samples.h"
#include "tasks/split.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

constexpr std::uint64_t kShuffleSeed = 1;

struct Block {
  const Plan::Group* group;
  std::size_t first;
  std::size_t count;
};

// One block: lanes in lockstep, or one network on images.
std::vector<engine::LaneResult> train_lanes(const Plan& plan, const RunSpec& spec, const Blueprint& blueprint,
                                            const std::vector<engine::LaneSettings>& lanes,
                                            const engine::Kernels<float>& kernels, engine::Progress& progress) {
  if (!blueprint.on_images()) {
    const auto network = make_network<float>(blueprint, kernels);
    return engine::train_block(kernels, *network, blueprint.data, blueprint.block, lanes, progress);
  }
  const auto network = make_image_network<float>(blueprint, engine::solo::kernels_for(kernels.target));
  const auto pixels = load_pixels(spec);
  const engine::solo::Data data = make_image_samples(spec, plan.suite_of(spec), *pixels);
  return engine::solo::train_solo(kernels, *network, data, blueprint.block, lanes.front(), progress);
}

std::vector<Block> pack_blocks(const Plan& plan, int lanes) {
  std::vector<Block> blocks;
  for (const Plan::Group& group : plan.groups) {
    const std::size_t most = group.blueprint.on_images() ? 1 : static_cast<std::size_t>(lanes);
    for (std::size_t first = 0; first < group.runs.size(); first += most) {
      blocks.push_back({&group, first, std::min(most, group.runs.size() - first)});
    }
  }
  RandomSequence random(kShuffleSeed, Stream::kBatchOrder);
  for (std::size_t left = blocks.size(); left > 1; --left) {
    std::swap(blocks[left - 1], blocks[random.next_word() % left]);
  }
  return blocks;
}

}  // namespace

Plan make_plan(const std::vector<RunSpec>& runs) {
  Plan plan;
  std::map<std::string, std::size_t> group_of_key;
  for (const RunSpec& given : runs) {
    auto suite = plan.suites.find(given.task);
    if (suite == plan.suites.end()) {
      suite = plan.suites.emplace(given.task, tasks::load_task(given.task)).first;
    }
    const RunSpec spec = resolve(given, suite->second);
    const std::string key = block_key(spec);
    const auto [group, is_new] = group_of_key.emplace(key, plan.groups.size());
    if (is_new) {
      plan.groups.push_back({make_blueprint(spec, suite->second), {}});
      if (spec.on_images) {
        // Images that are missing or do not fit come to light before anything is trained.
        count_image_samples(spec, suite->second, *load_pixels(spec)->data);
      }
    }
    plan.groups[group->second].runs.push_back(plan.runs.size());
    plan.runs.push_back(spec);
  }
  return plan;
}

std::int64_t total_epochs(const Plan& plan) {
  std::int64_t total = 0;
  for (const RunSpec& spec : plan.runs) {
    total += spec.epochs;
  }
  return total;
}

PartRows part_rows(const RunSpec& spec, const tasks::TaskSuite& suite) {
  PartRows rows;
  rows.outputs = suite.outputs();
  if (spec.is_sculpted()) {
    // Learns from all rows, and is judged on them without noise.
    rows.train = rows.validation = 1 << suite.inputs();
    return rows;
  }
  if (spec.on_images) {
    const auto counts = count_image_samples(spec, suite, *load_pixels(spec)->data);
    const auto of = [&](engine::Part part) { return counts[static_cast<std::size_t>(part)]; };
    rows.train = of(engine::Part::kTrain);
    rows.validation = of(engine::Part::kValidation);
    rows.test = of(engine::Part::kTest);
    rows.seen = of(engine::Part::kSeen);
    return rows;
  }
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

void train_blocks(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                  const BlockSink& sink) {
  const std::vector<Block> blocks = pack_blocks(plan, kernels.lanes);
  std::atomic<std::size_t> next_block{0};
  std::mutex mutex;
  std::exception_ptr failure;

  const auto work = [&] {
    try {
      for (std::size_t at = next_block++; at < blocks.size() && !progress.stop; at = next_block++) {
        const Block& block = blocks[at];
        const Blueprint& blueprint = block.group->blueprint;
        std::vector<engine::LaneSettings> lanes;
        for (std::size_t lane = 0; lane < block.count; ++lane) {
          const RunSpec& spec = plan.runs[block.group->runs[block.first + lane]];
          lanes.push_back(make_lane(spec, blueprint, plan.suite_of(spec)));
        }
        const double begin = thread_seconds();
        std::vector<engine::LaneResult> results =
            train_lanes(plan, plan.runs[block.group->runs[block.first]], blueprint, lanes, kernels, progress);
        const double seconds = thread_seconds() - begin;
        if (results.empty()) {
          continue;  // asked to stop
        }
        for (engine::LaneResult& result : results) {
          result.seconds = seconds / static_cast<double>(results.size());
        }
        sink(blueprint, std::span(block.group->runs).subspan(block.first, block.count), std::move(results));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      progress.stop = true;
    }
  };

  std::vector<std::thread> workers;
  const auto worker_count = std::min<std::size_t>(static_cast<std::size_t>(threads), blocks.size());
  for (std::size_t worker = 1; worker < worker_count; ++worker) {
    workers.emplace_back(work);
  }
  work();
  for (std::thread& worker : workers) {
    worker.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void train_population(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                      const Sink& sink) {
  std::mutex mutex;
  train_blocks(
      plan, threads, kernels, progress,
      [&](const Blueprint& blueprint, std::span<const std::size_t> runs, std::vector<engine::LaneResult>&& results) {
        const std::lock_guard lock(mutex);
        for (std::size_t lane = 0; lane < results.size(); ++lane) {
          sink(runs[lane], blueprint, std::move(results[lane]));
        }
      });
}

}  // namespace modlab::models
