#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/blueprint.h"
#include "models/run_spec.h"

namespace modlab::models {

// Runs ready to train: resolved, checked, and packed by shape into blocks of lanes; networks on images are a block
// each. Making a plan trains nothing, so
// all mistakes in settings come to light here.
struct Plan {
  struct Group {  // runs of one shape
    Blueprint blueprint;
    std::vector<std::size_t> runs;
  };

  std::vector<RunSpec> runs;
  std::map<std::string, tasks::TaskSuite> suites;  // by task name
  std::vector<Group> groups;

  const tasks::TaskSuite& suite_of(const RunSpec& spec) const { return suites.at(spec.task); }
};

Plan make_plan(const std::vector<RunSpec>& runs);
std::int64_t total_epochs(const Plan& plan);

// How many rows (samples, on images) each part of a run's split has, over all tasks.
struct PartRows {
  int train = 0;
  int validation = 0;
  int test = 0;  // on images: of unseen combinations
  int seen = 0;  // on images: of combinations that were trained on, with other images
  int outputs = 0;

  int operator[](std::size_t part) const { return std::array{train, validation, test, seen}[part]; }
};
PartRows part_rows(const RunSpec& spec, const tasks::TaskSuite& suite);
// "train", "validation", "test"; on images "unseen" and "seen" in place of the last.
const char* part_name(std::size_t part, const PartRows& rows);

// Called for each finished block from the thread that trained it, so several may be called at once: run numbers of the
// plan, and their results in the same order.
using BlockSink = std::function<void(const Blueprint& blueprint, std::span<const std::size_t> runs,
                                     std::vector<engine::LaneResult>&& results)>;

// Trains all runs of a plan on `threads` threads. Blocks are taken in a shuffled order, so that the work done so far
// tells how long the rest will take. Ends early if progress.stop is set; a run then either reached the sink or left no
// trace.
void train_blocks(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                  const BlockSink& sink);

// Called for each finished run, one at a time, from any thread.
using Sink = std::function<void(std::size_t run, const Blueprint& blueprint, engine::LaneResult&& result)>;

// The same with a sink for single runs.
void train_population(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                      const Sink& sink);

}  // namespace modlab::models
