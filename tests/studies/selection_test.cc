#include "studies/selection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "studies/claims.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

// What a training would have given; selection may look at these only.
struct Outcome {
  double validation = 50;
  double loss = 0.5;
  double updates = 100;
};

// One cell with four configurations (lr 0.1, 0.2, 0.3, 0.4) on two splits with three seeds, its results by hand.
class SelectionTest : public testing::Test {
 protected:
  static constexpr auto kYaml =
      "parameters: {task: depth1, model: dense, lr: [0.1, 0.2, 0.3, 0.4], split_seed: [40, 41], seed: [0, 1, 2]}\n";
  using Key = std::tuple<double, std::uint32_t, std::uint64_t>;  // lr, split, seed

  SelectionTest() : plan_(plan_study(parse_study(kYaml, "mine", "mine.yaml"), "")) {
    for (const PlannedRun& run : plan_.runs) {
      outcomes_[key(run)] = {};
    }
  }

  static Key key(const PlannedRun& run) {
    const models::RunSpec spec = spec_of(run);
    return {spec.lr, spec.split_seed, spec.seed};
  }
  // Three seeds of one configuration on split 40.
  void set(double lr, const std::vector<Outcome>& seeds) {
    for (std::uint64_t seed = 0; seed < seeds.size(); ++seed) {
      outcomes_[{lr, 40, seed}] = seeds[seed];
    }
  }

  std::vector<Record> records() const {
    std::vector<Record> made;
    for (const PlannedRun& run : plan_.runs) {
      if (const auto found = outcomes_.find(key(run)); found != outcomes_.end()) {
        const Outcome& outcome = found->second;
        Record& record = made.emplace_back();
        record.run = &run;
        record.validation = outcome.validation;
        record.loss = outcome.loss;
        record.cost = outcome.updates;
      }
    }
    return made;
  }

  // The configuration chosen on split 40.
  std::string chosen(Ties ties = Ties::kLoss) const {
    const std::vector<Record> made = records();
    const std::vector<Cell> cells = choose(plan_, made, {"lr"}, ties);
    EXPECT_EQ(cells.size(), 1U);
    return cells.front().splits.front().settings;
  }

  StudyPlan plan_;
  std::map<Key, Outcome> outcomes_;
};

TEST_F(SelectionTest, TheBestMeanOverSeedsWins) {
  // 0.2 has the best single run and the best worst run is of 0.4, but 0.3 has the best mean: (90 + 70 + 80) / 3 = 80.
  set(0.1, {{60}, {60}, {60}});
  set(0.2, {{100}, {70}, {60}});
  set(0.3, {{90}, {70}, {80}});
  set(0.4, {{78}, {79}, {80}});
  const std::vector<Record> made = records();
  const std::vector<Cell> cells = choose(plan_, made, {"lr"}, Ties::kLoss);
  ASSERT_EQ(cells.size(), 1U);
  ASSERT_EQ(cells[0].splits.size(), 2U);
  const Cell::Split& split = cells[0].splits[0];
  EXPECT_EQ(split.name, "40");
  EXPECT_EQ(split.settings, "lr 0.3");
  EXPECT_DOUBLE_EQ(split.validation, 80);
  EXPECT_EQ(split.configurations, 4);
  EXPECT_EQ(split.tied, 1);
  ASSERT_EQ(split.runs.size(), 3U);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const models::RunSpec spec = spec_of(*split.runs[seed]->run);
    EXPECT_EQ(spec.seed, seed);
    EXPECT_EQ(spec.split_seed, 40U);
    EXPECT_EQ(spec.lr, 0.3);
  }
  // Splits choose for themselves: on the other one all are equal, and the first of the grid stands for them.
  EXPECT_EQ(cells[0].splits[1].name, "41");
  EXPECT_EQ(cells[0].splits[1].settings, "lr 0.1");
  EXPECT_EQ(cells[0].splits[1].tied, 4);
}

TEST_F(SelectionTest, TestResultsPlayNoPart) {
  set(0.2, {{90, 0.3}, {80, 0.2}, {70, 0.4}});
  set(0.4, {{80, 0.3}, {80, 0.3}, {80, 0.3}});
  std::vector<Record> made = records();
  const auto settings = [&](Ties ties) {
    std::vector<std::string> texts;
    for (const Cell& cell : choose(plan_, made, {"lr"}, ties)) {
      for (const Cell::Split& split : cell.splits) {
        texts.push_back(split.settings + " of " + std::to_string(split.tied));
      }
    }
    return texts;
  };
  // Rows of results that differ in every measure.
  test::MadeUpStudy study(kYaml);
  int trained = 0;
  study.train([&](const PlannedRun& /*run*/) {
    ++trained;
    return test::made_up(trained, trained * 2, trained * 4, trained);
  });
  const StudyResults results(study.store, "best");
  ASSERT_EQ(results.best.size(), made.size());
  for (const Ties ties : {Ties::kLoss, Ties::kUpdates, Ties::kFirst}) {
    const std::vector<std::string> expected = settings(ties);
    // All measures of a run, test accuracy first of all, go to other runs again and again.
    for (std::size_t round = 0; round < made.size(); ++round) {
      std::set<double> accuracies;
      for (std::size_t at = 0; at < made.size(); ++at) {
        made[at].table = &results.best;
        made[at].row = (at * 7 + round * 11) % made.size();
        accuracies.insert(made[at].measure("test_accuracy"));
      }
      EXPECT_EQ(accuracies.size(), made.size());
      EXPECT_EQ(settings(ties), expected) << round;
    }
  }
}

TEST_F(SelectionTest, TiesFallToTheLowerMeanLoss) {
  // Equal means of validation accuracy from other parts; mean losses 0.4, 0.3, 0.35.
  set(0.1, {{90, 0.4, 1}, {80, 0.4, 1}, {70, 0.4, 1}});
  set(0.2, {{80, 0.1, 9}, {80, 0.1, 9}, {80, 0.7, 9}});
  set(0.3, {{70, 0.35, 1}, {85, 0.35, 1}, {85, 0.35, 1}});
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.2");
  const std::vector<Record> made = records();
  EXPECT_EQ(choose(plan_, made, {"lr"}, Ties::kLoss).front().splits.front().tied, 3);
}

TEST_F(SelectionTest, ThenToFewerUpdatesThenToTheOrderOfTheGrid) {
  set(0.1, {{80, 0.25, 50}, {80, 0.25, 50}, {80, 0.25, 80}});
  set(0.2, {{80, 0.25, 10}, {80, 0.25, 30}, {80, 0.25, 80}});
  set(0.3, {{80, 0.25, 40}, {80, 0.25, 40}, {80, 0.25, 40}});
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.2") << "the first of the two with a mean of 40 updates";
}

TEST_F(SelectionTest, TiesCanFallToUpdatesFirst) {
  set(0.1, {{80, 0.1, 50}, {80, 0.1, 50}, {80, 0.1, 50}});
  set(0.2, {{80, 0.5, 20}, {80, 0.5, 20}, {80, 0.5, 20}});
  set(0.3, {{80, 0.25, 20}, {80, 0.25, 20}, {80, 0.25, 20}});
  EXPECT_EQ(chosen(Ties::kUpdates), "lr 0.3") << "updates, then loss";
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.1");
}

TEST_F(SelectionTest, TiesCanFallToTheFirst) {
  set(0.1, {{70, 0, 0}, {70, 0, 0}, {70, 0, 0}});
  set(0.2, {{80, 0.9, 90}, {80, 0.9, 90}, {80, 0.9, 90}});
  set(0.3, {{80, 0.1, 10}, {80, 0.1, 10}, {80, 0.1, 10}});
  EXPECT_EQ(chosen(Ties::kFirst), "lr 0.2");
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.3");
}

TEST_F(SelectionTest, MeansThatDifferInTheLastBitAreTied) {
  // The same bits of 29 rows on three seeds, summed in another order.
  const double a = 100.0 * 41 / 58;
  const double b = 100.0 * 43 / 58;
  const double c = 100.0 * 57 / 58;
  set(0.1, {{a, 0.9}, {b, 0.9}, {c, 0.9}});
  set(0.2, {{c, 0.2}, {a, 0.2}, {b, 0.2}});
  set(0.3, {{b, 0.5}, {c, 0.5}, {a, 0.5}});
  EXPECT_EQ(chosen(), "lr 0.2");
}

TEST_F(SelectionTest, ARunThatDivergedDoesNotWinByItsLoss) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  set(0.1, {{80, kNone}, {80, 0.0}, {80, 0.0}});
  set(0.2, {{80, 5.0}, {80, 5.0}, {80, 5.0}});
  set(0.3, {{80, -0.0}, {80, kInfinity}, {80, 0.0}});
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.2");
  // Two that diverged: updates decide, not the order in which they are compared.
  set(0.1, {{80, kNone, 30}, {80, kNone, 30}, {80, kNone, 30}});
  set(0.2, {{80, kNone, 20}, {80, kNone, 20}, {80, kNone, 20}});
  set(0.3, {{80, kInfinity, 25}, {80, kNone, 25}, {80, kNone, 25}});
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.2");
  // It wins where its validation accuracy is better.
  set(0.1, {{81, kNone}, {81, kNone}, {81, kNone}});
  EXPECT_EQ(chosen(Ties::kLoss), "lr 0.1");
}

TEST_F(SelectionTest, MissingSeedsAndConfigurations) {
  // 0.1 has no runs, 0.2 one, 0.3 two, 0.4 all.
  for (const std::uint64_t seed : {0, 1, 2}) {
    outcomes_.erase({0.1, 40, seed});
  }
  outcomes_.erase({0.2, 40, 0});
  outcomes_.erase({0.2, 40, 2});
  outcomes_.erase({0.3, 40, 1});
  outcomes_[{0.2, 40, 1}] = {70};
  outcomes_[{0.3, 40, 0}] = {60};
  outcomes_[{0.3, 40, 2}] = {90};
  set(0.4, {{70}, {71}, {72}});
  const std::vector<Record> made = records();
  const std::vector<Cell> cells = choose(plan_, made, {"lr"}, Ties::kLoss);
  ASSERT_EQ(cells.size(), 1U);
  ASSERT_EQ(cells[0].splits.size(), 2U);
  const Cell::Split& split = cells[0].splits[cells[0].splits[0].name == "40" ? 0 : 1];
  EXPECT_EQ(split.settings, "lr 0.3");
  EXPECT_DOUBLE_EQ(split.validation, 75);
  EXPECT_EQ(split.configurations, 3);
  ASSERT_EQ(split.runs.size(), 2U);
  EXPECT_EQ(spec_of(*split.runs[1]->run).seed, 2U);
}

TEST_F(SelectionTest, NothingYet) { EXPECT_TRUE(choose(plan_, {}, {"lr"}, Ties::kLoss).empty()); }

TEST_F(SelectionTest, WhatIsNotTunedIsACellOfItsOwn) {
  const std::vector<Record> made = records();
  const std::vector<Cell> cells = choose(plan_, made, {"noise"}, Ties::kLoss);
  EXPECT_EQ(cells.size(), 4U);
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.splits.size(), 2U);
    EXPECT_EQ(cell.splits[0].settings, "");
    EXPECT_EQ(cell.splits[0].configurations, 1);
    EXPECT_EQ(cell.splits[0].runs.size(), 3U);
  }
}

TEST(Selection, CellsAreTaskSeriesAndEverySettingButTheTunedOnes) {
  const StudyPlan plan = plan_study(parse_study(R"(
parameters: {task: [depth1, depth2], ratio: [0.3, 0.5], lr: [0.1, 0.2], tau: [1, 2]}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: b, parameters: {model: modular}}
  - {series: c, parameters: {model: modular}}
)",
                                                "mine", "mine.yaml"),
                                    "");
  std::vector<Record> records;
  for (const PlannedRun& run : plan.runs) {
    Record& record = records.emplace_back();
    record.run = &run;
    const models::RunSpec spec = spec_of(run);
    record.validation = spec.lr * 100 + spec.tau.value_or(0);
  }
  const std::vector<Cell> cells = choose(plan, records, {"lr", "tau"}, Ties::kLoss);
  ASSERT_EQ(cells.size(), 3 * 2 * 2U);
  std::map<std::string, int> counts;
  for (const Cell& cell : cells) {
    const std::string series = plan.value(*cell.example, "series");
    ++counts[series];
    EXPECT_EQ(cell.splits[0].settings, series == "a" ? "lr 0.2" : "lr 0.2, tau 2.0");
    EXPECT_EQ(cell.splits[0].configurations, series == "a" ? 2 : 4);
    for (const Record* record : cell.splits[0].runs) {
      EXPECT_EQ(plan.value(*record->run, "series"), series);
      EXPECT_EQ(spec_of(*record->run).task, spec_of(*cell.example).task);
      EXPECT_EQ(spec_of(*record->run).ratio, spec_of(*cell.example).ratio);
    }
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"a", 4}, {"b", 4}, {"c", 4}}));
}

TEST(LoadRecords, MeasuresByHand) {
  // Depth 1, ratio 0.5: 32 training rows. Batches of 4 are 32/4 + 1 = 9 updates an epoch by the paper's count.
  test::MadeUpStudy study(
      "parameters: {task: depth1, model: modular-shared, batch_size: 4, epochs: 50, seed: [0, 1]}\n");
  study.train([](const PlannedRun& run) -> std::optional<experiments::Result> {
    if (spec_of(run).seed == 1) {
      return std::nullopt;
    }
    experiments::Result result = test::made_up(90, 80, 70, 20);
    experiments::Numbers& best = result.snapshots["best"];
    best["edit_distance"] = 2;
    best["specialisation"] = 0.5;
    best["specialisation_max"] = 0.75;
    best["in_situ"] = 0.25;
    best["module_reuse"] = 12.5;
    result.snapshots["last"] = test::made_up(100, 100, 100, 50).snapshots["last"];
    result.snapshots["last"]["edit_distance"] = 0;
    result.snapshots["last"]["validation_loss"] = 0.02;
    return result;
  });
  const auto value = [](const Record& record, const char* name) { return record.measure(name); };
  const StudyResults best_results(study.store, "best");
  const std::vector<Record> best = load_records(best_results, study.plan, study.store.path());
  ASSERT_EQ(best.size(), 1U);
  const Record& record = best[0];
  EXPECT_EQ(record.run, &study.plan.runs[0]);
  EXPECT_EQ(value(record, "best_epoch"), 20);
  EXPECT_EQ(record.validation, 80);
  EXPECT_EQ(record.loss, 0.2);
  EXPECT_EQ(record.cost, 9 * 20);
  EXPECT_EQ(value(record, "test_accuracy"), 70);
  EXPECT_EQ(value(record, "train_accuracy"), 90);
  EXPECT_EQ(value(record, "validation_accuracy"), 80);
  EXPECT_EQ(value(record, "generalisation_gap"), 20);
  EXPECT_EQ(value(record, "perfect"), 0);
  EXPECT_EQ(value(record, "edit_distance"), 2);
  EXPECT_EQ(value(record, "structure_found"), 0);
  EXPECT_EQ(value(record, "specialisation"), 0.5);
  EXPECT_EQ(value(record, "specialisation_max"), 0.75);
  EXPECT_EQ(value(record, "in_situ"), 0.25);
  EXPECT_EQ(value(record, "module_reuse"), 12.5);
  EXPECT_EQ(value(record, "updates"), 180);
  // Table 1, depth 1, shared: F 102, B 102, U 52. An epoch costs 32 (2 F + 4 B) + 9 x 18 U.
  EXPECT_EQ(value(record, "flops"), 20 * (32 * 6 * 102 + 9 * 18 * 52));
  EXPECT_TRUE(std::isnan(value(record, "test_accuracy_1"))) << "one task has none of its own";

  const StudyResults last_results(study.store, "last");
  const std::vector<Record> last = load_records(last_results, study.plan, study.store.path());
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(value(last[0], "test_accuracy"), 100);
  EXPECT_EQ(value(last[0], "perfect"), 100);
  EXPECT_EQ(value(last[0], "structure_found"), 100);
  EXPECT_EQ(value(last[0], "updates"), 9 * 50);
  EXPECT_EQ(value(last[0], "validation_loss"), 0.02);
  EXPECT_EQ(last[0].validation, 80) << "selection looks at the best epoch whatever is shown";
  EXPECT_EQ(last[0].loss, 0.2);
  EXPECT_EQ(last[0].cost, 9 * 20);
}

TEST(LoadRecords, TheMeasuresOfEachTask) {
  test::MadeUpStudy study("parameters: {task: A+B, model: dense}\n");
  study.train([](const PlannedRun& /*run*/) {
    experiments::Result result = test::made_up(90, 80, 70);
    for (auto& [snapshot, numbers] : result.snapshots) {
      double accuracy = 81;
      for (const char* part : {"train", "validation", "test"}) {
        numbers[part + std::string("_accuracy_1")] = accuracy;
        numbers[part + std::string("_accuracy_2")] = accuracy + 10;
        ++accuracy;
      }
    }
    return result;
  });
  const StudyResults results(study.store, "best");
  const std::vector<Record> records = load_records(results, study.plan, study.store.path());
  ASSERT_EQ(records.size(), 1U);
  const auto value = [&](const char* name) { return records[0].measure(name); };
  EXPECT_EQ(value("train_accuracy_1"), 81);
  EXPECT_EQ(value("test_accuracy_1"), 83);
  EXPECT_EQ(value("train_accuracy_2"), 91);
  EXPECT_EQ(value("test_accuracy_2"), 93);
  EXPECT_TRUE(std::isnan(value("test_accuracy_3")));
  EXPECT_TRUE(std::isnan(value("edit_distance")));
  EXPECT_TRUE(std::isnan(value("structure_found"))) << "unknown is not zero";
}

TEST(Restarts, TheBestByValidationOfSoManySeedsCounts) {
  MadeUpStudy study(
      "tune: none\nrestarts: [3, 1, 4]\nparameters: {task: depth1, model: dense, split_seed: [40, 41], seed: "
      "[0..6]}\n");
  // Validation accuracy by seed; seeds 3 and 5 are tied, and 5 has the lower loss. Test accuracy says which seed it is.
  const double validation[] = {70, 90, 80, 85, 60, 85, 99};
  study.train([&](const PlannedRun& run) {
    const auto seed = spec_of(run).seed;
    experiments::Result result = made_up(90, validation[seed], 50 + static_cast<double>(seed));
    result.snapshots["best"]["validation_loss"] = seed == 5 ? 0.1 : 0.9;
    return result;
  });
  const Findings findings = study.findings();
  std::map<std::string, std::vector<double>> tests;
  for (const Cell& cell : findings.cells()) {
    ASSERT_EQ(cell.splits.size(), 2U);
    for (const auto& [unit, value] : unit_values({&cell}, "test_accuracy")) {
      if (unit.split == 40) {
        EXPECT_EQ(unit.seed, findings.value(cell, "restarts") == "1" ? tests["1"].size()
                                                                     : tests[findings.value(cell, "restarts")].size());
        tests[findings.value(cell, "restarts")].push_back(value);
      }
    }
  }
  EXPECT_EQ(tests["1"], (std::vector<double>{50, 51, 52, 53, 54, 55, 56}));
  EXPECT_EQ(tests["3"], (std::vector<double>{51, 55})) << "of seeds 0 to 2 and 3 to 5; the last one is left over";
  EXPECT_EQ(tests["4"], (std::vector<double>{51}));
  EXPECT_EQ(tests.size(), 3U);
}

TEST(Restarts, AreAnAxisOfClaims) {
  MadeUpStudy study(
      "tune: none\nrestarts: [1, 2]\nparameters: {task: depth1, model: dense, split_seed: [40..44], seed: [0, 1]}\n"
      "claims:\n  - id: C\n    text: t\n    checks:\n"
      "      - {compare: [{restarts: 2}, {restarts: 1}], measure: test_accuracy, expect: greater}\n");
  // The second seed is the better one by validation, and by far the better one by test: 80 against a mean of 70.
  study.train(
      [&](const PlannedRun& run) { return spec_of(run).seed == 1 ? made_up(90, 90, 80) : made_up(90, 80, 60); });
  const Findings findings = study.findings();
  const std::vector<ClaimResult> claims = evaluate_claims(findings);
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_NEAR(claims[0].checks[0].judgement->mean, 10, 1e-9);
  EXPECT_EQ(claims[0].verdict, Verdict::kHolds);
}

}  // namespace
}  // namespace modlab::studies
