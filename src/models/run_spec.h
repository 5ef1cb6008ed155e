#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/train_block.h"
#include "models/detect_settings.h"
#include "models/sculpt_spec.h"

namespace modlab::models {

// A sculpted network is a dense one that is pruned after its training.
enum class ModelKind { kDense, kSparse, kModular, kModularFc, kShared, kSharedFcms, kCnn, kSculpted };
enum class ImageModule { kMlp, kConvolution };
enum class Init { kTorch, kXavier, kKaiming };
enum class TaskInput { kOneHot, kScalar };

// Everything that decides a run's result, as plain values. Empty lists, and zero for the pool, mean "as the task's own
// structure has it"; resolve() in blueprint.h fills them in.
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

  // Of tasks on images.
  bool on_images = false;  // follows from the task: resolve() and starting_spec() set it
  int samples = 1000;
  int test_samples = 100;
  bool disjoint_validation = false;
  bool normalize = false;
  std::vector<std::string> images;  // IDX files; empty: MNIST
  std::vector<std::string> labels;
  ImageModule image_module = ImageModule::kMlp;
  std::vector<int> image_widths;
  int image_slots = 0;
  int image_pool = 0;

  // Of sculpted networks, for which zero for lr, batch_size and epochs means "as published".
  SculptSpec sculpt;
  DetectSettings detect;  // how modules are read off what is left

  bool is_sculpted() const { return model == ModelKind::kSculpted; }
  // One network without modules.
  bool is_mlp() const {
    return model == ModelKind::kDense || model == ModelKind::kSparse || model == ModelKind::kCnn || is_sculpted();
  }
  bool has_pool() const { return model == ModelKind::kShared || model == ModelKind::kSharedFcms; }
};

// What a run of that task and model is where nothing else is said: the published settings for bits, for images, or for
// sculpting. Throws ConfigError if there is no such task.
RunSpec starting_spec(const std::string& task, ModelKind model = RunSpec{}.model);

// A short name derived from the settings that differ from their defaults: adding a setting later keeps old names.
std::string run_id(const RunSpec& spec);

}  // namespace modlab::models
