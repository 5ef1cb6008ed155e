#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "methods/sculpt/pruning_loop.h"
#include "methods/sculpt/sculpt_spec.h"

namespace modlab::methods {

// One pair of first steps, and what became of it.
struct GridPoint {
  double unit_step = 0;
  double edge_step = 0;
  int edges = 0;
  double accuracy = 0;
  bool edge_step_accepted = false;
  int trainings = 0;  // of its own: those of the unit stage are shared by all edge steps
};

struct SculptedNetwork {
  double unit_step = 0;
  double edge_step = 0;
  PrunedMlp network;
  double accuracy = 0;
  bool edge_step_accepted = false;
  std::vector<PruneStep> steps;  // dense, units, retraining, edges
};

// A dense network, and the sparsest networks that were carved out of it.
struct TrialOutcome {
  PrunedMlp dense;  // without layers where it is not known
  double dense_accuracy = 0;
  bool learned = false;  // the dense network meets the threshold; if it does not, nothing is pruned unless asked for
  std::vector<GridPoint> grid;
  // Of those that meet the threshold, all with the fewest edges, in the order of the grid: edge steps from the first to
  // the last, for each of them unit steps.
  std::vector<SculptedNetwork> winners;
  int trainings = 0;
  double seconds = 0;  // of one thread: its share of the blocks that it trained in
};

// A network to sculpt: how it is trained, how wide its hidden layers are, and how it is pruned.
struct TrialSettings {
  TrainingRecipe recipe;
  std::vector<int> hidden;
  methods::SculptSpec sculpt;
};

struct TrialSpec {
  const TrialSettings* settings = nullptr;
  std::uint64_t seed = 0;
};

// One network to sculpt, as trainings that wait to be done. Trainings of one trial may be handed back from several
// threads at once.
class Trial {
 public:
  struct Call {
    Trial* trial = nullptr;
    Stage stage = Stage::kDense;
    std::size_t unit_point = 0;
    std::size_t edge_point = 0;
    PrunedMlp network;
    std::uint64_t seed = 0;
  };

  Trial(const TrialSettings& settings, std::uint64_t seed);

  const TrialSettings& settings() const { return settings_; }
  Call start();
  // Goes on with what a training gave, which took `seconds`. `over` is said once, when nothing of the trial is under
  // way any more.
  struct Next {
    std::vector<Call> calls;
    bool over = false;
  };
  Next take(const Call& call, TrainedMlp trained, double seconds);
  // Once it is over.
  TrialOutcome outcome();

 private:
  // What was carved with one unit step.
  struct UnitPoint {
    std::unique_ptr<PruningLoop> units;
    std::vector<PruneStep> steps;  // of the unit stage and the retraining
    std::vector<std::unique_ptr<PruningLoop>> edges;
  };

  PruningLoop::Rules rules() const;
  Call make_call(Stage stage, std::size_t unit_point, std::size_t edge_point, const PrunedMlp& network, int attempt);
  std::vector<Call> go_on(const Call& call, TrainedMlp trained);
  std::vector<Call> take_dense(TrainedMlp trained);
  std::vector<Call> take_retrained(std::size_t unit_point, const TrainedMlp& trained);
  std::vector<Call> take_edges(std::size_t unit_point, std::size_t edge_point, TrainedMlp trained);
  std::vector<Call> begin_units(std::size_t unit_point);
  std::vector<Call> go_on_with_units(std::size_t unit_point);
  std::vector<Call> begin_edges(std::size_t unit_point, const PrunedMlp& network, double accuracy);
  void finish(std::size_t unit_point, std::size_t edge_point);

  const TrialSettings& settings_;
  std::uint64_t seed_;
  std::vector<UnitPoint> points_;
  std::atomic<std::ptrdiff_t> calls_under_way_{1};
  std::atomic<int> trainings_{0};
  std::atomic<double> seconds_{0};
  std::mutex mutex_;  // of the outcome
  TrialOutcome outcome_;
};

}  // namespace modlab::methods
