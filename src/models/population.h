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
#include "models/images/image_blueprint.h"
#include "models/run_spec.h"

namespace modlab::models {

template <typename Spec>
struct BlueprintOf;
template <>
struct BlueprintOf<RunSpec> {
  using Type = Blueprint;
};
template <>
struct BlueprintOf<ImageSpec> {
  using Type = ImageBlueprint;
};

// Runs ready to train: resolved, checked, and packed by shape into blocks of lanes; networks on images are a block
// each. Making a plan trains nothing, so all mistakes in settings come to light here.
template <typename Spec>
struct PlanOf {
  using SpecBlueprint = typename BlueprintOf<Spec>::Type;
  struct Group {  // runs of one shape
    SpecBlueprint blueprint;
    std::vector<std::size_t> runs;
  };

  std::vector<Spec> runs;
  std::map<std::string, tasks::TaskSuite> suites;  // by task name
  std::vector<Group> groups;

  const tasks::TaskSuite& suite_of(const Spec& spec) const { return suites.at(spec.task); }
};
using Plan = PlanOf<RunSpec>;
using ImagePlan = PlanOf<ImageSpec>;

Plan make_plan(const std::vector<RunSpec>& runs);
ImagePlan make_plan(const std::vector<ImageSpec>& runs);

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
PartRows part_rows(const ImageSpec& spec, const tasks::TaskSuite& suite);
// "train", "validation", "test"; on images "unseen" and "seen" in place of the last.
const char* part_name(std::size_t part, const PartRows& rows);

// Called for each finished run, one at a time, from any thread.
template <typename Spec>
using SinkOf = std::function<void(std::size_t run, const typename BlueprintOf<Spec>::Type& blueprint,
                                  engine::LaneResult&& result)>;

// Trains all runs of a plan on `threads` threads. Ends early if progress.stop is set; a run then either reached the
// sink or left no trace.
void train_population(const Plan& plan, int threads, const engine::Kernels<float>& kernels, engine::Progress& progress,
                      const SinkOf<RunSpec>& sink);
void train_population(const ImagePlan& plan, int threads, const engine::Kernels<float>& kernels,
                      engine::Progress& progress, const SinkOf<ImageSpec>& sink);

// One block: lanes in lockstep, or one network on images. `seconds` of each result are its share. Nothing if it was
// asked to stop.
std::vector<engine::LaneResult> train_one_block(std::span<const RunSpec> lanes, const Blueprint& blueprint,
                                                const tasks::TaskSuite& suite, const engine::Kernels<float>& kernels,
                                                engine::Progress& progress);
std::vector<engine::LaneResult> train_one_block(std::span<const ImageSpec> one, const ImageBlueprint& blueprint,
                                                const tasks::TaskSuite& suite, const engine::Kernels<float>& kernels,
                                                engine::Progress& progress);
// How many runs such a block has at most.
std::size_t block_size(const RunSpec& spec, const engine::Kernels<float>& kernels);
std::size_t block_size(const ImageSpec& spec, const engine::Kernels<float>& kernels);

}  // namespace modlab::models
