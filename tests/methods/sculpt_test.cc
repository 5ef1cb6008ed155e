#include "methods/sculpt/sculpt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/errors.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/epoch_search.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/pruning.h"
#include "tasks/task_cache.h"

namespace modlab::methods {
namespace {

const tasks::TaskSuite& suite_of(const SculptRun& run) {
  static std::map<std::string, std::shared_ptr<const tasks::TaskSuite>> held;
  return *held.try_emplace(run.task, tasks::cached_task(run.task)).first->second;
}

// With as many epochs as it takes: the published ones were tuned to four seeds of another generator.
SculptRun spec(const std::string& task, const std::vector<int>& hidden, std::uint64_t seed, bool epoch_search = true) {
  SculptRun run = published_sculpt_run();
  run.task = task;
  run.hidden = hidden;
  run.seed = seed;
  run.sculpt.epoch_search = epoch_search;
  return resolve(run, suite_of(run));
}

std::vector<SculptResult> sculpt(const std::vector<SculptRun>& runs, int threads = 1, const std::string& target = "") {
  std::vector<SculptResult> results(runs.size());
  SculptProgress progress;
  sculpt_networks(runs, threads, target.empty() ? engine::kernels() : engine::kernels_for(target), progress,
                  [&](std::size_t run, SculptResult result) { results[run] = std::move(result); });
  return results;
}

// Bits of the truth table that a network gets right, one row at a time in double precision.
double percent_right(const PrunedMlp& network, const tasks::TruthTable& table) {
  const models::LayeredNetwork layered = to_layered(network);
  int right = 0;
  for (int row = 0; row < static_cast<int>(table.rows.size()); ++row) {
    std::vector<double> inputs;
    for (int input = 0; input < table.inputs; ++input) {
      inputs.push_back(tasks::input_bit(table.inputs, row, input) ? 1 : 0);
    }
    const std::vector<double> outputs = models::unit_values(layered, inputs).back();
    for (int output = 0; output < table.outputs; ++output) {
      right += (outputs[output] > 0) == tasks::output_bit(table, row, output) ? 1 : 0;
    }
  }
  return 100.0 * right / (static_cast<double>(table.rows.size()) * table.outputs);
}

void expect_same(const TrialOutcome& a, const TrialOutcome& b) {
  EXPECT_EQ(a.dense.parameters, b.dense.parameters);
  ASSERT_EQ(a.winners.size(), b.winners.size());
  for (std::size_t at = 0; at < a.winners.size(); ++at) {
    EXPECT_EQ(a.winners[at].network.parameters, b.winners[at].network.parameters);
    EXPECT_EQ(a.winners[at].unit_step, b.winners[at].unit_step);
    EXPECT_EQ(a.winners[at].steps.size(), b.winners[at].steps.size());
  }
  EXPECT_EQ(a.trainings, b.trainings);
}

TEST(Sculpt, WinnersAreTiedForTheFewestEdgesAndStillRight) {
  const SculptRun run = spec("sculpt/4-2-4", {24, 24}, 0);
  const TrialOutcome outcome = sculpt({run}).front().outcome;
  ASSERT_TRUE(outcome.learned);
  ASSERT_EQ(outcome.grid.size(), 70U);
  ASSERT_FALSE(outcome.winners.empty());
  int fewest = outcome.dense.weight_count();
  for (const GridPoint& point : outcome.grid) {
    fewest = std::min(fewest, point.edges);
    EXPECT_EQ(point.accuracy, 100);
  }
  const auto tied = std::ranges::count(outcome.grid, fewest, &GridPoint::edges);
  EXPECT_EQ(static_cast<std::size_t>(tied), outcome.winners.size());
  const tasks::TruthTable& table = suite_of(run).tasks.front().table;
  for (const SculptedNetwork& winner : outcome.winners) {
    EXPECT_EQ(winner.network.edge_count(), fewest);
    EXPECT_EQ(percent_right(winner.network, table), 100);
    EXPECT_EQ(winner.steps.front().edges, 24 * 4 + 24 * 24 + 24 * 4);
    EXPECT_TRUE(std::ranges::all_of(winner.steps,
                                    [&](const PruneStep& step) { return step.accepted == (step.accuracy >= 100); }));
  }
}

// The published networks of this kind have 16 to 19 edges and, all twelve of them, the true modules.
TEST(Sculpt, SeparableInputsAreFoundAsPublished) {
  std::vector<SculptRun> runs;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    runs.push_back(spec("sculpt/4-2-4", {24, 24}, seed));
  }
  double found = 0;
  for (const SculptResult& result : sculpt(runs, 2)) {
    ASSERT_TRUE(result.outcome.learned);
    EXPECT_GE(result.outcome.winners.front().network.edge_count(), 16);
    EXPECT_LE(result.outcome.winners.front().network.edge_count(), 20);
    found += *judge(result.outcome, suite_of(runs.front()).tasks.front(), {}).success();
  }
  EXPECT_GE(found, 7);
}

TEST(Sculpt, ATrialDoesNotDependOnNeighboursThreadsOrTarget) {
  std::vector<SculptRun> runs = {spec("sculpt/4-1-2-2", {12, 12}, 1), spec("sculpt/4-1-2-2", {24, 24}, 2),
                                 spec("sculpt/4-2-4", {16}, 3)};
  for (SculptRun& run : runs) {
    run.sculpt.unit_steps = {60, 20};
    run.sculpt.edge_steps = {2, 1};
    run.epochs = 20;
    run.batch_size = 8;
    run.lr = 0.1;
    run.sculpt.epoch_search = false;
    run.sculpt.prune_unlearned = true;
  }
  const std::vector<SculptResult> together = sculpt(runs, 2);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    expect_same(together[run].outcome, sculpt({runs[run]}).front().outcome);
  }
  for (const std::string& target : engine::supported_targets()) {
    expect_same(together[0].outcome, sculpt({runs[0]}, 1, target).front().outcome);
  }
}

TEST(Sculpt, EveryWinnerHasItsHistory) {
  const SculptRun run = spec("sculpt/6-3-3-3", {24, 24}, 0);
  const SculptResult result = sculpt({run}).front();
  ASSERT_FALSE(result.outcome.winners.empty());
  for (const SculptedNetwork& winner : result.outcome.winners) {
    const std::vector<const PruneStep*> steps = accepted_steps(winner);
    ASSERT_GT(steps.size(), 2U);
    for (const PruneStep& step : winner.steps) {
      EXPECT_EQ(step.kept != nullptr, step.accepted);
    }
    EXPECT_EQ(network_after(*steps.front(), winner).parameters, result.outcome.dense.parameters);
    for (std::size_t level = 0; level < steps.size(); ++level) {
      const PrunedMlp network = network_after(*steps[level], winner);
      EXPECT_EQ(network.edge_count(), steps[level]->edges);
      EXPECT_TRUE(level == 0 || steps[level]->edges <= steps[level - 1]->edges);
      EXPECT_EQ(percent_right(network, suite_of(run).tasks.front().table), 100);
    }
    EXPECT_EQ(network_after(*steps.back(), winner).parameters, winner.network.parameters);
    EXPECT_EQ(network_after(*steps.back(), winner).kept, winner.network.kept);
  }
}

TEST(Sculpt, ANetworkThatDoesNotLearnIsNotPruned) {
  SculptRun run = spec("sculpt/4-2-4", {2}, 0);
  run.sculpt.epoch_search = false;
  run.epochs = 2;
  const TrialOutcome outcome = sculpt({run}).front().outcome;
  EXPECT_FALSE(outcome.learned);
  EXPECT_TRUE(outcome.winners.empty());
  EXPECT_EQ(outcome.trainings, 1);
  run.sculpt.prune_unlearned = true;
  EXPECT_GT(sculpt({run}).front().outcome.trainings, 1);
}

// Steps so large that no pruned network is right any more, and a threshold that none reaches: the dense network stays.
TEST(Sculpt, AGridThatAcceptsNoStepGivesTheNetworkBack) {
  SculptRun run = spec("sculpt/4-2-4", {4}, 0);
  run.sculpt.epoch_search = false;
  run.epochs = 1;
  run.lr = 1e-6;
  run.sculpt.threshold = 60;
  run.sculpt.prune_unlearned = true;
  const TrialOutcome outcome = sculpt({run}).front().outcome;
  EXPECT_EQ(outcome.grid.size(), 70U);
  for (const GridPoint& point : outcome.grid) {
    EXPECT_GT(point.edges, 0);
  }
}

TEST(Sculpt, EdgesAloneCanBePruned) {
  SculptRun run = spec("sculpt/4-2-4", {24}, 0);
  run.sculpt.unit_steps = {0};
  run.sculpt.edge_steps = {5, 2.5};
  const TrialOutcome outcome = sculpt({run}).front().outcome;
  ASSERT_EQ(outcome.grid.size(), 2U);
  ASSERT_FALSE(outcome.winners.empty());
  EXPECT_LT(outcome.winners.front().network.edge_count(), 60);
  for (const PruneStep& step : outcome.winners.front().steps) {
    EXPECT_TRUE(step.stage == Stage::kDense || step.stage == Stage::kEdges);
  }
}

TEST(Sculpt, ConnectedNetworksStayConnected) {
  SculptRun run = spec("sculpt/4-1-2-2", {24}, 1);
  run.sculpt.keep_connected = true;
  run.sculpt.threshold = 70;  // low enough for networks that would cut inputs off
  run.sculpt.unit_steps = {50};
  run.sculpt.edge_steps = {2.5};
  const TrialOutcome kept = sculpt({run}).front().outcome;
  ASSERT_FALSE(kept.winners.empty());
  EXPECT_FALSE(is_cut_off(kept.winners.front().network));
  run.sculpt.keep_connected = false;
  EXPECT_TRUE(is_cut_off(sculpt({run}).front().outcome.winners.front().network));
}

TEST(EpochSearch, FindsTheFewestListedEpochsForProbesAndItself) {
  const SculptRun run = spec("sculpt/4-2-4", {24, 24}, 9);
  const TrialSettings settings = trial_settings(run, 1, suite_of(run));
  const TrialSpec trial{&settings, run.seed};
  engine::Progress progress;
  const std::optional<int> found = search_epochs(std::span(&trial, 1), 1, engine::kernels(), progress).front();
  ASSERT_TRUE(found);
  // Every probe learns with so many epochs, and with the next smaller number not all do.
  const auto all_learn = [&](int epochs) {
    std::vector<std::uint64_t> seeds(std::begin(kProbeSeeds), std::end(kProbeSeeds));
    seeds.push_back(run.seed);
    return std::ranges::all_of(seeds, [&](std::uint64_t seed) {
      TrialSettings longer = trial_settings(run, epochs, suite_of(run));
      const Trial::Call start = Trial(longer, seed).start();
      const TrainingCall call{&start.network, start.seed};
      return train_side_by_side(longer.recipe, std::span(&call, 1), engine::kernels(), progress).front().accuracy ==
             100;
    });
  };
  EXPECT_TRUE(all_learn(*found));
  const auto place = std::ranges::find(kSearchedEpochs, *found);
  ASSERT_NE(place, std::end(kSearchedEpochs));
  if (place != std::begin(kSearchedEpochs)) {
    EXPECT_FALSE(all_learn(*(place - 1)));
  }
}

// One batch holds the table: as published the latest of the most accurate epochs is handed on, otherwise the one with
// the lowest loss.
TEST(Checkpoint, ChoosesAmongTheMostAccurateEpochs) {
  SculptRun run = spec("sculpt/4-2-4", {24}, 2);
  run.batch_size = 16;
  run.lr = 0.1;
  constexpr int kEpochs = 60;
  engine::Progress progress;
  const auto train = [&](int epochs, Checkpoint checkpoint) {
    run.sculpt.checkpoint = checkpoint;
    const TrialSettings settings = trial_settings(run, epochs, suite_of(run));
    const Trial::Call start = Trial(settings, run.seed).start();
    const TrainingCall call{&start.network, start.seed};
    return train_side_by_side(settings.recipe, std::span(&call, 1), engine::kernels(), progress).front();
  };
  const TrainedMlp latest = train(kEpochs, Checkpoint::kPublished);
  const double best = *std::ranges::max_element(latest.accuracies);
  int last_best = 0;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    last_best = latest.accuracies[epoch - 1] == best ? epoch : last_best;
  }
  EXPECT_EQ(latest.network.parameters, train(last_best, Checkpoint::kPublished).network.parameters);
  const TrainedMlp lowest = train(kEpochs, Checkpoint::kLowestLoss);
  EXPECT_EQ(lowest.accuracy, best);
}

TEST(Branches, HaveTheSizesOfTheirLevel) {
  const SculptRun run = spec("sculpt/6-3-3-3", {24, 24}, 0);
  const SculptResult result = sculpt({run}).front();
  const SculptedNetwork& carved = result.outcome.winners.front();
  const std::vector<const PruneStep*> steps = accepted_steps(carved);
  const std::size_t level = steps.size() - 2;
  const PrunedMlp like = network_after(*steps[level], carved);
  const std::vector<Branch> all = {Branch::kRandom, Branch::kReinitialised, Branch::kRewound, Branch::kOneShot};
  const std::vector<std::uint64_t> seeds = {0, 1};
  const std::vector<BranchResult> branches =
      grow_branches(run, result.epochs, suite_of(run), carved, level, all, seeds, engine::kernels());
  ASSERT_EQ(branches.size(), 8U);
  for (const BranchResult& branch : branches) {
    EXPECT_EQ(branch.network.edge_count(), like.edge_count()) << branch_name(branch.branch);
    EXPECT_EQ(branch.accuracy, percent_right(branch.network, suite_of(run).tasks.front().table));
    const bool same_mask = branch.network.kept == like.kept;
    EXPECT_EQ(same_mask, branch.branch == Branch::kReinitialised || branch.branch == Branch::kRewound);
  }
  EXPECT_NE(branches[0].network.kept, branches[1].network.kept);
  EXPECT_THROW(grow_branches(run, result.epochs, suite_of(run), carved, steps.size(), all, seeds, engine::kernels()),
               ConfigError);
}

TEST(Resolve, TakesThePublishedTrainingOrAsksForASearch) {
  const SculptRun published = spec("sculpt/4-1-2-16", {8, 8}, 0, false);
  EXPECT_EQ(published.lr, 0.1);
  EXPECT_EQ(published.batch_size, 16);
  EXPECT_EQ(published.epochs, 120);
  EXPECT_FALSE(published.sculpt.epoch_search);
  const SculptRun other = spec("depth2", {24, 24}, 0, false);
  EXPECT_TRUE(other.sculpt.epoch_search);
  EXPECT_EQ(other.batch_size, 32);
  EXPECT_THROW(spec("mnist-xor-and", {24}, 0), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
