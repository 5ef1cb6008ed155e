// Networks on truth tables as runs of a study: what reaches the store.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "experiments/training/curve.h"
#include "io/compress.h"
#include "measures/network_measures.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using experiments::Numbers;
using test::MadeUpStudy;
using test::spec_of;

// Two tasks and three kinds of networks, so that blocks differ.
constexpr auto kStudy =
    "parameters: {task: [depth1, A+B], model: [dense, modular, modular-shared], seed: 0..4, epochs: 15, "
    "split_seed: 41, lr: 0.05}\n";

Batch batch_of(const StudyPlan& plan, Keep keep, int threads) {
  return {missing_runs(plan, {}), {threads, &engine::kernels()}, wanted_for(keep)};
}

void train(MadeUpStudy& study, Keep keep, int threads = 2) {
  Batch batch = batch_of(study.plan, keep, threads);
  batch.execute([&](auto&& finished) { study.store.add(finished); });
}

// The same networks, trained one by one and told directly.
std::map<std::string, engine::LaneResult> trained_alone(const MadeUpStudy& study) {
  std::map<std::string, engine::LaneResult> results;
  for (const PlannedRun& run : study.plan.runs) {
    engine::Progress progress;
    models::train_population(models::make_plan(std::vector{spec_of(run)}), 1, engine::kernels(), progress,
                             [&](std::size_t /*run*/, const models::Blueprint& /*blueprint*/,
                                 engine::LaneResult&& result) { results[run.id()] = std::move(result); });
  }
  return results;
}

std::vector<float> weights(Store& store, const std::string& id, const char* snapshot, std::size_t count) {
  std::vector<float> parameters(count);
  const std::optional<std::string> stored = store.blob(id, std::string("weights/") + snapshot);
  EXPECT_TRUE(stored) << id;
  const std::string bytes = io::expand(stored.value_or(""), count * sizeof(float), "");
  std::memcpy(parameters.data(), bytes.data(), bytes.size());
  return parameters;
}

TEST(RunStudy, TheStoreHasWhatEveryTrainingGave) {
  MadeUpStudy study(kStudy);
  train(study, Keep::kAll);
  const ResultTable results = study.store.results("best");
  ASSERT_EQ(results.size(), 30U);
  int moved = 0;
  for (const auto& [id, lane] : trained_alone(study)) {
    const auto run = std::ranges::find(study.plan.runs, id, &PlannedRun::id);
    const int tasks = spec_of(*run).task == "depth1" ? 1 : 2;
    const auto found = study.store.snapshots(id);
    ASSERT_EQ(found.size(), 2U);
    const std::pair<const char*, const engine::Snapshot*> snapshots[] = {{"best", &lane.best}, {"last", &lane.last}};
    for (const auto& [name, given] : snapshots) {
      const Numbers& stored = found.at(name);
      EXPECT_EQ(stored.at("best_epoch"), given->epoch);
      // Ratio 0.5: 32, 16 and 16 rows of each task, two outputs.
      const int rows[] = {32 * tasks, 16 * tasks, 16 * tasks};
      const std::string parts[] = {"train", "validation", "test"};
      for (std::size_t part = 0; part < engine::kParts; ++part) {
        const engine::PartScore& score = given->scores.parts[part];
        EXPECT_DOUBLE_EQ(stored.at(parts[part] + "_accuracy"), 100.0 * score.right_bits / (2 * rows[part]));
        EXPECT_DOUBLE_EQ(stored.at(parts[part] + "_row_accuracy"), 100.0 * score.right_rows / rows[part]);
        EXPECT_EQ(stored.at(parts[part] + "_loss"), score.loss);
        EXPECT_EQ(stored.at(parts[part] + "_rows"), rows[part]);
      }
      EXPECT_EQ(stored.contains("test_accuracy_1"), tasks == 2);
      EXPECT_EQ(stored.contains("test_accuracy_2"), tasks == 2);
      EXPECT_FALSE(stored.contains("test_accuracy_3"));
      for (int task = 0; task < (tasks == 1 ? 0 : 2); ++task) {
        EXPECT_DOUBLE_EQ(stored.at("test_accuracy_" + std::to_string(task + 1)),
                         100.0 * given->per_task[task].parts[2].right_bits / 32);
      }
    }
    const ResultTable::Row& result = results.row(results.find(run->number()).value());
    EXPECT_FALSE(result.diverged);
    EXPECT_GT(result.seconds, 0);
    EXPECT_EQ(weights(study.store, id, "best", lane.best.parameters.size()), lane.best.parameters);
    EXPECT_EQ(weights(study.store, id, "last", lane.last.parameters.size()), lane.last.parameters);
    moved += lane.best.parameters != lane.last.parameters ? 1 : 0;
    const experiments::Curve curve =
        experiments::decode_curve(study.store.blob(id, "curve").value(), 15, engine::kParts, "");
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
  for (const PlannedRun& run : study.plan.runs) {
    const models::RunSpec spec = spec_of(run);
    const auto suite = tasks::cached_task(spec.task);
    const models::Blueprint blueprint = models::make_blueprint(spec, *suite);
    const auto snapshots = study.store.snapshots(run.id());
    for (const char* snapshot : {"best", "last"}) {
      const measures::NetworkMeasures expected = measures::measure_network(
          blueprint, *suite, weights(study.store, run.id(), snapshot, blueprint.layout.count));
      const Numbers& found = snapshots.at(snapshot);
      const auto expect_same = [&](const char* name, double value) {
        EXPECT_EQ(found.contains(name), !std::isnan(value)) << name;
        EXPECT_TRUE(std::isnan(value) || found.at(name) == value) << name;
      };
      expect_same("edit_distance", expected.edit_distance);
      expect_same("specialisation", expected.specialisation);
      expect_same("in_situ", expected.in_situ);
      expect_same("module_reuse", 100 * expected.module_reuse);
      EXPECT_EQ(!found.contains("edit_distance"), spec.is_mlp());
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
      EXPECT_EQ(study.store.blob(run.id(), "curve").has_value(), curve);
      EXPECT_EQ(study.store.blob(run.id(), "weights/best").has_value(), best);
      EXPECT_EQ(study.store.blob(run.id(), "weights/last").has_value(), last);
    }
  }
}

TEST(RunStudy, AStoppedRunLeavesWholeBlocks) {
  MadeUpStudy study(kStudy);
  Batch batch = batch_of(study.plan, Keep::kAll, 2);
  batch.stop();
  batch.execute([&](auto&& finished) { study.store.add(finished); });
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

// How good it is depends on the machine's moment: bench/ and docs/performance.md tell.
TEST(RunStudy, HasAnEstimate) {
  const StudyPlan plan = plan_study(
      parse_study("parameters: {task: depth2, model: modular, seed: 0..31, epochs: 1000}\n", "a", "a.yaml"), "");
  const double seconds = batch_of(plan, Keep::kAll, 1).estimate_seconds();
  EXPECT_GT(seconds, 0);
  EXPECT_TRUE(std::isfinite(seconds));
}

}  // namespace
}  // namespace modlab::studies
