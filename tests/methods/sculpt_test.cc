#include "methods/sculpt/sculpt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/epoch_search.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/pruning.h"
#include "models/blueprint.h"
#include "tasks/task_file.h"

namespace modlab::methods {
namespace {

using models::RunSpec;

using Suites = std::map<std::string, tasks::TaskSuite>;

// With as many epochs as it takes: the published ones were tuned to four seeds of another generator.
RunSpec spec(const std::string& task, const std::vector<int>& hidden, std::uint64_t seed, Suites& suites,
             bool epoch_search = true) {
  const auto suite = suites.try_emplace(task, tasks::load_task(task)).first;
  RunSpec run = models::starting_spec(task, models::ModelKind::kSculpted);
  run.hidden = hidden;
  run.seed = seed;
  run.sculpt.epoch_search = epoch_search;
  return models::resolve(run, suite->second);
}

std::vector<SculptResult> sculpt(const std::vector<RunSpec>& runs, const Suites& suites, int threads = 1,
                                 const std::string& target = "") {
  std::vector<SculptResult> results(runs.size());
  SculptProgress progress;
  sculpt_networks(runs, suites, threads, target.empty() ? engine::kernels() : engine::kernels_for(target), progress,
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
  Suites suites;
  const RunSpec run = spec("sculpt/4-2-4", {24, 24}, 0, suites);
  const TrialOutcome outcome = sculpt({run}, suites).front().outcome;
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
  const tasks::TruthTable& table = suites.at(run.task).tasks.front().table;
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
  Suites suites;
  std::vector<RunSpec> runs;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    runs.push_back(spec("sculpt/4-2-4", {24, 24}, seed, suites));
  }
  double found = 0;
  for (const SculptResult& result : sculpt(runs, suites, 2)) {
    ASSERT_TRUE(result.outcome.learned);
    EXPECT_GE(result.outcome.winners.front().network.edge_count(), 16);
    EXPECT_LE(result.outcome.winners.front().network.edge_count(), 20);
    found += *judge(result.outcome, suites.at("sculpt/4-2-4").tasks.front(), {}).success();
  }
  EXPECT_GE(found, 7);
}

TEST(Sculpt, ATrialDoesNotDependOnNeighboursThreadsOrTarget) {
  Suites suites;
  std::vector<RunSpec> runs = {spec("sculpt/4-1-2-2", {12, 12}, 1, suites), spec("sculpt/4-1-2-2", {24, 24}, 2, suites),
                               spec("sculpt/4-2-4", {16}, 3, suites)};
  for (RunSpec& run : runs) {
    run.sculpt.unit_steps = {60, 20};
    run.sculpt.edge_steps = {2, 1};
    run.epochs = 20;
    run.batch_size = 8;
    run.lr = 0.1;
    run.sculpt.epoch_search = false;
    run.sculpt.prune_unlearned = true;
  }
  const std::vector<SculptResult> together = sculpt(runs, suites, 2);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    expect_same(together[run].outcome, sculpt({runs[run]}, suites).front().outcome);
  }
  for (const std::string& target : engine::supported_targets()) {
    expect_same(together[0].outcome, sculpt({runs[0]}, suites, 1, target).front().outcome);
  }
}

TEST(Sculpt, AWinnerCanBeCarvedAgainWithItsHistory) {
  Suites suites;
  const RunSpec run = spec("sculpt/6-3-3-3", {24, 24}, 0, suites);
  const SculptResult result = sculpt({run}, suites).front();
  ASSERT_FALSE(result.outcome.winners.empty());
  const SculptedNetwork& winner = result.outcome.winners.back();
  const SculptedNetwork carved =
      carve_again(run, result.epochs, suites.at(run.task), winner.unit_step, winner.edge_step, engine::kernels());
  EXPECT_EQ(carved.network.parameters, winner.network.parameters);
  const std::vector<const PruneStep*> steps = accepted_steps(carved);
  ASSERT_GT(steps.size(), 2U);
  for (std::size_t level = 1; level < steps.size(); ++level) {
    ASSERT_NE(steps[level]->network, nullptr);
    EXPECT_LE(steps[level]->network->edge_count(), steps[level - 1]->network->edge_count());
    EXPECT_EQ(percent_right(*steps[level]->network, suites.at(run.task).tasks.front().table), 100);
  }
  EXPECT_EQ(steps.back()->network->parameters, winner.network.parameters);
}

TEST(Sculpt, ANetworkThatDoesNotLearnIsNotPruned) {
  Suites suites;
  RunSpec run = spec("sculpt/4-2-4", {2}, 0, suites);
  run.sculpt.epoch_search = false;
  run.epochs = 2;
  const TrialOutcome outcome = sculpt({run}, suites).front().outcome;
  EXPECT_FALSE(outcome.learned);
  EXPECT_TRUE(outcome.winners.empty());
  EXPECT_EQ(outcome.trainings, 1);
  run.sculpt.prune_unlearned = true;
  EXPECT_GT(sculpt({run}, suites).front().outcome.trainings, 1);
}

// Steps so large that no pruned network is right any more, and a threshold that none reaches: the dense network stays.
TEST(Sculpt, AGridThatAcceptsNoStepGivesTheNetworkBack) {
  Suites suites;
  RunSpec run = spec("sculpt/4-2-4", {4}, 0, suites);
  run.sculpt.epoch_search = false;
  run.epochs = 1;
  run.lr = 1e-6;
  run.sculpt.threshold = 60;
  run.sculpt.prune_unlearned = true;
  const TrialOutcome outcome = sculpt({run}, suites).front().outcome;
  EXPECT_EQ(outcome.grid.size(), 70U);
  for (const GridPoint& point : outcome.grid) {
    EXPECT_GT(point.edges, 0);
  }
}

TEST(Sculpt, EdgesAloneCanBePruned) {
  Suites suites;
  RunSpec run = spec("sculpt/4-2-4", {24}, 0, suites);
  run.sculpt.unit_steps = {0};
  run.sculpt.edge_steps = {5, 2.5};
  const TrialOutcome outcome = sculpt({run}, suites).front().outcome;
  ASSERT_EQ(outcome.grid.size(), 2U);
  ASSERT_FALSE(outcome.winners.empty());
  EXPECT_LT(outcome.winners.front().network.edge_count(), 60);
  for (const PruneStep& step : outcome.winners.front().steps) {
    EXPECT_TRUE(step.stage == Stage::kDense || step.stage == Stage::kEdges);
  }
}

TEST(Sculpt, ConnectedNetworksStayConnected) {
  Suites suites;
  RunSpec run = spec("sculpt/4-1-2-2", {24}, 1, suites);
  run.sculpt.keep_connected = true;
  run.sculpt.threshold = 70;  // low enough for networks that would cut inputs off
  run.sculpt.unit_steps = {50};
  run.sculpt.edge_steps = {2.5};
  const TrialOutcome kept = sculpt({run}, suites).front().outcome;
  ASSERT_FALSE(kept.winners.empty());
  EXPECT_FALSE(is_cut_off(kept.winners.front().network));
  run.sculpt.keep_connected = false;
  EXPECT_TRUE(is_cut_off(sculpt({run}, suites).front().outcome.winners.front().network));
}

TEST(EpochSearch, FindsTheFewestListedEpochsForProbesAndItself) {
  Suites suites;
  const RunSpec run = spec("sculpt/4-2-4", {24, 24}, 9, suites);
  const TrialSettings settings = trial_settings(run, 1, suites.at(run.task));
  const TrialSpec trial{&settings, run.seed};
  engine::Progress progress;
  const std::optional<int> found = search_epochs(std::span(&trial, 1), 1, engine::kernels(), progress).front();
  ASSERT_TRUE(found);
  // Every probe learns with so many epochs, and with the next smaller number not all do.
  const auto all_learn = [&](int epochs) {
    std::vector<std::uint64_t> seeds(std::begin(kProbeSeeds), std::end(kProbeSeeds));
    seeds.push_back(run.seed);
    return std::ranges::all_of(seeds, [&](std::uint64_t seed) {
      TrialSettings longer = trial_settings(run, epochs, suites.at(run.task));
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
  Suites suites;
  RunSpec run = spec("sculpt/4-2-4", {24}, 2, suites);
  run.batch_size = 16;
  run.lr = 0.1;
  constexpr int kEpochs = 60;
  engine::Progress progress;
  const auto train = [&](int epochs, models::Checkpoint checkpoint) {
    run.sculpt.checkpoint = checkpoint;
    const TrialSettings settings = trial_settings(run, epochs, suites.at(run.task));
    const Trial::Call start = Trial(settings, run.seed).start();
    const TrainingCall call{&start.network, start.seed};
    return train_side_by_side(settings.recipe, std::span(&call, 1), engine::kernels(), progress).front();
  };
  const TrainedMlp latest = train(kEpochs, models::Checkpoint::kPublished);
  const double best = *std::ranges::max_element(latest.accuracies);
  int last_best = 0;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    last_best = latest.accuracies[epoch - 1] == best ? epoch : last_best;
  }
  EXPECT_EQ(latest.network.parameters, train(last_best, models::Checkpoint::kPublished).network.parameters);
  const TrainedMlp lowest = train(kEpochs, models::Checkpoint::kLowestLoss);
  EXPECT_EQ(lowest.accuracy, best);
}

TEST(Branches, HaveTheSizesOfTheirLevel) {
  Suites suites;
  const RunSpec run = spec("sculpt/6-3-3-3", {24, 24}, 0, suites);
  const SculptResult result = sculpt({run}, suites).front();
  const SculptedNetwork& winner = result.outcome.winners.front();
  const SculptedNetwork carved =
      carve_again(run, result.epochs, suites.at(run.task), winner.unit_step, winner.edge_step, engine::kernels());
  const std::vector<const PruneStep*> steps = accepted_steps(carved);
  const std::size_t level = steps.size() - 2;
  const PrunedMlp& like = *steps[level]->network;
  const std::vector<Branch> all = {Branch::kRandom, Branch::kReinitialised, Branch::kRewound, Branch::kOneShot};
  const std::vector<std::uint64_t> seeds = {0, 1};
  const std::vector<BranchResult> branches =
      grow_branches(run, result.epochs, suites.at(run.task), carved, level, all, seeds, engine::kernels());
  ASSERT_EQ(branches.size(), 8U);
  for (const BranchResult& branch : branches) {
    EXPECT_EQ(branch.network.edge_count(), like.edge_count()) << branch_name(branch.branch);
    EXPECT_EQ(branch.accuracy, percent_right(branch.network, suites.at(run.task).tasks.front().table));
    const bool same_mask = branch.network.kept == like.kept;
    EXPECT_EQ(same_mask, branch.branch == Branch::kReinitialised || branch.branch == Branch::kRewound);
  }
  EXPECT_NE(branches[0].network.kept, branches[1].network.kept);
  EXPECT_THROW(
      grow_branches(run, result.epochs, suites.at(run.task), carved, steps.size(), all, seeds, engine::kernels()),
      ConfigError);
}

TEST(Resolve, TakesThePublishedTrainingOrAsksForASearch) {
  Suites suites;
  const RunSpec published = spec("sculpt/4-1-2-16", {8, 8}, 0, suites, false);
  EXPECT_EQ(published.lr, 0.1);
  EXPECT_EQ(published.batch_size, 16);
  EXPECT_EQ(published.epochs, 120);
  EXPECT_FALSE(published.sculpt.epoch_search);
  const RunSpec other = spec("depth2", {24, 24}, 0, suites, false);
  EXPECT_TRUE(other.sculpt.epoch_search);
  EXPECT_EQ(other.batch_size, 32);
  EXPECT_THROW(spec("mnist-xor-and", {24}, 0, suites), ConfigError);
}

}  // namespace
}  // namespace modlab::methods
