// Figures of networks on rules: who wins, panels for measures, and what networks were while they were trained.
#include <gtest/gtest.h>

#include "report/report_data.h"
#include "report/tables.h"
#include "report/typescript_form.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using experiments::Result;
using nlohmann::ordered_json;
using studies::PlannedRun;
using test::MadeUpStudy;

constexpr auto kRuleStudy = R"(
name: contests
tune: none
snapshot: last
keep: curves
parameters: {task: rules-mlp, task_type: [regression, classification], rules: [2, 8], task_seed: [0..4], seed: 0, iterations: 20}
grids:
  - {series: gt-modular, parameters: {model: gt-modular}}
  - {series: modular, parameters: {model: modular}}
  - {series: monolithic, parameters: {model: monolithic}}
figures:
  - {id: V, title: Votes, kind: votes, x: rules, panel: task_type, series: series, measures: [id_error, id_loss]}
  - {id: M, title: Measures, x: rules, spacing: even, panel: measure, series: series, measures: [collapse_avg, alignment]}
  - {id: C, title: Curves, kind: curves, x: iteration, panel: rules, series: series, where: {task_type: regression},
     measures: [loss, alignment]}
claims:
  - id: V
    figure: V
    text: The oracle wins.
    over: [task_type, rules]
    checks:
      - {votes: [gt-modular, modular, monolithic], measures: [id_error, id_loss]}
      - {compare: [gt-modular, modular], where: {task_type: regression}, measure: id_loss, expect: less}
)";

std::string text_of(const PlannedRun& run, const char* name) { return run.run.values.text(name); }

// Of numbers the oracle wins on the first three tasks and the mixture on the others; of classes all are without error
// with two rules, and the single network wins with eight.
Result rule_result_of(const PlannedRun& run) {
  const std::string model = text_of(run, "model");
  const int task = std::stoi(text_of(run, "task_seed"));
  const bool classes = text_of(run, "task_type") == "classification";
  Result result;
  for (const char* snapshot : {"best", "last"}) {
    experiments::Numbers& numbers = result.snapshots[snapshot];
    numbers = {{"validation_loss", 1}, {"validation_score", 1}, {"parameters", 10}, {"best_iteration", 20}};
    numbers["id_loss"] = model == (task < 3 ? "gt-modular" : "modular") ? 0.1 : 0.2;
    if (classes) {
      numbers["id_error"] = text_of(run, "rules") == "2" ? 0 : model == "monolithic" ? 1 : 2;
    }
    if (model != "monolithic") {
      numbers["collapse_avg"] = model == "modular" ? 0.5 : 0;
      numbers["alignment"] = model == "modular" ? 0.25 : 0;
    }
  }
  const double end = model == "gt-modular" ? 0.1 : 0.3;
  ordered_json curve = {{{"iteration", 0}, {"loss", 1.0}},
                        {{"iteration", 10}, {"loss", 0.5 + 0.1 * task}},
                        {{"iteration", 20}, {"loss", end}, {"alignment", 0.25}}};
  const std::size_t rules = text_of(run, "rules") == "2" ? 2 : 8;
  if (model != "monolithic") {
    const std::vector uniform(rules, std::vector(rules, 1.0 / static_cast<double>(rules)));
    for (ordered_json& point : curve) {
      point["activation"] = uniform;
    }
    result.blobs["activation/last"] = ordered_json(uniform).dump();
  }
  result.blobs["curve"] = curve.dump();
  return result;
}

ordered_json rule_report(const MadeUpStudy::Training& training) {
  MadeUpStudy study(kRuleStudy);
  study.train(training);
  const studies::Findings findings = study.findings();
  return report_data(findings, studies::evaluate_claims(findings), study.store);
}

const ordered_json& figure_named(const ordered_json& report, const std::string& id) {
  for (const ordered_json& figure : report["figures"]) {
    if (figure["id"] == id) {
      return figure;
    }
  }
  ADD_FAILURE() << id;
  return report["figures"][0];
}

// The one value of a figure's rows with this x, panel and series; null where there is none.
ordered_json value_at(const ordered_json& figure, const ordered_json& x, const ordered_json& panel,
                      const std::string& series, const std::string& measure) {
  for (const ordered_json& row : figure["rows"]) {
    if (row["x"] == x && row.value("panel", ordered_json()) == panel && row["series"] == series &&
        row["values"].contains(measure)) {
      return row["values"][measure];
    }
  }
  return nullptr;
}

TEST(RuleFigures, HasTheFormThatThePageExpects) {
  const ordered_json report = ordered_json::parse(rule_report(rule_result_of).dump());
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(report, "Report", "report");
  EXPECT_EQ(report["drawn"], "task seed");
  EXPECT_EQ(report["claims"][0]["checks"][0]["general"]["population"], "over 5 task seeds");
}

TEST(RuleFigures, VotesAreSharesOfContestsAndTiesAreShown) {
  const ordered_json report = rule_report(rule_result_of);
  const ordered_json& figure = figure_named(report, "V");
  EXPECT_EQ(figure["kind"], "votes");
  EXPECT_EQ(figure["series"]["order"], (ordered_json{"gt-modular", "modular", "monolithic", "tie"}));
  const auto share = [&](int rules, const char* panel, const char* series) {
    const ordered_json value = value_at(figure, rules, panel, series, "votes");
    return value.is_null() ? -1 : value["mean"].get<double>();
  };
  EXPECT_DOUBLE_EQ(share(2, "regression", "gt-modular"), 60);
  EXPECT_DOUBLE_EQ(share(2, "regression", "modular"), 40);
  EXPECT_DOUBLE_EQ(share(2, "regression", "monolithic"), 0);
  EXPECT_EQ(share(2, "regression", "tie"), -1) << "there is none";
  EXPECT_DOUBLE_EQ(share(2, "classification", "tie"), 100);
  EXPECT_DOUBLE_EQ(share(8, "classification", "monolithic"), 100);
  const ordered_json value = value_at(figure, 2, "regression", "gt-modular", "votes");
  EXPECT_EQ(value["n"], 5);
  // Three of five: a deviation of 54.8 over the root of five.
  EXPECT_NEAR(value["between"].get<double>(), 24.49, 0.01);
}

TEST(RuleFigures, WhoIsMissingHasNotLost) {
  const ordered_json report = rule_report([](const PlannedRun& run) -> std::optional<Result> {
    return text_of(run, "model") == "monolithic" ? std::nullopt : std::optional(rule_result_of(run));
  });
  EXPECT_TRUE(figure_named(report, "V")["rows"].empty());
}

TEST(RuleFigures, PanelsOfMeasuresHoldNetworksAgainstRandomGates) {
  const ordered_json report = rule_report(rule_result_of);
  const ordered_json& figure = figure_named(report, "M");
  EXPECT_EQ(figure["by_measure"], true);
  EXPECT_TRUE(figure["panel"].is_null());
  EXPECT_EQ(figure["x"]["ordinal"], true) << "2 and 8 stand at equal distances";
  EXPECT_DOUBLE_EQ(value_at(figure, 8, nullptr, "modular", "collapse_avg")["mean"].get<double>(), 0.5);
  EXPECT_TRUE(value_at(figure, 8, nullptr, "monolithic", "collapse_avg").is_null());
  std::map<std::string, std::map<double, double>> lines;
  for (const ordered_json& line : figure["baseline"]) {
    EXPECT_EQ(line["label"], "random gates");
    for (const ordered_json& point : line["points"]) {
      lines[line["measure"]][point["x"].get<double>()] = point["value"].get<double>();
    }
  }
  EXPECT_NEAR(lines["alignment"][2], 0.5, 1e-9);
  EXPECT_NEAR(lines["alignment"][8], 0.875, 1e-9);
  EXPECT_NEAR(lines["collapse_avg"][8], 0, 1e-9);
}

TEST(RuleFigures, CurvesAreMeansOverTaskSeeds) {
  const ordered_json report = rule_report(rule_result_of);
  const ordered_json& figure = figure_named(report, "C");
  EXPECT_EQ(figure["kind"], "curves");
  EXPECT_EQ(figure["x"]["label"], "training steps");
  EXPECT_EQ(figure["x"]["ordinal"], false);
  EXPECT_EQ(figure["rows"].size(), 2U * 3 * 3);
  const ordered_json middle = value_at(figure, 10, "rules 2", "modular", "loss");
  EXPECT_NEAR(middle["mean"].get<double>(), 0.7, 1e-9);
  EXPECT_EQ(middle["n"], 5);
  EXPECT_NEAR(middle["between"].get<double>(), 0.1 * std::sqrt(2.5) / std::sqrt(5), 1e-9);
  EXPECT_NEAR(value_at(figure, 20, "rules 8", "gt-modular", "loss")["mean"].get<double>(), 0.1, 1e-9);
  EXPECT_TRUE(value_at(figure, 10, "rules 2", "modular", "alignment").is_null()) << "not measured there";
}

TEST(RuleFigures, CurvesThatWereNotKeptAreNotThere) {
  const ordered_json report = rule_report([](const PlannedRun& run) {
    Result result = rule_result_of(run);
    result.blobs.erase("curve");
    return std::optional(result);
  });
  EXPECT_TRUE(figure_named(report, "C")["rows"].empty());
}

TEST(RuleFigures, ADamagedCurveIsNamed) {
  EXPECT_THROW(rule_report([](const PlannedRun& run) {
                 Result result = rule_result_of(run);
                 result.blobs["curve"] = "{";
                 return std::optional(result);
               }),
               FormatError);
}

}  // namespace
}  // namespace modlab::report
