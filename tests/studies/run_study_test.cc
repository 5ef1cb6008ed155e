#include "studies/run_study.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <tuple>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "io/compress.h"
#include "studies/curve.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using test::MadeUpStudy;

// Two tasks and three kinds of networks, so that blocks differ.
constexpr auto kStudy =
    "parameters: {task: [depth1, A+B], model: [dense, modular, modular-shared], seed: 0..4, epochs: 15, "
    "split_seed: 41, lr: 0.05}\n";

void train(MadeUpStudy& study, Keep keep, int threads = 2) {
  engine::Progress progress;
  run_study(models::make_plan(missing_runs(study.plan, {})), keep, threads, engine::kernels(), progress, study.store);
}

// The same networks, trained one by one and told directly.
std::map<std::string, engine::LaneResult> trained_alone(const MadeUpStudy& study) {
  std::map<std::string, engine::LaneResult> results;
  for (const PlannedRun& run : study.plan.runs) {
    engine::Progress progress;
    models::train_population(models::make_plan({run.spec}), 1, engine::kernels(), progress,
                             [&](std::size_t /*run*/, const models::Blueprint& /*blueprint*/,
                                 engine::LaneResult&& result) { results[run.id] = std::move(result); });
  }
  return results;
}

std::vector<float> weights(Store& store, const std::string& id, const char* snapshot, std::size_t count) {
  std::vector<float> parameters(count);
  const std::optional<std::string> stored = store.weights(id, snapshot);
  EXPECT_TRUE(stored) << id;
  const std::string bytes = io::expand(stored.value_or(""), count * sizeof(float), "");
  std::memcpy(parameters.data(), bytes.data(), bytes.size());
  return parameters;
}

TEST(RunStudy, TheStoreHasWhatEveryTrainingGave) {
  MadeUpStudy study(kStudy);
  train(study, Keep::kAll);
  const auto results = study.store.results();
  ASSERT_EQ(results.size(), 30U);
  int moved = 0;
  for (const auto& [id, lane] : trained_alone(study)) {
    const auto run = std::ranges::find(study.plan.runs, id, &PlannedRun::id);
    const int tasks = run->spec.task == "depth1" ? 1 : 2;
    const RunResult& result = results.at(id);
    const std::pair<const SnapshotResult*, const engine::Snapshot*> snapshots[] = {{&result.best, &lane.best},
                                                                                   {&result.last, &lane.last}};
    for (const auto& [stored, given] : snapshots) {
      EXPECT_EQ(stored->epoch, given->epoch);
      // Ratio 0.5: 32, 16 and 16 rows of each task, two outputs.
      const int rows[] = {32 * tasks, 16 * tasks, 16 * tasks};
      for (std::size_t part = 0; part < engine::kParts; ++part) {
        const engine::PartScore& score = given->scores.parts[part];
        EXPECT_DOUBLE_EQ(stored->parts[part].accuracy, 100.0 * score.right_bits / (2 * rows[part]));
        EXPECT_DOUBLE_EQ(stored->parts[part].row_accuracy, 100.0 * score.right_rows / rows[part]);
        EXPECT_EQ(stored->parts[part].loss, score.loss);
      }
      ASSERT_EQ(stored->tasks.size(), tasks == 1 ? 0U : 2U);
      for (std::size_t task = 0; task < stored->tasks.size(); ++task) {
        EXPECT_DOUBLE_EQ(stored->tasks[task][2].accuracy, 100.0 * given->per_task[task].parts[2].right_bits / 32);
      }
    }
    EXPECT_FALSE(result.diverged);
    EXPECT_GT(result.seconds, 0);
    EXPECT_EQ(weights(study.store, id, "best", lane.best.parameters.size()), lane.best.parameters);
    EXPECT_EQ(weights(study.store, id, "last", lane.last.parameters.size()), lane.last.parameters);
    moved += lane.best.parameters != lane.last.parameters ? 1 : 0;
    const Curve curve = decode_curve(study.store.curve(id).value(), 15, engine::kParts, "");
    for (std::size_t epoch = 0; epoch < 15; ++epoch) {
      EXPECT_EQ(curve.right_bits[1][epoch], lane.curve[epoch].parts[1].right_bits);
      EXPECT_EQ(curve.loss[0][epoch], lane.curve[epoch].parts[0].loss);
    }
  }
  EXPECT_GT(moved, 10) << "best and last must differ for this to mean anything";
}

TEST(RunStudy, MeasuresAreThoseOfTheStoredNetworks) {
  MadeUpStudy study(kStudy);
  train(study, Keep::kAll);
  for (const auto& [id, result] : study.store.results()) {
    const auto run = std::ranges::find(study.plan.runs, id, &PlannedRun::id);
    const tasks::TaskSuite& suite = study.plan.suite_of(run->spec);
    const models::Blueprint blueprint = models::make_blueprint(run->spec, suite);
    for (const char* snapshot : {"best", "last"}) {
      const measures::NetworkMeasures expected =
          measures::measure_network(blueprint, suite, weights(study.store, id, snapshot, blueprint.layout.count));
      const measures::NetworkMeasures& found =
          result.at(snapshot == std::string("best") ? SnapshotKind::kBest : SnapshotKind::kLast).measures;
      const auto expect_same = [](double a, double b) { EXPECT_TRUE(a == b || (a != a && b != b)) << a << " " << b; };
      expect_same(found.edit_distance, expected.edit_distance);
      expect_same(found.specialisation, expected.specialisation);
      expect_same(found.in_situ, expected.in_situ);
      expect_same(found.module_reuse, expected.module_reuse);
      EXPECT_EQ(found.edit_distance != found.edit_distance, run->spec.is_mlp());
    }
  }
}

TEST(RunStudy, KeepsWhatItIsAskedTo) {
  const std::tuple<Keep, bool, bool, bool> expected[] = {{Keep::kResults, false, false, false},
                                                         {Keep::kCurves, true, false, false},
                                                         {Keep::kBest, true, true, false},
                                                         {Keep::kAll, true, true, true}};
  for (const auto& [keep, curve, best, last] : expected) {
    MadeUpStudy study("parameters: {task: depth1, model: modular, epochs: 3, seed: [0, 1]}\n");
    train(study, keep);
    for (const PlannedRun& run : study.plan.runs) {
      EXPECT_EQ(study.store.curve(run.id).has_value(), curve);
      EXPECT_EQ(study.store.weights(run.id, "best").has_value(), best);
      EXPECT_EQ(study.store.weights(run.id, "last").has_value(), last);
    }
  }
}

TEST(RunStudy, AStoppedRunLeavesWholeBlocks) {
  MadeUpStudy study(kStudy);
  engine::Progress progress;
  progress.stop = true;
  run_study(models::make_plan(missing_runs(study.plan, {})), Keep::kAll, 2, engine::kernels(), progress, study.store);
  EXPECT_TRUE(study.store.finished().empty());
  train(study, Keep::kAll);
  EXPECT_EQ(study.store.finished().size(), 30U);
}

TEST(RunStudy, WhatGoesWrongInTheStoreReachesTheCaller) {
  MadeUpStudy study(kStudy);
  io::Database(study.store.path(), io::Database::Mode::kWrite)
      .execute("CREATE TRIGGER full BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no room'); END");
  try {
    train(study, Keep::kAll, 3);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("no room"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(study.store.finished().empty());
}

TEST(RunStudy, TheEstimateGrowsWithTheWork) {
  const auto estimate = [](const std::string& rest) {
    const StudyPlan plan = plan_study(parse_study("parameters: {task: depth2, " + rest + "}\n", "a", "a.yaml"), "");
    return estimate_seconds(models::make_plan(missing_runs(plan, {})), Keep::kAll, 1, engine::kernels());
  };
  const double few = estimate("model: modular, seed: 0..31, epochs: 1000");
  EXPECT_GT(few, 0);
  EXPECT_GT(estimate("model: modular, seed: 0..639, epochs: 1000"), 3 * few) << "twenty times as many";
  EXPECT_GT(estimate("model: modular, seed: 0..31, epochs: 20000"), 3 * few) << "twenty times as long";
}

}  // namespace
}  // namespace modlab::studies
