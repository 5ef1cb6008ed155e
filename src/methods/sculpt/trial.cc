#include "methods/sculpt/trial.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.h"
#include "methods/sculpt/pruning.h"
#include "methods/sculpt/unit_scores.h"

namespace modlab::methods {
namespace {

// Every training has random numbers of its own, which depend on where in its trial it stands: on the first steps
// themselves, not on their places in a grid, so that one pair of them can be carved again by itself.
std::uint64_t training_seed(std::uint64_t trial, Stage stage, double unit_step, double edge_step, int attempt) {
  const auto word = [](double percent) { return static_cast<std::uint32_t>(std::lround(1e6 * percent)); };
  const Words4 words = threefry(
      {static_cast<std::uint32_t>(stage), word(unit_step), word(edge_step), static_cast<std::uint32_t>(attempt)},
      stream_key(trial, Stream::kTrainings));
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

double pruned_percent(const PrunedMlp& network) {
  return 100.0 - 100.0 * network.edge_count() / network.weight_count();
}

}  // namespace

Trial::Trial(const TrialSettings& settings, std::uint64_t seed)
    : settings_(settings), seed_(seed), points_(settings.sculpt.unit_steps.size()) {}

PruningLoop::Rules Trial::rules() const { return {settings_.sculpt.threshold, settings_.sculpt.keep_connected}; }

Trial::Call Trial::make_call(Stage stage, std::size_t unit_point, std::size_t edge_point, const PrunedMlp& network,
                             int attempt) {
  // What several points share must not depend on one of them.
  const double unit_step = stage == Stage::kDense ? 0 : settings_.sculpt.unit_steps[unit_point];
  const double edge_step = stage == Stage::kEdges ? settings_.sculpt.edge_steps[edge_point] : 0;
  return {this, stage, unit_point, edge_point, network, training_seed(seed_, stage, unit_step, edge_step, attempt)};
}

Trial::Call Trial::start() {
  models::MlpShape shape;
  shape.widths.push_back(settings_.recipe.task->table.inputs);
  shape.widths.insert(shape.widths.end(), settings_.hidden.begin(), settings_.hidden.end());
  shape.widths.push_back(settings_.recipe.task->table.outputs);
  return make_call(Stage::kDense, 0, 0, unpruned_mlp(shape, settings_.recipe.init, seed_), 0);
}

Trial::Next Trial::take(const Call& call, TrainedMlp trained, double seconds) {
  ++trainings_;
  seconds_ += seconds;
  Next next;
  next.calls = go_on(call, std::move(trained));
  // The last look at this trial: once its count is zero, whoever brought it there may end it.
  const auto more = static_cast<std::ptrdiff_t>(next.calls.size()) - 1;
  next.over = calls_under_way_.fetch_add(more) + more == 0;
  return next;
}

std::vector<Trial::Call> Trial::go_on(const Call& call, TrainedMlp trained) {
  switch (call.stage) {
    case Stage::kDense:
      return take_dense(std::move(trained));
    case Stage::kUnits:
      points_[call.unit_point].units->take(std::move(trained));
      return go_on_with_units(call.unit_point);
    case Stage::kRetrain:
      return take_retrained(call.unit_point, trained);
    case Stage::kEdges:
      break;
  }
  return take_edges(call.unit_point, call.edge_point, std::move(trained));
}

std::vector<Trial::Call> Trial::take_dense(TrainedMlp trained) {
  outcome_.dense = std::move(trained.network);
  outcome_.dense_accuracy = trained.accuracy;
  outcome_.learned = trained.accuracy >= settings_.sculpt.threshold;
  if (!outcome_.learned && !settings_.sculpt.prune_unlearned) {
    return {};
  }
  std::vector<Call> calls;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    std::vector<Call> more = settings_.sculpt.prunes_units()
                                 ? begin_units(point)
                                 : begin_edges(point, outcome_.dense, outcome_.dense_accuracy);
    std::ranges::move(more, std::back_inserter(calls));
  }
  return calls;
}

std::vector<Trial::Call> Trial::begin_units(std::size_t unit_point) {
  const PrunedMlp& dense = outcome_.dense;
  const StepControl control(settings_.sculpt.unit_schedule, settings_.sculpt.unit_steps[unit_point], 0,
                            100.0 / dense.hidden_units());
  const auto prune = [this, unit_point](const PrunedMlp& network, double percent, int attempt) {
    const ScoreSettings score{settings_.sculpt.unit_score, settings_.sculpt.unit_norm,
                              training_seed(seed_, Stage::kUnits, settings_.sculpt.unit_steps[unit_point], 0, attempt)};
    return prune_units(network, unit_scores(network, settings_.recipe.task->table, score), settings_.sculpt.unit_scale,
                       percent);
  };
  points_[unit_point].units =
      std::make_unique<PruningLoop>(Stage::kUnits, dense, outcome_.dense_accuracy, rules(), control, prune);
  return go_on_with_units(unit_point);
}

std::vector<Trial::Call> Trial::go_on_with_units(std::size_t unit_point) {
  UnitPoint& point = points_[unit_point];
  const PruningLoop& loop = *point.units;
  std::vector<Call> calls;
  if (const PrunedMlp* candidate = loop.candidate()) {
    calls.push_back(make_call(Stage::kUnits, unit_point, 0, *candidate, loop.attempts()));
  } else {
    point.steps = loop.steps();
    calls.push_back(make_call(Stage::kRetrain, unit_point, 0, loop.network(), 0));
  }
  return calls;
}

std::vector<Trial::Call> Trial::take_retrained(std::size_t unit_point, const TrainedMlp& trained) {
  UnitPoint& point = points_[unit_point];
  const bool holds = trained.accuracy >= settings_.sculpt.threshold || settings_.sculpt.keep_failed_retraining;
  point.steps.push_back(
      step_of(Stage::kRetrain, pruned_percent(trained.network), trained.network, trained.accuracy, holds));
  const std::unique_ptr<PruningLoop> units = std::move(point.units);
  return holds ? begin_edges(unit_point, trained.network, trained.accuracy)
               : begin_edges(unit_point, units->network(), units->accuracy());
}

std::vector<Trial::Call> Trial::begin_edges(std::size_t unit_point, const PrunedMlp& network, double accuracy) {
  UnitPoint& point = points_[unit_point];
  std::vector<Call> calls;
  for (const double step : settings_.sculpt.edge_steps) {
    const StepControl control(settings_.sculpt.edge_schedule, step, pruned_percent(network),
                              100.0 / network.weight_count());
    point.edges.push_back(std::make_unique<PruningLoop>(
        Stage::kEdges, network, accuracy, rules(), control,
        [](const PrunedMlp& from, double percent, int /*attempt*/) { return prune_edges(from, percent); }));
  }
  for (std::size_t edge_point = 0; edge_point < settings_.sculpt.edge_steps.size(); ++edge_point) {
    const PruningLoop& loop = *point.edges[edge_point];
    if (const PrunedMlp* candidate = loop.candidate()) {
      calls.push_back(make_call(Stage::kEdges, unit_point, edge_point, *candidate, loop.attempts()));
    } else {
      finish(unit_point, edge_point);
    }
  }
  return calls;
}

std::vector<Trial::Call> Trial::take_edges(std::size_t unit_point, std::size_t edge_point, TrainedMlp trained) {
  PruningLoop& loop = *points_[unit_point].edges[edge_point];
  loop.take(std::move(trained));
  if (const PrunedMlp* candidate = loop.candidate()) {
    return {make_call(Stage::kEdges, unit_point, edge_point, *candidate, loop.attempts())};
  }
  finish(unit_point, edge_point);
  return {};
}

void Trial::finish(std::size_t unit_point, std::size_t edge_point) {
  UnitPoint& point = points_[unit_point];
  const std::unique_ptr<PruningLoop> loop = std::move(point.edges[edge_point]);
  SculptedNetwork result{settings_.sculpt.unit_steps[unit_point],
                         settings_.sculpt.edge_steps[edge_point],
                         loop->network(),
                         loop->accuracy(),
                         loop->accepted_any(),
                         {step_of(Stage::kDense, 0, outcome_.dense, outcome_.dense_accuracy, true)}};
  result.steps.insert(result.steps.end(), point.steps.begin(), point.steps.end());
  result.steps.insert(result.steps.end(), loop->steps().begin(), loop->steps().end());
  const int edges = result.network.edge_count();
  const std::lock_guard lock(mutex_);
  outcome_.grid.push_back({result.unit_step, result.edge_step, edges, result.accuracy, result.edge_step_accepted,
                           static_cast<int>(loop->steps().size())});
  if (result.accuracy < settings_.sculpt.threshold && !settings_.sculpt.keep_failed_retraining) {
    return;
  }
  // Only the sparsest so far are worth their memory.
  std::vector<SculptedNetwork>& winners = outcome_.winners;
  const int fewest = winners.empty() ? edges : winners.front().network.edge_count();
  if (edges < fewest) {
    winners.clear();
  }
  if (edges <= fewest) {
    winners.push_back(std::move(result));
  }
}

TrialOutcome Trial::outcome() {
  // Points end in any order; the grid has one.
  const auto position = [&](const auto& point) {
    const auto unit =
        std::ranges::find(settings_.sculpt.unit_steps, point.unit_step) - settings_.sculpt.unit_steps.begin();
    const auto edge =
        std::ranges::find(settings_.sculpt.edge_steps, point.edge_step) - settings_.sculpt.edge_steps.begin();
    return std::pair(edge, unit);
  };
  const auto before = [&](const auto& a, const auto& b) { return position(a) < position(b); };
  std::ranges::sort(outcome_.grid, before);
  std::ranges::sort(outcome_.winners, before);
  outcome_.trainings = trainings_;
  outcome_.seconds = seconds_;
  return std::move(outcome_);
}

}  // namespace modlab::methods
