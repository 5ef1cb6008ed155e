#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/train_block.h"

namespace modlab::models {

enum class ModelKind { kDense, kSparse, kModular, kModularFc, kShared, kSharedFcms, kCnn };
enum class Init { kTorch, kXavier, kKaiming };
enum class TaskInput { kOneHot, kScalar };

// Everything that decides the result of a training on truth tables, as plain values. Empty lists, and zero for the
// pool, mean "as the task's own structure has it"; resolve() in blueprint.h fills them in.
struct RunSpec {
  std::string task = "depth2";
  ModelKind model = ModelKind::kShared;
  double ratio = 0.5;
  std::uint32_t split_seed = 40;
  std::uint64_t seed = 0;
  int epochs = 1000;
  int batch_size = 64;
  double lr = 0.01;
  double lr_input = 0.1;
  double lr_module = 0.1;
  double weight_decay = 0.001;
  std::optional<double> tau = 2.0;
  double noise = 0.1;
  std::vector<int> hidden;
  double density = 0.25;
  std::vector<int> modules;
  std::vector<int> slots;
  std::vector<int> module_widths;
  int pool = 0;
  int fan_in = 2;
  bool decay_structural = true;
  bool known_inputs = false;
  bool known_modules = false;
  bool known_outputs = false;
  bool outputs_from_all = false;
  TaskInput task_input = TaskInput::kOneHot;
  engine::Gumbel gumbel = engine::Gumbel::kOff;
  Init init = Init::kTorch;
  engine::OptimizerKind optimizer = engine::OptimizerKind::kAdam;
  engine::LossKind loss = engine::LossKind::kBce;
  engine::Schedule schedule = engine::Schedule::kConstant;
  double gamma = 1.0;

  // One network without modules.
  bool is_mlp() const { return model == ModelKind::kDense || model == ModelKind::kSparse || model == ModelKind::kCnn; }
  bool has_pool() const { return model == ModelKind::kShared || model == ModelKind::kSharedFcms; }
};

}  // namespace modlab::models
