#pragma once

#include "models/modular.h"
#include "models/run_spec.h"
#include "tasks/task.h"

// What resolving a run on truth tables and one on images have in common.
namespace modlab::models {

// The task's own sizes; for a task whose structure is not known two levels, pairs of inputs and then the outputs, as
// the paper's depth 2.
tasks::TrueSizes sizes_of(const tasks::TaskSuite& suite);

// What the first level of modules picks from.
struct FirstLevel {
  int candidates = 0;
  const char* way_to_more = "";  // for whoever wants more of them
};

// Number of tasks, schedule, and density. Throws ConfigError.
void resolve_training(RunSpec& spec, const tasks::TaskSuite& suite);
// Sizes and known routing of a network with modules. Throws ConfigError.
void resolve_modules(RunSpec& spec, const tasks::TaskSuite& suite, const FirstLevel& first);

// For a resolved spec: `inputs` are the values that the first level picks from.
ModularShape modular_shape(const RunSpec& spec, const tasks::TaskSuite& suite, int inputs);
// One for each task, where some selection is known.
std::vector<tasks::Routing> known_routing(const RunSpec& spec, const tasks::TaskSuite& suite);
engine::BlockSettings block_settings(const RunSpec& spec);
// Rates, seed, initial weights and mask.
engine::LaneSettings common_lane(const RunSpec& spec, const engine::Layout& layout);
// Throws ConfigError beyond what fits into memory.
void check_parameters(const engine::Layout& layout);

}  // namespace modlab::models
