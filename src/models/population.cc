#include "models/population.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "tasks/split.h"
#include "tasks/task_file.h"

namespace modlab::models {
namespace {

struct Block {
  const Plan::Group* group;
  std::size_t first;
  std::size_t count;
};

std::vector<Block> pack_blocks(const Plan& plan, int lanes) {
  std::vector<Block> blocks;
  for (const Plan::Group& group : plan.groups) {
    for (std::size_t first = 0; first < group.runs.size(); first += lanes) {
      blocks.push_back({&group, first, std::min<std::size_t>(lanes, group.runs.size() - first)});
    }
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
    }
    plan.groups[group->second].runs.push_back(plan.runs.size());
    plan.runs.push_back(spec);
  }
  return plan;
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

void train_population(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                      const Sink& sink) {
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
        const auto begin = std::chrono::steady_clock::now();
        const auto network = make_network<float>(blueprint, kernels);
        std::vector<engine::LaneResult> results =
            engine::train_block(kernels, *network, blueprint.data, blueprint.block, lanes, progress);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        const std::lock_guard lock(mutex);
        for (std::size_t lane = 0; lane < results.size(); ++lane) {
          results[lane].seconds = seconds.count() / static_cast<double>(results.size());
          sink(block.group->runs[block.first + lane], blueprint, std::move(results[lane]));
        }
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

}  // namespace modlab::models
