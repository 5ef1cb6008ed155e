#include "studies/findings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "studies/made_up_study.h"
#include "tasks/split.h"

namespace modlab::studies {
namespace {

using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

TEST(Findings, BaseRatesAreThoseOfTheMoreFrequentValue) {
  MadeUpStudy study("parameters: {task: [depth1, depth2, depth3, random62, A+B], model: dense}\n");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const Findings findings = study.findings();
  std::map<std::string, double> rates;
  for (const Cell& cell : findings.cells()) {
    rates[findings.value(cell, "task")] = findings.base_rate(cell, *experiments::find_measure("train_accuracy"));
  }
  // Ones per output: 32 and 32, 16 and 16, 24 and 24, 34 and 38; A 16 and 16, B 36 and 36 of 64 rows.
  EXPECT_DOUBLE_EQ(rates.at("depth1"), 50);
  EXPECT_DOUBLE_EQ(rates.at("depth2"), 75);
  EXPECT_DOUBLE_EQ(rates.at("depth3"), 62.5);
  EXPECT_DOUBLE_EQ(rates.at("random62"), 100 * (34 + 38) / 128.0);
  EXPECT_DOUBLE_EQ(rates.at("A+B"), (75 + 56.25) / 2);
}

TEST(Findings, BaseRatesOfTestRowsAreThoseOfTheRowsThatAreJudged) {
  MadeUpStudy study("parameters: {task: depth2, model: dense, ratio: 0.7, split_seed: [40, 41]}\n");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const Findings findings = study.findings();
  const tasks::TruthTable& table = tasks::cached_task("depth2")->tasks.front().table;
  double expected = 0;
  for (const std::uint32_t seed : {40U, 41U}) {
    const std::vector<int> rows = tasks::published_splits(0.7, seed, 64, 1).front().test;
    for (int output = 0; output < 2; ++output) {
      const auto ones = std::ranges::count_if(rows, [&](int row) { return tasks::output_bit(table, row, output); });
      expected += 25 * std::max(static_cast<double>(ones) / static_cast<double>(rows.size()),
                                1 - static_cast<double>(ones) / static_cast<double>(rows.size()));
    }
  }
  const double rate = findings.base_rate(findings.cells().front(), *experiments::find_measure("test_accuracy"));
  EXPECT_NEAR(rate, expected, 1e-9);
  EXPECT_GT(std::abs(rate - 75), 1) << "which is the rate of all rows";
}

TEST(Findings, CellsDependOnWhatIsTuned) {
  MadeUpStudy study("tune: [lr]\nparameters: {task: depth1, model: dense, lr: [0.1, 0.2], noise: [0, 0.1, 0.2]}\n");
  study.train([](const PlannedRun& run) { return made_up(90, 100 * spec_of(run).lr, 70); });
  const Findings findings = study.findings();
  EXPECT_EQ(findings.cells().size(), 3U);
  EXPECT_EQ(findings.cells({{"lr", "noise"}}).size(), 1U);
  EXPECT_EQ(findings.cells({{"noise"}}).size(), 2U);
  EXPECT_EQ(findings.cells({std::vector<std::string>{}}).size(), 6U);
  EXPECT_EQ(findings.records().size(), 6U);
}

TEST(Findings, TheSnapshotAndTheRuleForTiesAreTheStudys) {
  const std::string yaml = "parameters: {task: depth1, model: dense, lr: [0.1, 0.2]}\n";
  const auto chosen = [](MadeUpStudy& study) {
    study.train([](const PlannedRun& run) {
      experiments::Result result = made_up(90, 80, 70);
      result.snapshots["best"]["validation_loss"] = spec_of(run).lr == 0.2 ? 0.1 : 0.9;
      result.snapshots["last"]["test_accuracy"] = 60;
      return result;
    });
    const Findings findings = study.findings();
    const Cell::Split& split = findings.cells().front().splits.front();
    return std::pair(split.settings, split.runs.front()->measure("test_accuracy"));
  };
  MadeUpStudy by_loss(yaml);
  EXPECT_EQ(chosen(by_loss), std::pair(std::string("lr 0.2"), 70.0));
  MadeUpStudy first("ties: first\nsnapshot: last\n" + yaml);
  EXPECT_EQ(chosen(first), std::pair(std::string("lr 0.1"), 60.0));
}

TEST(Findings, Matching) {
  MadeUpStudy study("parameters: {task: [depth1, depth2], model: [dense, modular], ratio: [0.3, 0.5], tau: 1}\n");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const Findings findings = study.findings();
  const auto count = [&](const Selector& selector) {
    return std::ranges::count_if(findings.cells(), [&](const Cell& cell) { return findings.matches(cell, selector); });
  };
  EXPECT_EQ(count({}), 8);
  EXPECT_EQ(count({{"series", {"dense"}}}), 4);
  EXPECT_EQ(count({{"task", {"depth1"}}, {"ratio", {"0.3"}}}), 2);
  EXPECT_EQ(count({{"task", {"depth1", "depth2"}}, {"ratio", {"0.3", "0.5"}}}), 8);
  EXPECT_EQ(count({{"ratio", {"0.4"}}}), 0);
  EXPECT_EQ(count({{"epochs", {"1000"}}}), 8) << "an axis that the study does not vary";
}

TEST(UnitValues, AreMeansOverCellsForEachSplitAndSeed) {
  MadeUpStudy study(
      "parameters: {task: depth1, model: modular, ratio: [0.3, 0.5], split_seed: [40, 41], seed: [0, 1]}\n");
  study.train([](const PlannedRun& run) {
    const models::RunSpec spec = spec_of(run);
    experiments::Result result =
        made_up(0, 0, spec.ratio * 100 + (spec.split_seed - 40) * 4 + static_cast<double>(spec.seed));
    // Unknown for one run of four, and for all runs of one split.
    if (spec.split_seed == 40 && (spec.seed == 0 || spec.ratio > 0.4)) {
      result.snapshots["best"]["edit_distance"] = spec.ratio * 10;
    }
    return result;
  });
  const Findings findings = study.findings();
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    cells.push_back(&cell);
  }
  ASSERT_EQ(cells.size(), 2U);
  const std::string test = "test_accuracy";
  const std::string distance = "edit_distance";
  EXPECT_EQ(unit_values({cells[0]}, test), (UnitValues{{{40, 0}, 30}, {{40, 1}, 31}, {{41, 0}, 34}, {{41, 1}, 35}}));
  const UnitValues both = unit_values(cells, test);
  EXPECT_EQ(both, (UnitValues{{{40, 0}, 40}, {{40, 1}, 41}, {{41, 0}, 44}, {{41, 1}, 45}}));
  EXPECT_DOUBLE_EQ(mean_of(both), 42.5);
  EXPECT_EQ(unit_values(cells, distance), (UnitValues{{{40, 0}, 4}, {{40, 1}, 5}}));
  EXPECT_TRUE(unit_values({}, test).empty());
}

TEST(UnitValues, BothStandardErrorsByHand) {
  // Split 40: 1, 2, 3; split 41: 2, 4, 6; split 42: 6, 6, 6. Means 2, 4, 6; squared errors 1/3, 4/3, 0.
  UnitValues values;
  const double numbers[3][3] = {{1, 2, 3}, {2, 4, 6}, {6, 6, 6}};
  for (std::uint32_t split = 0; split < 3; ++split) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      values[{40 + split, seed}] = numbers[split][seed];
    }
  }
  const measures::MeanWithErrors mean = combine_units(values);
  EXPECT_DOUBLE_EQ(mean.mean, 4);
  EXPECT_DOUBLE_EQ(mean.error_within, std::sqrt(5.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(mean.error_between, 2 / std::sqrt(3.0));
  EXPECT_EQ(mean.count, 9);
}

}  // namespace
}  // namespace modlab::studies
