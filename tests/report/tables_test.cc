#include "report/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/errors.h"
#include "experiments/training/curve.h"
#include "report/csv_text.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using experiments::Result;
using studies::PlannedRun;
using test::csv_rows;
using test::CsvRow;
using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

constexpr auto kStudy = R"(
tune: [lr]
parameters: {task: depth1, ratio: [0.3, 0.5], lr: [0.1, 0.01], split_seed: [40, 41, 42], seed: [0, 1, 2]}
grids:
  - series: 'modular, "top" k'
    parameters: {model: modular, modules: {values: ["2", "3,2"]}}
  - series: dense
    parameters: {model: dense}
)";

TEST(RunsTable, HasEveryFinishedRunWithSettingsAndMeasures) {
  MadeUpStudy study(kStudy);
  study.train([](const PlannedRun& run) -> std::optional<Result> {
    if (spec_of(run).seed == 2) {
      return std::nullopt;
    }
    Result result = made_up(90, 80, 70.5, 7);
    if (!spec_of(run).is_mlp()) {
      result.snapshots["best"]["edit_distance"] = 3;
    }
    return result;
  });
  const studies::Findings findings = study.findings();
  const std::string text = runs_csv(findings);
  const auto fields = test::csv_fields(text);
  const std::vector<CsvRow> rows = csv_rows(text);
  ASSERT_EQ(fields.size(), 1 + rows.size()) << "every row has as many fields as the header";
  // Two of three seeds of 3 x 2 x 2 x 9 runs.
  ASSERT_EQ(rows.size(), 72U);
  EXPECT_EQ(std::set(fields[0].begin(), fields[0].end()).size(), fields[0].size()) << "every column once";
  std::set<std::string> ids;
  for (const CsvRow& row : rows) {
    ids.insert(row.at("id"));
    EXPECT_EQ(row.at("task"), "depth1");
    EXPECT_EQ(row.at("best_epoch"), "7");
    EXPECT_EQ(row.at("test_accuracy"), "70.5");
    EXPECT_FALSE(row.contains("test_accuracy_1")) << "which no run has";
    if (row.at("model") == "modular") {
      EXPECT_EQ(row.at("series"), "modular, \"top\" k");
      EXPECT_TRUE(row.at("modules") == "2" || row.at("modules") == "3,2");
      EXPECT_EQ(row.at("edit_distance"), "3");
    } else {
      EXPECT_EQ(row.at("series"), "dense");
      EXPECT_EQ(row.at("modules"), "") << "means nothing to it";
      EXPECT_EQ(row.at("edit_distance"), "") << "not a number, and not the word nan";
    }
  }
  EXPECT_EQ(ids.size(), 72U);
  EXPECT_NE(text.find("\"modular, \"\"top\"\" k\""), std::string::npos);
}

TEST(RunsTable, OfAnEmptyStudyIsItsHeader) {
  MadeUpStudy study(kStudy);
  const studies::Findings findings = study.findings();
  EXPECT_EQ(test::csv_fields(runs_csv(findings)).size(), 1U);
  EXPECT_EQ(test::csv_fields(chosen_csv(findings)).size(), 1U);
  EXPECT_EQ(test::csv_fields(means_csv(findings)).size(), 1U);
  EXPECT_EQ(
      claims_csv({}),
      "claim,claim_verdict,claim_verdict_here,check,measure,verdict,expectation,threshold_low,threshold_high,"
      "population,estimate,low,high,level,p,splits,seeds,verdict_here,low_here,high_here,p_here,unit,covered,note\n");
}

TEST(ChosenTable, HasEveryCellAndSplit) {
  MadeUpStudy study(kStudy);
  // On split 40 the two rates are tied, on the others the smaller one is better.
  study.train([](const PlannedRun& run) {
    return made_up(90, spec_of(run).split_seed == 40 ? 80 : spec_of(run).lr == 0.1 ? 70 : 85, 70);
  });
  const studies::Findings findings = study.findings();
  const std::vector<CsvRow> rows = csv_rows(chosen_csv(findings));
  ASSERT_EQ(rows.size(), 3 * 2 * 3U);
  for (const CsvRow& row : rows) {
    EXPECT_EQ(row.at("configurations"), "2");
    if (row.at("split_seed") == "40") {
      EXPECT_EQ(row.at("lr"), "0.1");
      EXPECT_EQ(row.at("validation"), "80");
      EXPECT_EQ(row.at("tied"), "2");
    } else {
      EXPECT_EQ(row.at("lr"), "0.01");
      EXPECT_EQ(row.at("validation"), "85");
      EXPECT_EQ(row.at("tied"), "1");
    }
  }
}

TEST(RunsTable, MarksTheRunsThatWereChosen) {
  MadeUpStudy study(kStudy);
  study.train([](const PlannedRun& run) { return made_up(90, spec_of(run).lr == 0.1 ? 70 : 85, 70); });
  const studies::Findings findings = study.findings();
  const std::vector<CsvRow> rows = csv_rows(runs_csv(findings));
  ASSERT_EQ(rows.size(), 3 * 2 * 2 * 9U);
  for (const CsvRow& row : rows) {
    EXPECT_EQ(row.at("chosen"), row.at("lr") == "0.01" ? "1" : "0");
  }
}

TEST(MeansTable, BothStandardErrorsByHand) {
  MadeUpStudy study("parameters: {task: depth1, model: dense, split_seed: [40, 41, 42], seed: [0, 1, 2]}\n");
  // Split 40: 61, 62, 63; split 41: 62, 64, 66; split 42: 66, 66, 66. Means 62, 64, 66.
  const double numbers[3][3] = {{61, 62, 63}, {62, 64, 66}, {66, 66, 66}};
  study.train(
      [&](const PlannedRun& run) { return made_up(90, 80, numbers[spec_of(run).split_seed - 40][spec_of(run).seed]); });
  const studies::Findings findings = study.findings();
  std::map<std::string, CsvRow> by_measure;
  for (const CsvRow& row : csv_rows(means_csv(findings))) {
    by_measure[row.at("measure")] = row;
  }
  const CsvRow& test = by_measure.at("test_accuracy");
  EXPECT_EQ(test.at("series"), "dense");
  EXPECT_DOUBLE_EQ(std::stod(test.at("mean")), 64);
  // Squared standard errors of the splits: 1/3, 4/3 and 0.
  EXPECT_DOUBLE_EQ(std::stod(test.at("error_within")), std::sqrt(1.0 / 3 + 4.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(std::stod(test.at("error_between")), 2 / std::sqrt(3));
  // Squares around 64: 9 + 4 + 1 + 4 + 0 + 4 + 4 + 4 + 4 = 34.
  EXPECT_DOUBLE_EQ(std::stod(test.at("deviation")), std::sqrt(34.0 / 8));
  EXPECT_EQ(test.at("runs"), "9");
  EXPECT_EQ(by_measure.at("train_accuracy").at("error_within"), "0");
  EXPECT_FALSE(by_measure.contains("edit_distance")) << "nobody has it";
}

TEST(MeansTable, OneSeedHasNoErrorWithin) {
  MadeUpStudy study("parameters: {task: depth1, model: dense, split_seed: [40, 41]}\n");
  study.train([](const PlannedRun& run) { return made_up(90, 80, spec_of(run).split_seed == 40 ? 60 : 70); });
  const studies::Findings findings = study.findings();
  const CsvRow row = csv_rows(means_csv(findings)).front();
  EXPECT_EQ(row.at("mean"), "65");
  EXPECT_EQ(row.at("error_within"), "");
  EXPECT_DOUBLE_EQ(std::stod(row.at("error_between")), std::sqrt(50.0) / std::sqrt(2));
}

TEST(ClaimsTable, HasEveryCheck) {
  MadeUpStudy study(R"(
parameters: {task: depth1, split_seed: [40..48]}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: b, parameters: {model: sparse}}
claims:
  - id: "C,1"
    text: t
    checks:
      - {compare: [a, b], measure: test_accuracy}
      - {compare: [a, b], measure: updates, text: "updates, in \"words\""}
      - {compare: [a, missing], measure: updates}
      - {compare: [a, b], measure: test_accuracy, expect: comparable}
)");
  study.train([&](const PlannedRun& run) {
    return study.series(run) == "a" ? made_up(90, 80, 80, 100) : made_up(90, 80, 70, 10);
  });
  const studies::Findings findings = study.findings();
  const std::vector<CsvRow> rows = csv_rows(claims_csv(studies::evaluate_claims(findings)));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].at("claim"), "C,1");
  EXPECT_EQ(rows[0].at("claim_verdict"), "fails");
  EXPECT_EQ(rows[0].at("verdict"), "holds");
  EXPECT_EQ(rows[0].at("estimate"), "10");
  EXPECT_EQ(rows[0].at("low"), "10");
  EXPECT_EQ(rows[0].at("high"), "10");
  EXPECT_EQ(rows[0].at("level"), "0.9");
  EXPECT_NEAR(std::stod(rows[0].at("p")), 1.0 / 512, 1e-12);
  EXPECT_EQ(rows[0].at("unit"), "points");
  EXPECT_EQ(rows[0].at("measure"), "test_accuracy");
  EXPECT_EQ(rows[0].at("expectation"), "above");
  EXPECT_EQ(rows[0].at("threshold_low"), "0");
  EXPECT_EQ(rows[0].at("threshold_high"), "");
  EXPECT_EQ(rows[0].at("population"), "over 9 splits");
  EXPECT_EQ(rows[0].at("splits"), "9");
  EXPECT_EQ(rows[0].at("seeds"), "9");
  EXPECT_EQ(rows[0].at("low_here"), "") << "one seed on each split";
  EXPECT_EQ(rows[1].at("check"), "updates, in \"words\"");
  EXPECT_NEAR(std::stod(rows[1].at("estimate")), 10, 1e-9) << "a factor, not its logarithm";
  EXPECT_EQ(rows[1].at("unit"), "factor");
  EXPECT_EQ(rows[2].at("verdict"), "no data");
  EXPECT_EQ(rows[2].at("estimate"), "");
  EXPECT_EQ(rows[2].at("p"), "");
  EXPECT_EQ(rows[2].at("seeds"), "0");
  EXPECT_EQ(rows[3].at("verdict"), "fails");
  EXPECT_EQ(rows[3].at("p"), "1");
}

TEST(TimingTable, HasEveryRunOnce) {
  MadeUpStudy study(R"(
parameters: {task: depth1, model: dense, seed: [0, 1]}
grids:
  - {series: a}
  - {series: b}
)");
  study.train([](const PlannedRun& run) {
    Result result = made_up(90, 80, 70);
    result.seconds = 0.25 + static_cast<double>(spec_of(run).seed);
    return result;
  });
  const studies::Findings findings = study.findings();
  const std::vector<CsvRow> rows = csv_rows(timing_csv(findings));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("seconds"), "0.25");
  EXPECT_EQ(rows[1].at("seconds"), "1.25");
  EXPECT_EQ(csv_rows(runs_csv(findings)).size(), 4U) << "each series has its own";
}

TEST(CurvesTable, HasEveryEpochOfTheRunsThatKeptTheirs) {
  MadeUpStudy study("parameters: {task: depth1, model: dense, epochs: 3, seed: [0, 1]}\n");
  // 32 training rows, 16 validation rows and 16 test rows of two outputs.
  std::vector<engine::Scores> scores(3);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    scores[epoch].parts[0] = {0, 16 * (epoch + 1), 0};
    scores[epoch].parts[1] = {0, 16, 0};
    scores[epoch].parts[2] = {0, 8 * epoch, 0};
  }
  const experiments::Run& with = study.plan.runs[0].run;
  const experiments::Run& without = study.plan.runs[1].run;
  Result curved = test::completed(with, made_up(90, 80, 70));
  curved.blobs["curve"] = experiments::encode_curve(scores, engine::kParts);
  study.store.add(std::vector<experiments::FinishedRun>{{&with, curved},
                                                        {&without, test::completed(without, made_up(90, 80, 70))}});
  const studies::Findings findings = study.findings();
  write_curves_csv(findings, study.store, study.folder.file("curves.csv"));
  const std::vector<CsvRow> rows = csv_rows(study.folder.read("curves.csv"));
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(rows[epoch].at("id"), study.plan.runs[0].id());
    EXPECT_EQ(rows[epoch].at("epoch"), std::to_string(epoch + 1));
    EXPECT_EQ(rows[epoch].at("train_accuracy"), std::to_string(25 * (epoch + 1)));
    EXPECT_EQ(rows[epoch].at("validation_accuracy"), "50");
    EXPECT_EQ(rows[epoch].at("test_accuracy"), std::to_string(25 * epoch));
  }
  // A curve that is not the run's is a damaged store.
  study.folder.write("curves.csv", "old");
  io::Database(study.store.path(), io::Database::Mode::kWrite)
      .execute("UPDATE blobs SET data = x'00ff' WHERE name = 'curve'");
  EXPECT_THROW(write_curves_csv(findings, study.store, study.folder.file("curves.csv")), FormatError);
  EXPECT_EQ(study.folder.read("curves.csv"), "old");
}

TEST(TieSensitivity, ByHand) {
  MadeUpStudy study(
      "tune: [lr]\nparameters: {task: depth1, model: dense, ratio: [0.3, 0.5], lr: [0.1, 0.01], split_seed: [40, "
      "41]}\n");
  // At ratio 0.3 all is tied; 0.01 has the lower loss and needs more updates. At 0.5 validation decides.
  study.train([](const PlannedRun& run) {
    const bool second = spec_of(run).lr == 0.01;
    const bool tied = spec_of(run).ratio == 0.3;
    Result result = made_up(90, tied || !second ? 80 : 75, second ? 70 : 60, second ? 20 : 10);
    result.snapshots["best"]["validation_loss"] = second ? 0.1 : 0.2;
    return result;
  });
  const studies::Findings findings = study.findings();
  const std::vector<TieSensitivity> list = tie_sensitivity(findings);
  ASSERT_EQ(list.size(), 2U) << "the other two rules";
  for (const TieSensitivity& other : list) {
    EXPECT_EQ(other.cells, 2);
    EXPECT_EQ(other.changed, 1) << other.rule;
    EXPECT_DOUBLE_EQ(other.mean_change, 5) << other.rule;
    EXPECT_DOUBLE_EQ(other.largest_change, 10) << other.rule;
  }
  EXPECT_EQ(list[0].rule, "updates");
  EXPECT_EQ(list[1].rule, "first");
}

TEST(CellNames, SayWhatTheSeriesDoesNot) {
  MadeUpStudy study(R"(
tune: [lr]
parameters: {task: depth1, ratio: [0.3, 0.5], lr: [0.1, 0.2], seed: [0, 1], epochs: 10}
grids:
  - {series: a, parameters: {model: sparse, density: 0.5}}
  - {series: b, parameters: {model: modular, modules: {values: ["2", "3"]}}}
)");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const studies::Findings findings = study.findings();
  const CellNames names(findings);
  std::vector<std::string> found;
  for (const studies::Cell& cell : findings.cells()) {
    found.push_back(names.name(cell));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"depth1, ratio 0.3", "depth1, ratio 0.5", "depth1, ratio 0.3, modules 2",
                                             "depth1, ratio 0.3, modules 3", "depth1, ratio 0.5, modules 2",
                                             "depth1, ratio 0.5, modules 3"}));
}

}  // namespace
}  // namespace modlab::report
