#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "methods/sculpt/step_control.h"
#include "methods/sculpt/training_calls.h"

namespace modlab::methods {

enum class Stage : std::uint8_t { kDense, kUnits, kRetrain, kEdges };
// "dense", "units", "retrain", "edges".
const char* stage_name(Stage stage);

// One attempt of a pruning history.
struct PruneStep {
  Stage stage = Stage::kDense;
  double percent = 0;  // asked for, of what there was before pruning
  int units = 0;       // hidden units that are left
  int edges = 0;
  double accuracy = 0;
  bool accepted = false;
  std::shared_ptr<const KeptParameters> kept;  // after the step, where it was accepted
};

// One stage of pruning: prune a little, train, keep what is still accurate, and go on from there.
class PruningLoop {
 public:
  // A pruned copy; `attempt` counts from 0.
  using Prune = std::function<PrunedMlp(const PrunedMlp& network, double percent, int attempt)>;

  struct Rules {
    double threshold = 100;
    bool keep_connected = false;
  };

  PruningLoop(Stage stage, PrunedMlp start, double accuracy, const Rules& rules, StepControl control, Prune prune);

  // What to train next; null once the stage is over.
  const PrunedMlp* candidate() const { return candidate_ ? &*candidate_ : nullptr; }
  void take(TrainedMlp trained);

  int attempts() const { return attempts_; }
  bool accepted_any() const { return accepted_any_; }
  const PrunedMlp& network() const { return current_; }
  double accuracy() const { return accuracy_; }
  const std::vector<PruneStep>& steps() const { return steps_; }

 private:
  void propose();
  void record(const PrunedMlp& network, double accuracy, bool accepted);

  Stage stage_;
  PrunedMlp current_;
  double accuracy_;
  Rules rules_;
  StepControl control_;
  Prune prune_;
  std::optional<PrunedMlp> candidate_;
  double percent_ = 0;
  int attempts_ = 0;
  bool accepted_any_ = false;
  std::vector<PruneStep> steps_;
};

// The step of a history that led to a network.
PruneStep step_of(Stage stage, double percent, const PrunedMlp& network, double accuracy, bool accepted);

}  // namespace modlab::methods
