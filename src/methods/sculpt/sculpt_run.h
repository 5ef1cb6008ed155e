#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "methods/detect/detect_settings.h"
#include "methods/sculpt/sculpt_spec.h"
#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::methods {

// Everything that decides the result of a trial: a dense network is trained, pruned, and its modules are looked for.
// Values are those that a run's name leaves out; published_sculpt_run() has the published ones.
struct SculptRun {
  std::string task = "depth2";
  std::uint64_t seed = 0;
  int epochs = 1000;    // 0: as published, or as many as are needed
  int batch_size = 64;  // 0: as published
  double lr = 0.01;     // 0: as published
  double weight_decay = 0.001;
  double noise = 0.1;
  std::vector<int> hidden;
  models::Init init = models::Init::kTorch;
  engine::OptimizerKind optimizer = engine::OptimizerKind::kAdam;
  engine::LossKind loss = engine::LossKind::kBce;
  SculptSpec sculpt;
  DetectSettings detect;  // how modules are read off what is left
};

SculptRun published_sculpt_run();

// Fills in what is left open, and checks that the whole makes sense for the task. Throws ConfigError.
SculptRun resolve(const SculptRun& given, const tasks::TaskSuite& suite);

}  // namespace modlab::methods
