// The report of a study of networks on rules.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "measures/module_use.h"
#include "report/gallery_rules.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/stored_rule_curve.h"
#include "report/typescript_form.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using test::MadeUpStudy;

constexpr auto kShort = "task: rules-mlp, iterations: 20, evaluate_every: 5, batch_size: 8, test_samples: 256";

std::string rule_study(const std::string& parameters, const std::string& more = "keep: curves\n") {
  return fmt::format("name: mixed\ntitle: Mixed\ntune: none\n{}parameters: {{{}, {}}}\n", more, kShort, parameters);
}

void train_all(MadeUpStudy& study) {
  studies::Batch batch(studies::missing_runs(study.plan, {}), {1, &engine::kernels()},
                       studies::wanted_for(study.plan.keep));
  batch.execute([&](auto&& finished) { study.store.add(finished); });
}

ordered_json mixtures_of(MadeUpStudy& study) { return gallery_rules(study.findings(), study.store); }

void set_blob(MadeUpStudy& study, const std::string& id, const std::string& name, const std::string& data) {
  io::Database database(study.store.path(), io::Database::Mode::kWrite);
  database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)").bind(1, id).bind(2, name).bind_blob(3, data).run();
}

void change_store(MadeUpStudy& study, const std::string& sql) {
  io::Database(study.store.path(), io::Database::Mode::kWrite).execute(sql);
}

ordered_json curve_of(MadeUpStudy& study, const std::string& id) {
  return ordered_json::parse(study.store.blob(id, "curve").value());
}

std::vector<std::string> texts(const ordered_json& list, const char* name) {
  std::vector<std::string> found;
  for (const ordered_json& item : list) {
    found.push_back(item[name]);
  }
  return found;
}

TEST(RuleReport, HasTheFormThatThePageExpects) {
  MadeUpStudy study(rule_study(
      "model: [monolithic, modular, modular-op, gt-modular], rules: [2, 4], task_seed: [0, 1], seed: [0, 1, 2]"));
  train_all(study);
  const studies::Findings findings = study.findings();
  const ordered_json report = report_data(findings, studies::evaluate_claims(findings), study.store);
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(ordered_json::parse(report.dump()), "Report", "report");
  EXPECT_NE(page(report).find("Mixed"), std::string::npos);
  EXPECT_TRUE(report["gallery"].empty());
  EXPECT_TRUE(report["sculpted"].is_null());

  const ordered_json& cells = report["mixtures"];
  EXPECT_EQ(texts(cells, "cell"),
            (std::vector<std::string>{"rules-mlp, 2 rules, task seed 0", "rules-mlp, 2 rules, task seed 1",
                                      "rules-mlp, 4 rules, task seed 0", "rules-mlp, 4 rules, task seed 1"}));
  for (const ordered_json& cell : cells) {
    const ordered_json& networks = cell["networks"];
    EXPECT_EQ(texts(networks, "gates"), (std::vector<std::string>{"oracle", "learned", "learned", "uniform", "none"}));
    EXPECT_EQ(networks[1]["modules"], cell["rules"]);
    EXPECT_EQ(networks[1]["runs"], 3);
    EXPECT_EQ(networks[1]["iterations"], ordered_json({0, 5, 10, 15, 20}));
    EXPECT_EQ(networks[3]["iterations"].size(), 1U);
    EXPECT_TRUE(networks[3]["id"].is_null());
    EXPECT_TRUE(networks[4]["activation"].empty());
    EXPECT_TRUE(networks[4]["use"].is_null());
  }
}

TEST(RuleReport, OtherStudiesHaveNone) {
  MadeUpStudy study("parameters: {task: depth1, model: modular}\n");
  study.train([](const studies::PlannedRun&) { return test::made_up(90, 90, 90); });
  const studies::Findings findings = study.findings();
  EXPECT_TRUE(report_data(findings, studies::evaluate_claims(findings), study.store)["mixtures"].is_null());
}

TEST(RuleReport, MatricesAndMeasuresAreTheStoredOnes) {
  MadeUpStudy study(rule_study("model: modular, rules: 4, task_seed: 1, seed: 0"));
  train_all(study);
  const ordered_json network = mixtures_of(study)[0]["networks"][0];
  const ordered_json curve = curve_of(study, network["id"]);
  ASSERT_EQ(network["activation"].size(), curve.size());
  for (std::size_t at = 0; at < curve.size(); ++at) {
    EXPECT_EQ(network["iterations"][at], curve[at]["iteration"]);
    EXPECT_NEAR(network["loss"][at].get<double>(), curve[at]["loss"].get<double>(), 1e-3);
    for (const char* name : kRuleMeasures) {
      EXPECT_NEAR(network["use"][name][at].get<double>(), curve[at][name].get<double>(), 0.00051) << name;
    }
    for (std::size_t place = 0; place < 16; ++place) {
      EXPECT_NEAR(network["activation"][at][place].get<double>(),
                  1000 * curve[at]["activation"][place / 4][place % 4].get<double>(), 0.51);
    }
  }
}

TEST(RuleReport, SpecialisedModulesLieOnTheDiagonal) {
  MadeUpStudy study(rule_study("model: modular-op, rules: 4, task_seed: 0, seed: 0"));
  train_all(study);
  const std::string id = study.plan.runs[0].id();
  ordered_json curve = curve_of(study, id);
  const std::vector<int> serves = {2, 0, 3, 1};  // the module of each rule
  for (std::size_t rule = 0; rule < 4; ++rule) {
    for (int module = 0; module < 4; ++module) {
      curve.back()["activation"][rule][static_cast<std::size_t>(module)] = module == serves[rule] ? 0.7 : 0.1;
    }
  }
  set_blob(study, id, "curve", curve.dump());
  EXPECT_EQ(mixtures_of(study)[0]["networks"][0]["order"], serves);
  // A rule that no sample followed says nothing.
  curve.back()["activation"][1] = {0, 0, 0, 0};
  set_blob(study, id, "curve", curve.dump());
  EXPECT_EQ(mixtures_of(study)[0]["networks"][0]["order"], ordered_json({0, 1, 2, 3}));
}

TEST(RuleReport, TheMedianByLossIsShown) {
  MadeUpStudy study(rule_study("model: gt-modular, rules: 2, task_seed: 0, seed: [0, 1, 2, 3, 4]"));
  train_all(study);
  const char* losses[] = {"0.5", "0.1", "NULL", "0.3", "0.2"};
  for (std::size_t seed = 0; seed < 5; ++seed) {
    change_store(study, fmt::format("UPDATE results SET id_loss = {} WHERE run = '{}'", losses[seed],
                                    study.plan.runs[seed].id()));
  }
  const ordered_json network = mixtures_of(study)[0]["networks"][0];
  EXPECT_EQ(network["seed"], 3) << "the one that diverged counts as the worst";
  EXPECT_EQ(network["id"], study.plan.runs[3].id());
  EXPECT_EQ(network["runs"], 5);
}

TEST(RuleReport, ALongTrainingIsThinnedFromItsFirstMomentToItsLast) {
  MadeUpStudy study(rule_study("model: modular, rules: 3, task_seed: 0, seed: 0") +
                        "presets: {long: {parameters: {iterations: 500, evaluate_every: 1}}}\n",
                    "long");
  const std::string id = study.plan.runs.at(0).id();
  train_all(study);
  ASSERT_EQ(curve_of(study, id).size(), 501U);
  const ordered_json network = mixtures_of(study)[0]["networks"][0];
  const std::vector<int> shown = network["iterations"];
  ASSERT_EQ(shown.size(), 60U);
  EXPECT_EQ(shown.front(), 0);
  EXPECT_EQ(shown.back(), 500);
  for (std::size_t at = 1; at < shown.size(); ++at) {
    EXPECT_NEAR(shown[at] - shown[at - 1], 500.0 / 59, 1);
  }
  EXPECT_EQ(network["activation"].size(), 60U);
  EXPECT_EQ(network["loss"].size(), 60U);
  EXPECT_EQ(network["use"]["imi"].size(), 60U);
}

TEST(RuleReport, WithoutACurveThereIsTheEnd) {
  MadeUpStudy study(rule_study("model: [modular, monolithic], rules: 3, task_seed: 0, seed: 0", "keep: results\n"));
  train_all(study);
  const ordered_json networks = mixtures_of(study)[0]["networks"];
  EXPECT_EQ(networks[0]["iterations"], ordered_json({20}));
  const std::string id = networks[0]["id"];
  const ordered_json last = ordered_json::parse(study.store.blob(id, "activation/last").value());
  EXPECT_NEAR(networks[0]["activation"][0][5].get<double>(), 1000 * last[1][2].get<double>(), 0.51);
  const experiments::Numbers numbers = study.store.snapshots(id).at("last");
  EXPECT_NEAR(networks[0]["use"]["alignment"][0].get<double>(), numbers.at("alignment"), 0.00051);
  EXPECT_NEAR(networks[0]["loss"][0].get<double>(), numbers.at("id_loss"), 1e-3);
  EXPECT_EQ(networks[2]["gates"], "none");
  EXPECT_EQ(networks[2]["iterations"], ordered_json({20}));
  change_store(study, "DELETE FROM blobs WHERE name = 'activation/last'");
  EXPECT_THROW(mixtures_of(study), FormatError);
}

TEST(RuleReport, WhatOneModelAloneVariesTellsItsNetworksApart) {
  MadeUpStudy study(fmt::format(
      "name: mixed\ntitle: Mixed\ntune: none\nkeep: curves\nparameters: {{{}, rules: [2, 3], width: [8, 12]}}\n"
      "grids:\n  - {{series: oracle, parameters: {{model: gt-modular}}}}\n"
      "  - {{series: learned, parameters: {{model: modular, modules: [2, 4]}}}}\n",
      "task: rules-mlp, iterations: 2, evaluate_every: 1, batch_size: 8, test_samples: 64"));
  train_all(study);
  const ordered_json cells = mixtures_of(study);
  EXPECT_EQ(texts(cells, "series"), (std::vector<std::string>{"2 rules, width 8", "2 rules, width 12",
                                                              "3 rules, width 8", "3 rules, width 12"}));
  for (const ordered_json& cell : cells) {
    EXPECT_EQ(texts(cell["networks"], "name"),
              (std::vector<std::string>{"oracle", "learned, modules 2", "learned, modules 4", "random"}));
    EXPECT_EQ(cell["networks"][2]["series"], "learned");
    EXPECT_EQ(cell["networks"][2]["order"].size(), 4U);
  }
}

TEST(RuleReport, AMatrixThatIsTooLargeIsNotDrawn) {
  MadeUpStudy study(rule_study("model: modular, rules: 2, modules: 65, task_seed: 0, seed: 0"));
  train_all(study);
  const ordered_json network = mixtures_of(study)[0]["networks"][0];
  EXPECT_EQ(network["modules"], 65);
  EXPECT_TRUE(network["activation"].empty());
  EXPECT_TRUE(network["order"].empty());
  EXPECT_EQ(network["use"]["collapse_avg"].size(), 5U);
}

TEST(RuleReport, OfATrainingThatDivergedNothingIsDrawn) {
  MadeUpStudy study(rule_study("model: modular, rules: 2, task_seed: 0, seed: 0"));
  train_all(study);
  const std::string id = study.plan.runs[0].id();
  ordered_json curve = curve_of(study, id);
  curve.back()["loss"] = nullptr;
  curve.back()["activation"] = {{nullptr, nullptr}, {nullptr, nullptr}};
  for (const char* name : kRuleMeasures) {
    curve.back().erase(name);
  }
  set_blob(study, id, "curve", curve.dump());
  const ordered_json network = mixtures_of(study)[0]["networks"][0];
  EXPECT_TRUE(network["activation"].back().is_null());
  EXPECT_FALSE(network["activation"][0].is_null());
  EXPECT_TRUE(network["loss"].back().is_null());
  EXPECT_TRUE(network["use"]["imi"].back().is_null());
}

TEST(RuleReport, ACurveThatCannotBeIsRefusedWithTheNameOfItsRun) {
  MadeUpStudy study(rule_study("model: [modular, monolithic], rules: 2, task_seed: 0, seed: 0"));
  train_all(study);
  const std::string id = study.plan.runs[0].id();
  const ordered_json good = curve_of(study, id);
  const auto message = [&](const std::string& curve) -> std::string {
    set_blob(study, id, "curve", curve);
    try {
      mixtures_of(study);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto names_the_run = [&](const std::string& text) { return text.find(id) != std::string::npos; };
  const auto changed = [&](const std::function<void(ordered_json & point)>& change) {
    ordered_json curve = good;
    change(curve[1]);
    return message(curve.dump());
  };
  ASSERT_EQ(message(good.dump()), "no error");
  for (const char* curve :
       {"", "{}", "[]", "[1]", "[[]]", "[{}]", "null", "\"a\"", R"([{"iteration": 0}])", R"([{"iteration": 9e999}])"}) {
    EXPECT_PRED1(names_the_run, message(curve)) << curve;
  }
  using Change = std::function<void(ordered_json&)>;
  const std::pair<const char*, Change> changes[] = {
      {"before the first", [](ordered_json& point) { point["iteration"] = -1; }},
      {"after the last", [](ordered_json& point) { point["iteration"] = 21; }},
      {"half a step", [](ordered_json& point) { point["iteration"] = 5.5; }},
      {"a step of words", [](ordered_json& point) { point["iteration"] = "5"; }},
      {"no time", [](ordered_json& point) { point.erase("iteration"); }},
      {"twice the same time", [](ordered_json& point) { point["iteration"] = 0; }},
      {"negative loss", [](ordered_json& point) { point["loss"] = -1; }},
      {"loss in words", [](ordered_json& point) { point["loss"] = "low"; }},
      {"more than all", [](ordered_json& point) { point["imi"] = 1.5; }},
      {"less than nothing", [](ordered_json& point) { point["collapse_avg"] = -0.5; }},
      {"no matrix", [](ordered_json& point) { point.erase("activation"); }},
      {"no list", [](ordered_json& point) { point["activation"] = 3; }},
      {"too few rules", [](ordered_json& point) { point["activation"].erase(0); }},
      {"too many rules",
       [](ordered_json& point) {
         point["activation"].push_back({0.5, 0.5});
       }},
      {"too few modules", [](ordered_json& point) { point["activation"][1].erase(0); }},
      {"too many modules", [](ordered_json& point) { point["activation"][0].push_back(0.1); }},
      {"a row of words", [](ordered_json& point) { point["activation"][0] = "ab"; }},
      {"a word", [](ordered_json& point) { point["activation"][0][1] = "a"; }},
      {"too much use", [](ordered_json& point) { point["activation"][0][1] = 1e308; }},
      {"negative use", [](ordered_json& point) { point["activation"][0][1] = -0.25; }},
  };
  for (const auto& [name, change] : changes) {
    EXPECT_PRED1(names_the_run, changed(change)) << name;
  }
  EXPECT_EQ(message(good.dump()), "no error");
  // A network without modules has no matrix.
  set_blob(study, study.plan.runs[1].id(), "curve", good.dump());
  EXPECT_THROW(mixtures_of(study), FormatError);
}

}  // namespace
}  // namespace modlab::report
