#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/train_block.h"
#include "methods/sculpt/pruned_mlp.h"
#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::methods {

// How networks of one kind are trained, before and after every pruning step. Networks that share all of this can train
// side by side, whatever their widths.
struct TrainingRecipe {
  const tasks::Task* task = nullptr;
  int batch = 8;
  int epochs = 15;
  double lr = 0.05;
  double weight_decay = 1e-4;
  double noise = 0.1;
  engine::OptimizerKind optimizer = engine::OptimizerKind::kAdam;
  engine::LossKind loss = engine::LossKind::kBce;
  models::Init init = models::Init::kKaiming;
  methods::Checkpoint checkpoint = methods::Checkpoint::kLowestLoss;

  friend auto operator<=>(const TrainingRecipe&, const TrainingRecipe&) = default;
};

struct TrainingCall {
  const PrunedMlp* start = nullptr;
  std::uint64_t seed = 0;  // of the order of rows and of the noise
};

struct TrainedMlp {
  PrunedMlp network;
  double accuracy = 0;             // percent of all bits of the truth table, of the epoch that was kept
  std::vector<double> accuracies;  // after every epoch
};

// Trains up to kernels.lanes networks in lockstep, with fresh optimiser state. Hidden units that no network uses any
// more take no part. What comes out of a call depends on that call alone. Nothing if it was asked to stop.
std::vector<TrainedMlp> train_side_by_side(const TrainingRecipe& recipe, std::span<const TrainingCall> calls,
                                           const engine::Kernels<float>& kernels, engine::Progress& progress);

}  // namespace modlab::methods
