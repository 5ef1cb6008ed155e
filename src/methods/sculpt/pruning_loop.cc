#include "methods/sculpt/pruning_loop.h"

#include <utility>

#include "methods/sculpt/pruning.h"

namespace modlab::methods {

const char* stage_name(Stage stage) {
  static constexpr const char* kNames[] = {"dense", "units", "retrain", "edges"};
  return kNames[static_cast<std::size_t>(stage)];
}

PruningLoop::PruningLoop(Stage stage, PrunedMlp start, double accuracy, const Rules& rules, StepControl control,
                         Prune prune)
    : stage_(stage),
      current_(std::move(start)),
      accuracy_(accuracy),
      rules_(rules),
      control_(control),
      prune_(std::move(prune)) {
  propose();
}

void PruningLoop::propose() {
  candidate_.reset();
  while (const std::optional<double> percent = control_.next()) {
    percent_ = *percent;
    PrunedMlp pruned = prune_(current_, percent_, attempts_++);
    if (!rules_.keep_connected || !is_cut_off(pruned)) {
      candidate_ = std::move(pruned);
      return;
    }
    record(pruned, 0, false);
    control_.reject();
  }
}

void PruningLoop::take(TrainedMlp trained) {
  const bool accepted = trained.accuracy >= rules_.threshold;
  record(trained.network, trained.accuracy, accepted);
  if (accepted) {
    control_.accept();
    current_ = std::move(trained.network);
    accuracy_ = trained.accuracy;
    accepted_any_ = true;
  } else {
    control_.reject();
  }
  propose();
}

void PruningLoop::record(const PrunedMlp& network, double accuracy, bool accepted) {
  steps_.push_back(step_of(stage_, percent_, network, accuracy, accepted));
}

PruneStep step_of(Stage stage, double percent, const PrunedMlp& network, double accuracy, bool accepted) {
  PruneStep step{stage, percent, 0, network.edge_count(), accuracy, accepted, nullptr};
  const std::vector<std::vector<int>> units = used_units(network);
  for (std::size_t layer = 1; layer + 1 < units.size(); ++layer) {
    step.units += static_cast<int>(units[layer].size());
  }
  if (accepted) {
    step.kept = std::make_shared<KeptParameters>(kept_parameters(network));
  }
  return step;
}

}  // namespace modlab::methods
