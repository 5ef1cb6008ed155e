#include "report/report_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/training/curve.h"
#include "io/compress.h"
#include "measures/hand_made.h"
#include "report/figure_data.h"
#include "report/galleries.h"
#include "report/page.h"
#include "report/typescript_form.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using experiments::Result;
using nlohmann::ordered_json;
using studies::PlannedRun;
using test::HandMade;
using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

ordered_json report_of(MadeUpStudy& study) {
  const studies::Findings findings = study.findings();
  return report_data(findings, studies::evaluate_claims(findings), study.store);
}

void expect_form(const ordered_json& report) {
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  ASSERT_GE(form.size(), 12U);
  // As the page reads it: numbers that are none are null.
  ordered_json read = ordered_json::parse(report.dump());
  for (ordered_json& figure : read["figures"]) {
    if (figure["kind"] == "table") {
      // The one kind without axes.
      EXPECT_TRUE(figure["x"].is_null());
      figure["x"] = {{"name", ""}, {"label", ""}, {"ordinal", true}};
    }
  }
  form.expect(read, "Report", "report");
  EXPECT_NE(page(report).find(report["title"].get<std::string>()), std::string::npos);
}

constexpr auto kStudy = R"(
name: small
title: A small study
about: About it.
preset: quick
tune: [lr]
parameters: {task: [depth1, depth2], ratio: [0.3, 0.5], lr: [0.1, 0.01], split_seed: [40, 41], seed: [0, 1]}
grids:
  - {series: dense, parameters: {model: dense}}
  - {series: modular, parameters: {model: modular}}
presets: {quick: {about: all of it}}
gallery: {series: modular, ratio: 0.5}
figures:
  - {id: F1, paper: Figure 1, title: Lines, about: words, x: ratio, panel: task, series: series,
     measures: [test_accuracy, updates, edit_distance]}
  - {id: F2, title: Heat, kind: heatmap, x: lr, y: ratio, panel: series, where: {task: depth1}, tune: [tau],
     measures: [test_accuracy]}
  - {id: F3, title: Bars, kind: bars, x: task, row: ratio, series: series, measures: [edit_distance]}
  - {id: T1, title: Table, kind: flop-table}
claims:
  - id: C1
    figure: F1
    text: Modular networks are better.
    checks:
      - {compare: [modular, dense], measure: test_accuracy}
      - {compare: [modular, dense], measure: updates, expect: less}
  - id: C2
    figure: F1
    text: Nothing is known.
    checks:
      - {compare: [modular, elsewhere], measure: test_accuracy}
)";

// Modular: 80 and 82 on split 40, 84 and 86 on split 41, 10 epochs; dense 10 points less, 100 epochs. The rate 0.01 is
// worse for everyone.
Result small_result(const PlannedRun& run) {
  const bool modular = !spec_of(run).is_mlp();
  const double split = spec_of(run).split_seed - 40;
  const double test = 80 + 4 * split + 2 * static_cast<double>(spec_of(run).seed) - (modular ? 0 : 10);
  const bool chosen = spec_of(run).lr == 0.1;
  Result result = made_up(95, chosen ? 90 : 60, chosen ? test : 20, modular ? 10 : 100);
  result.seconds = 0.5;
  if (modular) {
    result.snapshots["best"]["edit_distance"] = static_cast<double>(spec_of(run).seed);
  }
  return result;
}

const ordered_json& row_of(const ordered_json& figure, const std::map<std::string, ordered_json>& wanted) {
  for (const ordered_json& row : figure["rows"]) {
    if (std::ranges::all_of(wanted, [&](const auto& entry) { return row[entry.first] == entry.second; })) {
      return row;
    }
  }
  ADD_FAILURE() << "no such row";
  return figure["rows"][0];
}

TEST(ReportData, HasTheFormThatThePageExpects) {
  MadeUpStudy study(kStudy, "quick");
  study.train(small_result);
  const ordered_json report = report_of(study);
  expect_form(report);
  EXPECT_EQ(report["study"], "small");
  EXPECT_EQ(report["title"], "A small study");
  EXPECT_EQ(report["about"], "About it.");
  EXPECT_EQ(report["preset"], "quick");
  EXPECT_EQ(report["preset_about"], "all of it");
}

TEST(ReportData, Overview) {
  MadeUpStudy study(kStudy, "quick");
  study.train([](const PlannedRun& run) {
    Result result = small_result(run);
    result.diverged = spec_of(run).is_mlp() && spec_of(run).lr == 0.01;
    return result;
  });
  const ordered_json overview = report_of(study)["overview"];
  EXPECT_EQ(overview["planned"], 64);
  EXPECT_EQ(overview["done"], 64);
  EXPECT_EQ(overview["diverged"], 16);
  EXPECT_DOUBLE_EQ(overview["core_seconds"].get<double>(), 32);
  EXPECT_EQ(overview["machine"], "a machine");
  EXPECT_TRUE(overview["missing"].empty());
  ASSERT_EQ(overview["series"].size(), 2U);
  EXPECT_EQ(overview["series"][1]["name"], "modular");
  EXPECT_EQ(overview["series"][1]["runs"], 32);
  EXPECT_EQ(overview["series"][1]["settings"], 2) << "two rates were tuned over";
}

TEST(ReportData, Tasks) {
  MadeUpStudy study(kStudy, "quick");
  const ordered_json tasks = report_of(study)["tasks"];
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0]["name"], "depth1");
  EXPECT_EQ(tasks[0]["base_rate"], 50);
  EXPECT_EQ(tasks[1]["base_rate"], 75);
  EXPECT_EQ(tasks[1]["gates"].size(), 5U);
  EXPECT_EQ(tasks[1]["gates"][3], "b0 = AND(a0, a1)");
}

TEST(ReportData, Claims) {
  MadeUpStudy study(kStudy, "quick");
  study.train(small_result);
  const ordered_json claims = report_of(study)["claims"];
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(claims[0]["id"], "C1");
  EXPECT_EQ(claims[0]["figure"], "F1");
  EXPECT_EQ(claims[0]["verdict"], "undecided") << "two splits";
  const ordered_json& accuracy = claims[0]["checks"][0];
  EXPECT_EQ(accuracy["verdict"], "undecided");
  EXPECT_DOUBLE_EQ(accuracy["general"]["estimate"].get<double>(), 10);
  EXPECT_EQ(accuracy["unit"], "points");
  EXPECT_EQ(accuracy["splits"], 2);
  EXPECT_EQ(accuracy["seeds"], 4);
  EXPECT_EQ(accuracy["expectation"], "above");
  EXPECT_EQ(accuracy["expected_low"], 0.0);
  EXPECT_TRUE(accuracy["expected_high"].is_null());
  EXPECT_EQ(accuracy["general"]["too_few"], "2 splits");
  EXPECT_EQ(accuracy["general"]["population"], "over 2 splits");
  EXPECT_EQ(accuracy["here"]["population"], "on these 2 splits");
  const ordered_json& updates = claims[0]["checks"][1];
  EXPECT_NEAR(updates["general"]["estimate"].get<double>(), 0.1, 1e-9) << "a factor";
  EXPECT_EQ(updates["unit"], "×");
  EXPECT_EQ(claims[1]["verdict"], "no data");
  EXPECT_TRUE(claims[1]["checks"][0]["general"].is_null());
}

TEST(ReportData, Chosen) {
  MadeUpStudy study(kStudy, "quick");
  study.train(small_result);
  const ordered_json chosen = report_of(study)["chosen"];
  ASSERT_EQ(chosen.size(), 2 * 2 * 2 * 2U);
  for (const ordered_json& row : chosen) {
    EXPECT_EQ(row["settings"], "lr 0.1");
    EXPECT_EQ(row["validation"], 90);
    EXPECT_EQ(row["tied"], 1);
  }
  EXPECT_EQ(chosen[0]["series"], "dense");
  EXPECT_EQ(chosen[0]["cell"], "depth1, ratio 0.3");
  EXPECT_EQ(chosen[0]["split"], 40);
}

TEST(FigureData, LinesHaveAPointForEachCell) {
  MadeUpStudy study(kStudy, "quick");
  study.train(small_result);
  const ordered_json figure = report_of(study)["figures"][0];
  EXPECT_EQ(figure["kind"], "lines");
  EXPECT_EQ(figure["x"]["name"], "ratio");
  EXPECT_EQ(figure["x"]["label"], "training ratio");
  EXPECT_EQ(figure["x"]["ordinal"], false);
  EXPECT_EQ(figure["x"]["order"], ordered_json({0.3, 0.5}));
  EXPECT_TRUE(figure["y"].is_null());
  EXPECT_EQ(figure["panel"]["order"], ordered_json({"depth1", "depth2"}));
  EXPECT_EQ(figure["series"]["order"], ordered_json({"dense", "modular"}));
  ASSERT_EQ(figure["rows"].size(), 8U);
  const ordered_json& row = row_of(figure, {{"x", 0.5}, {"panel", "depth2"}, {"series", "modular"}});
  const ordered_json& accuracy = row["values"]["test_accuracy"];
  EXPECT_DOUBLE_EQ(accuracy["mean"].get<double>(), 83);
  // Splits 80, 82 and 84, 86: squared standard errors 1 and 1; means 81 and 85.
  EXPECT_DOUBLE_EQ(accuracy["within"].get<double>(), std::sqrt(2.0) / 2);
  EXPECT_DOUBLE_EQ(accuracy["between"].get<double>(), 2);
  EXPECT_EQ(accuracy["n"], 4);
  EXPECT_EQ(accuracy["runs"], ordered_json({80.0, 82.0, 84.0, 86.0}));
  EXPECT_EQ(row["values"]["updates"]["mean"], 10);
  EXPECT_EQ(row["values"]["edit_distance"]["mean"], 0.5);
  EXPECT_EQ(row["chosen"], ordered_json::parse(R"([{"split": 40, "settings": "lr 0.1"},
                                                   {"split": 41, "settings": "lr 0.1"}])"));
  const ordered_json& dense = row_of(figure, {{"x", 0.3}, {"panel", "depth1"}, {"series", "dense"}});
  EXPECT_DOUBLE_EQ(dense["values"]["test_accuracy"]["mean"].get<double>(), 73);
  EXPECT_FALSE(dense["values"].contains("edit_distance"));
  // What guessing reaches on the test rows at hand, in each panel.
  ASSERT_EQ(figure["baseline"].size(), 2U);
  EXPECT_EQ(figure["baseline"][0]["measure"], "test_accuracy");
  EXPECT_EQ(figure["baseline"][0]["panel"], "depth1");
  EXPECT_TRUE(figure["baseline"][0]["row"].is_null());
  // Of 46 and 32 test bits, on the mean of two splits; at depth 2 a quarter of all bits are ones, and of these.
  const ordered_json& shallow = figure["baseline"][0]["points"];
  ASSERT_EQ(shallow.size(), 2U);
  EXPECT_EQ(shallow[0]["x"], 0.3);
  EXPECT_NEAR(shallow[0]["value"].get<double>(), 100 * 27.5 / 46, 1e-9);
  EXPECT_NEAR(shallow[1]["value"].get<double>(), 100 * 18.0 / 32, 1e-9);
  EXPECT_EQ(figure["baseline"][1]["panel"], "depth2");
  EXPECT_EQ(figure["baseline"][1]["points"],
            ordered_json::parse(R"([{"x": 0.3, "value": 75.0}, {"x": 0.5, "value": 75.0}])"));
  ASSERT_EQ(figure["measures"].size(), 3U);
  EXPECT_EQ(figure["measures"][0]["domain"], ordered_json({0, 100}));
  EXPECT_EQ(figure["measures"][1]["log"], true);
  EXPECT_EQ(figure["measures"][2]["higher_is_better"], false);
}

TEST(FigureData, HeatMapsAndBars) {
  MadeUpStudy study(kStudy, "quick");
  study.train(small_result);
  const ordered_json figures = report_of(study)["figures"];
  const ordered_json& heat = figures[1];
  EXPECT_EQ(heat["kind"], "heatmap");
  EXPECT_EQ(heat["x"]["ordinal"], true);
  EXPECT_EQ(heat["x"]["order"], ordered_json({0.01, 0.1})) << "by size, not as the grid has them";
  ASSERT_EQ(heat["rows"].size(), 8U) << "rates are not tuned here: they are the axis";
  const ordered_json& cell = row_of(heat, {{"x", 0.01}, {"y", 0.3}, {"panel", "modular"}});
  EXPECT_EQ(cell["values"]["test_accuracy"]["mean"], 20);
  EXPECT_TRUE(heat["baseline"].empty()) << "nowhere to draw a line";
  const ordered_json& bars = figures[2];
  EXPECT_EQ(bars["kind"], "bars");
  EXPECT_EQ(bars["row"]["order"], ordered_json({"training ratio 0.3", "training ratio 0.5"}));
  EXPECT_EQ(bars["rows"][0]["row"], "training ratio 0.3") << "what stands above a panel of numbers";
  const ordered_json& table = figures[3];
  EXPECT_EQ(table["kind"], "table");
  EXPECT_EQ(table["table"]["rows"].size(), 20U) << "five architectures on four tasks";
  EXPECT_EQ(table["table"]["columns"].size(), table["table"]["rows"][0].size());
}

TEST(ReportData, OfAHalfFinishedStudySaysWhatIsMissing) {
  MadeUpStudy study(kStudy, "quick");
  // Nothing modular on depth 2, and one seed of two elsewhere.
  study.train([](const PlannedRun& run) {
    const bool there = spec_of(run).seed == 0 && (spec_of(run).is_mlp() || spec_of(run).task == "depth1");
    return there ? std::optional(small_result(run)) : std::nullopt;
  });
  const ordered_json report = report_of(study);
  expect_form(report);
  const ordered_json& overview = report["overview"];
  EXPECT_EQ(overview["planned"], 64);
  EXPECT_EQ(overview["done"], 24);
  EXPECT_EQ(overview["missing"], ordered_json::parse(R"([{"series": "dense", "planned": 32, "done": 16},
                                                         {"series": "modular", "planned": 32, "done": 8}])"));
  EXPECT_EQ(report["figures"][0]["rows"].size(), 6U);
  const ordered_json& row = report["figures"][0]["rows"][0];
  EXPECT_TRUE(row["values"]["test_accuracy"]["within"].is_null()) << "one seed has no spread";
  EXPECT_EQ(report["gallery"].size(), 2U) << "depth 1, best and worst of two splits";
}

TEST(ReportData, OfAnEmptyStudyIsAReportToo) {
  MadeUpStudy study(kStudy, "quick");
  const ordered_json report = report_of(study);
  expect_form(report);
  EXPECT_EQ(report["overview"]["done"], 0);
  EXPECT_EQ(report["overview"]["missing"].size(), 2U);
  ASSERT_EQ(report["figures"].size(), 4U);
  EXPECT_TRUE(report["figures"][0]["rows"].empty());
  EXPECT_EQ(report["figures"][3]["table"]["rows"].size(), 20U);
  EXPECT_EQ(report["claims"][0]["verdict"], "no data");
  EXPECT_TRUE(report["gallery"].empty());
  EXPECT_TRUE(report["chosen"].empty());
}

// Networks in the gallery.

using Edges = std::set<std::string>;

Edges edges(const ordered_json& graph, const std::string& state) {
  Edges found;
  for (const ordered_json& edge : graph["edges"]) {
    if (edge["state"] == state) {
      found.insert(edge["from"].get<std::string>() + " " + edge["to"].get<std::string>());
    }
  }
  return found;
}

ordered_json node(const ordered_json& graph, const std::string& id) {
  for (const ordered_json& each : graph["nodes"]) {
    if (each["id"] == id) {
      return each;
    }
  }
  ADD_FAILURE() << "no node " << id;
  return {};
}

// Makes a slot read exactly these, and the outputs too.
void select(HandMade& network, std::size_t level, int slot, const std::vector<int>& candidates) {
  const models::ModularShape& shape = network.shape();
  const models::ModularLayout places = models::modular_layout(shape);
  const int below = level == 0 ? shape.inputs : shape.levels[level - 1];
  const int slots = shape.levels[level];
  for (int candidate = 0; candidate < below; ++candidate) {
    const bool is_read = std::ranges::find(candidates, candidate) != candidates.end();
    network.parameters[places.inputs[level] + static_cast<std::size_t>(candidate * slots + slot)] = is_read ? 1 : 0;
  }
}
void select_outputs(HandMade& network, const std::vector<int>& order) {
  const std::size_t first = models::modular_layout(network.shape()).outputs;
  for (int candidate = 0; candidate < network.shape().output_candidates(); ++candidate) {
    network.parameters[first + static_cast<std::size_t>(candidate)] = -1;
  }
  for (std::size_t output = 0; output < order.size(); ++output) {
    network.parameters[first + static_cast<std::size_t>(order[output])] = 2 - static_cast<float>(output);
  }
}
void select_member(HandMade& network, std::size_t level, int slot, int member) {
  const std::size_t first = models::modular_layout(network.shape()).members[level];
  for (int each = 0; each < network.shape().pool; ++each) {
    network.parameters[first + static_cast<std::size_t>(each * network.shape().levels[level] + slot)] =
        each == member ? 1 : 0;
  }
}

// A study of one network whose best weights are these.
ordered_json gallery_of(const std::string& parameters, const HandMade& network) {
  MadeUpStudy study("parameters: {epochs: 2, " + parameters + "}\n");
  EXPECT_EQ(study.plan.runs.size(), 1U);
  EXPECT_EQ(spec_of(study.plan.runs[0]).task, network.suite.name);
  Result result = made_up(90.5, 80, 70, 2);
  result.snapshots["best"]["edit_distance"] = 2;
  const experiments::Run& run = study.plan.runs[0].run;
  result = test::completed(run, result);
  result.blobs["weights/best"] =
      io::compress({reinterpret_cast<const char*>(network.parameters.data()), network.parameters.size() * 4});
  std::vector<engine::Scores> curve(2);
  curve[0].parts[0].right_bits = 32;
  curve[1].parts[0].right_bits = 64;
  curve[1].parts[2].right_bits = 1;
  result.blobs["curve"] = experiments::encode_curve(curve, engine::kParts);
  study.store.add(std::vector<experiments::FinishedRun>{{&run, result}});
  const ordered_json report = report_of(study);
  expect_form(report);
  return report["gallery"];
}

HandMade small_modular(const std::string& modules) {
  HandMade network = test::hand_made("depth2", {{"model", "modular"}, {"modules", modules.c_str()}});
  // Level 1 in another order, with one wrong input in the third slot: x0 in place of x5.
  select(network, 0, 0, {2, 3});
  select(network, 0, 1, {0, 1});
  select(network, 0, 2, {4, 0});
  select(network, 1, 0, {0, 1});
  select(network, 1, 1, {0, 2});
  select_outputs(network, {0, 1});
  return network;
}

TEST(Gallery, DrawsRightWrongAndMissingEdges) {
  HandMade network = small_modular("3,2");
  for (const int module : {0, 1, 2}) {
    network.set_xor(module);
  }
  network.set_and(3);
  network.set_and(4);
  const ordered_json gallery = gallery_of("task: depth2, model: modular", network);
  ASSERT_EQ(gallery.size(), 1U);
  const ordered_json& graph = gallery[0]["graph"];
  EXPECT_EQ(edges(graph, "right"), (Edges{"x2 m1.0", "x3 m1.0", "x0 m1.1", "x1 m1.1", "x4 m1.2", "m1.0 m2.0",
                                          "m1.1 m2.0", "m1.0 m2.1", "m1.2 m2.1", "m2.0 y0", "m2.1 y1"}));
  EXPECT_EQ(edges(graph, "wrong"), Edges{"x0 m1.2"});
  EXPECT_EQ(edges(graph, "missing"), Edges{"x5 m1.2"});
  EXPECT_EQ(graph["nodes"].size(), 6 + 5 + 2U);
  EXPECT_EQ(node(graph, "m1.0")["gate"], "XOR(x2, x3)");
  EXPECT_NEAR(node(graph, "m1.0")["correlation"].get<double>(), 1, 1e-9);
  EXPECT_EQ(node(graph, "m1.1")["gate"], "XOR(x0, x1)");
  EXPECT_EQ(node(graph, "m1.2")["gate"], "XOR(x4, x5)");
  EXPECT_NEAR(node(graph, "m1.2")["correlation"].get<double>(), 0, 1e-9) << "XOR(x4,x0) says nothing about it";
  EXPECT_EQ(node(graph, "m2.0")["gate"], "AND(a0, a1)");
  EXPECT_NEAR(node(graph, "m2.0")["correlation"].get<double>(), 1, 1e-9);
  // Both are 1 on a quarter of the rows, together on an eighth: (1/8 - 1/16) / (3/16).
  EXPECT_EQ(node(graph, "m2.1")["gate"], "AND(a1, a2)");
  EXPECT_NEAR(node(graph, "m2.1")["correlation"].get<double>(), 1.0 / 3, 1e-9);
  for (const char* id : {"x0", "m1.0", "y1"}) {
    EXPECT_EQ(node(graph, id)["surplus"], false);
    EXPECT_TRUE(node(graph, id)["pool"].is_null()) << "modules of their own";
  }
  EXPECT_EQ(node(graph, "x5")["kind"], "input");
  EXPECT_EQ(node(graph, "y1")["kind"], "output");
  EXPECT_EQ(node(graph, "y1")["level"], 3);
}

TEST(Gallery, DescribesTheNetwork) {
  HandMade network = small_modular("3,2");
  const ordered_json gallery =
      gallery_of("task: depth2, model: modular, ratio: 0.5, lr: 0.01, split_seed: 41", network);
  ASSERT_EQ(gallery.size(), 1U);
  const ordered_json& shown = gallery[0];
  EXPECT_EQ(shown["cell"], "modular, depth2");
  EXPECT_EQ(shown["rank"], "best");
  EXPECT_EQ(shown["series"], "modular");
  EXPECT_EQ(shown["task"], "depth2");
  EXPECT_EQ(shown["settings"], "lr 0.01, split 41, seed 0");
  EXPECT_EQ(shown["accuracy"]["train"], 90.5);
  EXPECT_EQ(shown["accuracy"]["validation"], 80);
  EXPECT_EQ(shown["accuracy"]["test"], 70);
  EXPECT_EQ(shown["best_epoch"], 2);
  EXPECT_EQ(shown["edit_distance"], 2);
  // 64 training bits, 32 test bits.
  EXPECT_EQ(shown["curve"]["epochs"], ordered_json({1, 2}));
  EXPECT_EQ(shown["curve"]["train"], ordered_json({50.0, 100.0}));
  EXPECT_EQ(shown["curve"]["test"], ordered_json({0.0, 3.1}));
}

TEST(Gallery, SurplusModulesAreWrongAllOver) {
  HandMade network = small_modular("4,2");
  select(network, 0, 2, {4, 5});
  select(network, 0, 3, {1, 2});
  for (const int module : {0, 1, 2}) {
    network.set_xor(module);
  }
  network.set_constant(3, 0.5F);
  const ordered_json graph = gallery_of("task: depth2, model: modular, modules: '4,2'", network)[0]["graph"];
  EXPECT_EQ(edges(graph, "wrong"), (Edges{"x1 m1.3", "x2 m1.3"}));
  EXPECT_EQ(edges(graph, "missing"), Edges{});
  EXPECT_EQ(node(graph, "m1.3")["surplus"], true);
  EXPECT_TRUE(node(graph, "m1.3")["gate"].is_null());
  EXPECT_TRUE(node(graph, "m1.3")["correlation"].is_null());
}

TEST(Gallery, WhatModulesReadBeyondTheirGatesIsFree) {
  HandMade network = test::hand_made("depth2", {{"model", "modular"}, {"fan_in", "3"}, {"modules", "3,2"}});
  select(network, 0, 0, {0, 1, 5});
  select(network, 0, 1, {2, 3, 0});
  select(network, 0, 2, {4, 2, 1});
  select(network, 1, 0, {0, 1, 2});
  select(network, 1, 1, {0, 1, 2});
  select_outputs(network, {0, 1});
  const ordered_json graph = gallery_of("task: depth2, model: modular, fan_in: 3", network)[0]["graph"];
  EXPECT_EQ(edges(graph, "free"), (Edges{"x5 m1.0", "x0 m1.1", "x1 m1.2", "m1.2 m2.0", "m1.0 m2.1"}));
  EXPECT_EQ(edges(graph, "wrong"), Edges{"x2 m1.2"});
  EXPECT_EQ(edges(graph, "missing"), Edges{"x5 m1.2"});
}

TEST(Gallery, ModulesOfAPoolHaveItsColours) {
  HandMade network = test::hand_made("depth2", {{"model", "modular-shared"}});
  select(network, 0, 0, {0, 1});
  select(network, 0, 1, {2, 3});
  select(network, 0, 2, {4, 5});
  select(network, 1, 0, {0, 1});
  select(network, 1, 1, {1, 2});
  select_outputs(network, {0, 1});
  for (const int slot : {0, 1, 2}) {
    select_member(network, 0, slot, 1);
  }
  select_member(network, 1, 0, 0);
  select_member(network, 1, 1, 1);
  network.set_xor(1);
  network.set_and(0);
  const ordered_json graph = gallery_of("task: depth2, model: modular-shared", network)[0]["graph"];
  EXPECT_EQ(edges(graph, "wrong"), Edges{});
  EXPECT_EQ(edges(graph, "missing"), Edges{});
  for (const char* id : {"m1.0", "m1.1", "m1.2", "m2.1"}) {
    EXPECT_EQ(node(graph, id)["pool"], 1) << id;
  }
  EXPECT_EQ(node(graph, "m2.0")["pool"], 0);
  EXPECT_TRUE(node(graph, "x0")["pool"].is_null());
}

TEST(Gallery, NetworksDeeperAndShallowerThanTheTruth) {
  HandMade deeper = test::hand_made("depth1", {{"model", "modular"}, {"modules", "2,2"}});
  select(deeper, 0, 0, {0, 1});
  select(deeper, 0, 1, {2, 3});
  select(deeper, 1, 0, {0, 1});
  select(deeper, 1, 1, {0, 1});
  select_outputs(deeper, {0, 1});
  const ordered_json deep = gallery_of("task: depth1, model: modular, modules: '2,2'", deeper)[0]["graph"];
  EXPECT_TRUE(edges(deep, "right").contains("x0 m1.0")) << deep.dump();
  EXPECT_EQ(node(deep, "m2.0")["surplus"], true);
  EXPECT_TRUE(edges(deep, "wrong").contains("m2.0 y0"));

  HandMade shallower = test::hand_made("depth2", {{"model", "modular"}, {"modules", "3"}});
  select(shallower, 0, 0, {0, 1});
  select(shallower, 0, 1, {2, 3});
  select(shallower, 0, 2, {4, 5});
  select_outputs(shallower, {0, 1});
  const ordered_json shallow = gallery_of("task: depth2, model: modular, modules: '3'", shallower)[0]["graph"];
  EXPECT_EQ(edges(shallow, "right").size(), 6U) << shallow.dump();
  EXPECT_EQ(edges(shallow, "wrong"), (Edges{"m1.0 y0", "m1.1 y1"}));
}

TEST(Gallery, WithoutATruthNothingIsWrong) {
  HandMade network = test::hand_made("random62", {{"model", "modular"}, {"modules", "3,2"}});
  const ordered_json graph = gallery_of("task: random62, model: modular, modules: '3,2'", network)[0]["graph"];
  EXPECT_EQ(edges(graph, "right").size(), 2 * 3 + 2 * 2 + 2U);
  EXPECT_TRUE(edges(graph, "wrong").empty());
  EXPECT_TRUE(edges(graph, "missing").empty());
  EXPECT_TRUE(node(graph, "m1.0")["gate"].is_null());
}

TEST(Gallery, WithoutWeightsAndCurvesTheRestIsShown) {
  MadeUpStudy study("parameters: {task: depth2, model: [modular, dense], seed: [0, 1, 2, 3, 4]}\n");
  // Test accuracies 10, 50, 30, 20, 40.
  const double accuracies[] = {10, 50, 30, 20, 40};
  study.train([&](const PlannedRun& run) { return made_up(90, 80, accuracies[spec_of(run).seed]); });
  const ordered_json report = report_of(study);
  expect_form(report);
  ASSERT_EQ(report["gallery"].size(), 3U) << "networks with modules";
  const std::pair<const char*, int> expected[] = {{"best", 50}, {"median", 30}, {"worst", 10}};
  for (std::size_t at = 0; at < 3; ++at) {
    const ordered_json& network = report["gallery"][at];
    EXPECT_EQ(network["rank"], expected[at].first);
    EXPECT_EQ(network["accuracy"]["test"], expected[at].second);
    EXPECT_TRUE(network["graph"].is_null());
    EXPECT_TRUE(network["curve"]["epochs"].empty());
    EXPECT_TRUE(network["edit_distance"].is_null());
  }
}

TEST(Gallery, IsNotLongerThanAnybodyLooksAt) {
  MadeUpStudy study(
      "parameters: {task: depth1, model: modular, noise: [0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07], "
      "ratio: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}\n");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const ordered_json gallery = report_of(study)["gallery"];
  EXPECT_EQ(gallery.size(), 24U) << "every second of 48 cells";
}

}  // namespace
}  // namespace modlab::report
