#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/errors.h"
#include "studies/made_up_study.h"
#include "studies/study.h"
#include "studies/study_plan.h"
#include "temporary_folder.h"

namespace modlab::studies {
namespace {

using Words = std::vector<std::string>;

Study parse(const std::string& text) { return parse_study(text, "mine", "mine.yaml"); }

const std::vector<std::string>& values_of(const std::vector<Choices>& parameters, const std::string& name) {
  static const std::vector<std::string> kNoValues;
  const auto found = std::ranges::find_if(parameters, [&](const auto& each) { return each.name == name; });
  return found == parameters.end() ? kNoValues : found->values;
}

// One line that begins with the file and the line (0: a file without lines), and has all the parts.
void expect_mistake(const std::string& text, int line, const Words& parts) {
  try {
    const Study study = parse(text);
    plan_study(study, study.default_preset);
    ADD_FAILURE() << "was taken:\n" << text;
  } catch (const UserError& error) {
    const std::string message = error.what();
    const std::string place = line == 0 ? "mine.yaml: " : "mine.yaml:" + std::to_string(line) + ": ";
    EXPECT_TRUE(message.starts_with(place)) << message << "\n" << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
    }
  }
}

TEST(StudyFile, APlainSweepFileOfWandbWorks) {
  const Study study = parse(
      "program: train.py\n"
      "method: grid\n"
      "metric:\n"
      "  name: val_accuracy\n"
      "  goal: maximize\n"
      "parameters:\n"
      "  task:\n"
      "    value: depth1\n"
      "  model:\n"
      "    values: [dense, modular]\n"
      "  lr:\n"
      "    values: [0.1, 0.01]\n"
      "  seed:\n"
      "    values: [0, 1, 2]\n");
  EXPECT_EQ(study.name, "mine");
  EXPECT_EQ(study.title, "mine");
  EXPECT_EQ(study.default_preset, "");
  EXPECT_EQ(study.keep, Keep::kAll);
  EXPECT_EQ(study.analysis.ties, Ties::kLoss);
  EXPECT_EQ(study.analysis.snapshot, "best");
  const StudyPlan plan = plan_study(study, "");
  EXPECT_EQ(plan.runs.size(), 12U);
  EXPECT_EQ(plan.series, (Words{"dense", "modular"})) << "series are named after the models";
}

TEST(StudyFile, OnlyMethodAndParameters) {
  EXPECT_EQ(plan_study(parse("method: grid\nparameters: {lr: {values: [0.1, 0.2]}}\n"), "").runs.size(), 2U);
  EXPECT_EQ(plan_study(parse("parameters: {lr: 0.1, seed: [3, 4]}\n"), "").runs.size(), 2U)
      << "a scalar and a list are short for value and values";
}

TEST(StudyFile, AllParts) {
  const Study study = parse(R"(
name: whole
title: A whole study
about: >
  Two lines of
  text.
preset: small
tune: [lr, tau]
ties: updates
snapshot: last
keep: curves
parameters:
  task: {value: depth1}
  seed: {values: [0..4]}
grids:
  - series: one
    parameters: {model: {value: modular}, modules: {values: ["2", "3"]}}
  - series: two
    parameters: {model: {value: dense}, hidden: {value: [8, 4]}}
presets:
  large:
    about: more
  small:
    about: less
    keep: results
    parameters: {seed: {value: 7}}
    series:
      one: {lr: {values: [0.1, 0.01]}}
gallery: {series: one}
figures:
  - id: F1
    paper: Figure 1
    title: A figure
    kind: heatmap
    x: modules
    y: lr
    panel: series
    row: task
    series: seed
    where: {ratio: 0.5}
    tune: [tau]
    measures: [test_accuracy, flops]
claims:
  - id: C1
    figure: F1
    text: One is better.
    each: task
    where: {ratio: [0.5]}
    over: [ratio]
    tune: [lr]
    checks:
      - {compare: [one, {series: two, seed: [0, 1]}], measure: test_accuracy, expect: at_least, margin: 2, threshold: 1}
      - {reaches: [one, two], measure: test_accuracy, along: ratio, level: 90}
      - {every: one, given: {perfect: 100}, then: {edit_distance: 0}}
)");
  EXPECT_EQ(study.name, "whole");
  EXPECT_EQ(study.title, "A whole study");
  EXPECT_EQ(study.about, "Two lines of text.");
  EXPECT_EQ(study.default_preset, "small");
  EXPECT_EQ(study.analysis.tune, (Words{"lr", "tau"}));
  EXPECT_EQ(study.analysis.ties, Ties::kUpdates);
  EXPECT_EQ(study.analysis.snapshot, "last");
  EXPECT_EQ(study.keep, Keep::kCurves);
  EXPECT_EQ(values_of(study.parameters, "seed"), (Words{"0", "1", "2", "3", "4"}));
  ASSERT_EQ(study.grids.size(), 2U);
  EXPECT_EQ(study.grids[0].series, "one");
  EXPECT_EQ(values_of(study.grids[0].parameters, "modules"), (Words{"2", "3"}));
  EXPECT_EQ(values_of(study.grids[1].parameters, "hidden"), Words{"8,4"}) << "a value that is a list is one value";
  ASSERT_EQ(study.presets.size(), 2U);
  EXPECT_EQ(study.presets[0].name, "large");
  EXPECT_FALSE(study.presets[0].keep);
  EXPECT_EQ(study.presets[1].keep, Keep::kResults);
  EXPECT_EQ(values_of(study.presets[1].parameters, "seed"), Words{"7"});
  EXPECT_EQ(values_of(study.presets[1].series.at("one"), "lr"), (Words{"0.1", "0.01"}));
  EXPECT_EQ(study.gallery.at("series"), Words{"one"});
  ASSERT_EQ(study.figures.size(), 1U);
  const Figure& figure = study.figures[0];
  EXPECT_EQ(figure.kind, Figure::Kind::kHeatmap);
  EXPECT_EQ((Words{figure.id, figure.paper, figure.x, figure.y, figure.panel, figure.row, figure.series}),
            (Words{"F1", "Figure 1", "modules", "lr", "series", "task", "seed"}));
  EXPECT_EQ(figure.measures, (Words{"test_accuracy", "flops"}));
  EXPECT_EQ(figure.where.at("ratio"), Words{"0.5"});
  EXPECT_EQ(figure.tune, Words{"tau"});
  ASSERT_EQ(study.claims.size(), 1U);
  const Claim& claim = study.claims[0];
  EXPECT_EQ(claim.each, "task");
  EXPECT_EQ(claim.over, Words{"ratio"});
  EXPECT_EQ(claim.tune, Words{"lr"});
  ASSERT_EQ(claim.checks.size(), 3U);
  EXPECT_EQ(claim.checks[0].kind, Check::Kind::kCompare);
  EXPECT_EQ(claim.checks[0].expect, Check::Expect::kAtLeast);
  EXPECT_EQ(claim.checks[0].margin, 2);
  EXPECT_EQ(claim.checks[0].threshold, 1);
  EXPECT_EQ(claim.checks[0].sides[0].at("series"), Words{"one"});
  EXPECT_EQ(claim.checks[0].sides[1].at("seed"), (Words{"0", "1"}));
  EXPECT_EQ(claim.checks[1].kind, Check::Kind::kReaches);
  EXPECT_EQ(claim.checks[1].level, 90);
  EXPECT_EQ(claim.checks[1].along, "ratio");
  EXPECT_EQ(claim.checks[2].kind, Check::Kind::kEvery);
  EXPECT_EQ(claim.checks[2].given.at("perfect"), 100);
  EXPECT_EQ(claim.checks[2].then.at("edit_distance"), 0);
}

TEST(StudyFile, TheExampleOfTheReadmeIsAStudy) {
  std::ostringstream text;
  text << std::ifstream(std::string(MODLAB_TEST_DIR) + "/../studies/README.md").rdbuf();
  const std::string readme = text.str();
  const std::size_t begin = readme.find("```yaml\n") + 8;
  ASSERT_LT(begin, readme.size());
  std::string yaml = readme.substr(begin, readme.find("```", begin) - begin);
  yaml.replace(yaml.find("my-task.yaml"), 12, "depth1");
  const Study study = parse(yaml);
  EXPECT_EQ(study.name, "mine");
  EXPECT_FALSE(study.claims.empty());
  const StudyPlan plan = plan_study(study, study.default_preset);
  // One dense and two shared networks on two tasks, two ratios, three splits and nine seeds, with one rate.
  EXPECT_EQ(plan.runs.size(), 3 * 2 * 2 * 3 * 9U);
}

TEST(StudyFile, TheFirstPresetIsTheDefault) {
  EXPECT_EQ(parse("parameters: {lr: 0.1}\npresets: {b: {}, a: {}}\n").default_preset, "b");
}

TEST(StudyFile, DefaultMargins) {
  const Study study = parse(R"(
parameters: {lr: 0.1}
claims:
  - id: C
    text: c
    checks:
      - {value: modular-shared, measure: test_accuracy, expect: comparable}
      - {value: modular-shared, measure: test_accuracy, expect: at_least}
)");
  EXPECT_EQ(study.claims[0].checks[0].margin, 3) << "comparable is within three points";
  EXPECT_EQ(study.claims[0].checks[1].margin, 1);
  EXPECT_EQ(study.claims[0].over, (Words{"task", "ratio"}));
}

TEST(StudyFile, ValuesOfASelectionAreReadAsTheSettingReadsThem) {
  const Study study = parse(R"(
parameters: {tau: {values: [1, 2]}}
gallery: {tau: 2, weight_decay: 0.00001, ratio: [0.50, 5e-1], known_inputs: yes, modules: "3,2", lr: .1}
)");
  const Study plain = parse("parameters: {lr: 0.1}\ngallery: {tau: 2.0, weight_decay: 1e-05}\n");
  EXPECT_EQ(study.gallery.at("tau"), plain.gallery.at("tau"));
  EXPECT_EQ(study.gallery.at("weight_decay"), plain.gallery.at("weight_decay"));
  const StudyPlan plan = plan_study(study, "");
  EXPECT_EQ(Words{plan.value(plan.runs[1], "tau")}, study.gallery.at("tau"));
  EXPECT_EQ(Words{plan.value(plan.runs[1], "ratio")}[0], study.gallery.at("ratio")[0]);
}

TEST(StudyFileMistakes, Settings) {
  expect_mistake("parameters:\n  lr: {value: 0.1}\n  epoch: {value: 3}\n", 3,
                 {"there is no setting 'epoch'", "did you mean 'epochs'?"});
  expect_mistake("parameters:\n  lr: {value: 0.1}\ngrids:\n  - series: a\n    parameters:\n      modle: dense\n", 6,
                 {"'modle'", "did you mean 'model'?"});
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  quick:\n    parameters:\n      sede: {values: [1]}\n", 5,
                 {"'sede'", "did you mean 'seed'?"});
}

TEST(StudyFileMistakes, Values) {
  expect_mistake("parameters:\n  lr:\n    values: []\n", 3, {"'lr'", "empty list of values", "no runs"});
  expect_mistake("parameters:\n  lr: {values: [0.1, fast]}\n", 2, {"lr must be", "'fast'"});
  expect_mistake("parameters:\n  ratio: 1.5\n", 2, {"ratio must be a number between 0 and 1", "'1.5'"});
  expect_mistake("parameters:\n  seed: {values: [5..2]}\n", 2, {"seed", "5..2", "range"});
  expect_mistake("parameters:\n  model: {value: dens}\n", 2, {"unknown model 'dens'", "did you mean 'dense'?"});
  expect_mistake("parameters:\n  model: {value: sculted}\n", 2,
                 {"unknown model 'sculted'", "did you mean 'sculpted'?"});
  expect_mistake("parameters: {lr: 0.1}\ngallery: {model: dens}\n", 2, {"unknown model 'dens'"});
  expect_mistake("parameters:\n  modules: {values: [\"3,x\"]}\n", 2, {"modules must be"});
  expect_mistake("parameters:\n  lr: {values: {a: 1}}\n", 2, {"lr"});
  expect_mistake("parameters:\n  lr:\n", 2, {"lr"});
  expect_mistake("parameters:\n  task:\n", 2, {"task"});
  expect_mistake("parameters:\n  lr: {value: 0.1}\n  lr: {value: 0.2}\n", 3, {"'lr'", "twice"});
}

TEST(StudyFileMistakes, DistributionsAreNotGrids) {
  expect_mistake("method: grid\nparameters:\n  lr:\n    distribution: uniform\n    min: 0\n    max: 1\n", 4,
                 {"'lr' has no values", "studies are grids"});
  expect_mistake("parameters:\n  lr:\n    min: 0\n    max: 1\n", 3, {"'lr' has no values"});
  expect_mistake("method: bayes\nparameters: {lr: 0.1}\n", 1, {"method must be grid", "'bayes'"});
}

TEST(StudyFileMistakes, Kinds) {
  expect_mistake("", 0, {"a study must be a map"});
  expect_mistake("- a\n- b\n", 1, {"a study must be a map"});
  expect_mistake("just words\n", 1, {"a study must be a map"});
  expect_mistake("name: x\n", 1, {"needs 'parameters'"});
  expect_mistake("name: [a, b]\nparameters: {lr: 0.1}\n", 1, {"'name' must be a text"});
  expect_mistake("parameters: [lr, 0.1]\n", 1, {"'parameters' must be a map"});
  expect_mistake("parameters: {lr: 0.1}\ngrids: {series: a}\n", 2, {"'grids' must be a list"});
  expect_mistake("parameters: {lr: 0.1}\ngrids:\n  - a\n", 3, {"a grid must be a map"});
  expect_mistake("parameters: {lr: 0.1}\ngrids:\n  - parameters: {lr: 0.2}\n", 3, {"a grid needs 'series'"});
  expect_mistake("parameters: {lr: 0.1}\npresets: [quick]\n", 2, {"'presets' must be a map"});
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  quick: 5\n", 3, {"preset 'quick' must be a map"});
  expect_mistake("parameters: {lr: 0.1}\nfigures: 3\n", 2, {"'figures' must be a list"});
  expect_mistake("parameters: {lr: 0.1}\nclaims:\n  - words\n", 3, {"a claim must be a map"});
  expect_mistake("parameters: {lr: 0.1}\ntune: []\n", 2, {"'tune' must be a list with something in it"});
  expect_mistake("parameters: {lr: 0.1}\nx: [1\ny: 2\n", 3, {"not valid YAML"});
  expect_mistake("parameters: " + std::string(100'000, '[') + "\n", 2, {"not valid YAML", "studies/README.md"});
}

TEST(StudyFileMistakes, NamesThatAreNoFolders) {
  for (const char* name : {"a/b", "..", "\"a\\nb\"", "\"\""}) {
    expect_mistake("parameters: {lr: 0.1}\nname: " + std::string(name) + "\n", 2, {"cannot be the name of a folder"});
  }
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  ../up: {}\n", 3, {"cannot be the name of a folder"});
}

TEST(StudyFileMistakes, Words) {
  expect_mistake("parameters: {lr: 0.1}\ntune: [lrr]\n", 2, {"tune", "'lrr'"});
  expect_mistake("parameters: {lr: 0.1}\ntune: [lr, seed]\n", 2, {"tune", "'seed'"});
  expect_mistake("parameters: {lr: 0.1}\nties: best\n", 2, {"ties must be loss, updates or first", "'best'"});
  expect_mistake("parameters: {lr: 0.1}\nkeep: most\n", 2, {"keep must be", "'most'"});
  expect_mistake("parameters: {lr: 0.1}\nsnapshot: first\n", 2, {"snapshot must be best or last", "'first'"});
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  a:\n    keep: most\n", 4, {"keep must be", "'most'"});
  expect_mistake("parameters: {lr: 0.1}\nfigure: []\n", 2, {"a study knows no 'figure'", "did you mean 'figures'?"});
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  a:\n    parametres: {lr: 0.2}\n", 4,
                 {"preset 'a' knows no 'parametres'", "did you mean 'parameters'?"});
  expect_mistake("parameters: {lr: 0.1}\npresets:\n  a: {}\npreset: b\n", 4, {"no preset 'b'", "it has a"});
  expect_mistake("parameters: {lr: 0.1}\npreset: b\n", 2, {"no preset"});
  expect_mistake("parameters: {lr: 0.1}\ngrids:\n  - series: one\npresets:\n  a:\n    series:\n      ones: {lr: 0.2}\n",
                 7, {"no grid with the series 'ones'"});
}

constexpr auto kFigure = "parameters: {lr: 0.1}\nfigures:\n  - id: F\n    title: t\n    x: ratio\n";

TEST(StudyFileMistakes, Figures) {
  expect_mistake("parameters: {lr: 0.1}\nfigures:\n  - title: t\n", 3, {"a figure needs 'id'"});
  expect_mistake(kFigure, 3, {"needs 'x' and 'measures'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    kind: heatmap\n"), 3, {"a heatmap needs 'y'"});
  expect_mistake(kFigure + std::string("    measures: [test_acuracy]\n"), 6,
                 {"there is no measure 'test_acuracy'", "did you mean 'test_accuracy'?"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    kind: pie\n"), 7, {"'kind' is one of", "'pie'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    panel: taks\n"), 7,
                 {"'panel' must be series, restarts, outputs, hidden_layers or the name of a setting", "'taks'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    where: {raito: 0.1}\n"), 7, {"'raito'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    where: {ratio: lots}\n"), 7, {"ratio", "'lots'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    where: [ratio]\n"), 7, {"must be a map"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    tune: [lrr]\n"), 7, {"tune", "'lrr'"});
  expect_mistake(kFigure + std::string("    measures: [flops]\n    colour: red\n"), 7, {"a figure knows no 'colour'"});
}

constexpr auto kClaim = "parameters: {lr: 0.1}\nclaims:\n  - id: C\n    text: t\n";

TEST(StudyFileMistakes, Claims) {
  const std::string check = kClaim + std::string("    checks:\n      - ");
  expect_mistake("parameters: {lr: 0.1}\nclaims:\n  - id: C\n", 3, {"a claim needs 'text'"});
  expect_mistake(kClaim, 3, {"a claim needs 'checks'"});
  expect_mistake(kClaim + std::string("    checks: []\n"), 3, {"a claim needs 'checks'"});
  expect_mistake(kClaim + std::string("    over: [raito]\n    checks: [{value: a, measure: flops}]\n"), 5,
                 {"'over'", "'raito'"});
  expect_mistake(kClaim + std::string("    over: ['']\n    checks: [{value: a, measure: flops}]\n"), 5, {"'over'"});
  for (const char* key : {"''", "[task]", "~"}) {
    expect_mistake(kClaim + std::string("    where: {? ") + key + " : B}\n    checks: [{value: a, measure: flops}]\n",
                   5, {"a selection has a value without a name"});
  }
  expect_mistake(kClaim + std::string("    each: depth\n    checks: [{value: a, measure: flops}]\n"), 5,
                 {"'each'", "'depth'"});
  expect_mistake(kClaim + std::string("    tune: [lrr]\n    checks: [{value: a, measure: flops}]\n"), 5,
                 {"tune", "'lrr'"});
  expect_mistake(check + "{measure: flops}\n", 6, {"a check is one of compare, trend"});
  expect_mistake(check + "{compare: [a, b]}\n", 6, {"a check needs 'measure'"});
  expect_mistake(check + "{compare: [a], measure: flops}\n", 6, {"'compare' needs 2 sides"});
  expect_mistake(check + "{compare: [a, b, c], measure: flops}\n", 6, {"'compare' needs 2 sides"});
  expect_mistake(check + "{compare: a, measure: flops}\n", 6, {"'compare' needs 2 sides"});
  expect_mistake(check + "{compare: [a, b], measure: flop}\n", 6, {"no measure 'flop'", "did you mean 'flops'?"});
  expect_mistake(check + "{compare: [a, b], measure: flops, expect: more}\n", 6, {"'expect' is one of", "'more'"});
  expect_mistake(check + "{compare: [a, b], measure: flops, margin: wide}\n", 6, {"'margin' must be a number"});
  expect_mistake(check + "{compare: [a, b], measure: flops, along: ratio}\n", 6, {"a check knows no 'along'"});
  expect_mistake(check + "{trend: a, measure: flops}\n", 6, {"needs 'along'"});
  expect_mistake(check + "{reaches: [a, b], measure: flops}\n", 6, {"needs 'along'"});
  expect_mistake(check + "{trend: a, measure: flops, along: raito}\n", 6, {"'along'", "'raito'"});
  expect_mistake(check + "{tracks: a, measure: flops}\n", 6, {"needs 'other'"});
  expect_mistake(check + "{every: a, given: {flop: 1}, then: {flops: 1}}\n", 6, {"no measure 'flop'"});
  expect_mistake(check + "{every: a, given: {flops: 1}}\n", 6, {"'then'"});
  expect_mistake(check + "{every: a, given: {flops: many}, then: {flops: 1}}\n", 6, {"'flops' must be a number"});
}

TEST(StudyFile, ReadsFilesAndBuiltIns) {
  const test::TemporaryFolder folder;
  folder.write("tiny.yaml", "parameters: {lr: {values: [0.1, 0.2]}}\n");
  EXPECT_EQ(load_study(folder.file("tiny.yaml")).name, "tiny");
  EXPECT_THROW(load_study(folder.file("missing.yaml")), FormatError);
  folder.write("large.yaml", "about: " + std::string(2 << 20, 'x') + "\nparameters: {lr: 0.1}\n");
  EXPECT_THROW(load_study(folder.file("large.yaml")), FormatError);
  EXPECT_EQ(load_study("boolean").name, "boolean");
  try {
    load_study("booleen");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'boolean'?"), std::string::npos) << error.what();
  }
  try {
    load_study("something");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("modlab study list"), std::string::npos) << error.what();
  }
}

constexpr auto kThreeGrids = R"(
parameters:
  task: {value: depth1}
  lr: {values: [0.1, 0.01]}
  seed: {values: [0, 1, 2]}
grids:
  - series: dense
    parameters: {model: {value: dense}}
  - series: modular, plain
    parameters: {model: {value: modular}, lr: {value: 0.5}, task: {values: [depth1, depth2]}}
  - series: shared
    parameters: {model: {value: modular-shared}}
presets:
  quick:
    keep: curves
    parameters: {seed: {value: 0}}
    series: {shared: {lr: {value: 0.2}}}
)";

Study overridden(const std::vector<std::string>& words) {
  Study study = parse(kThreeGrids);
  for (const std::string& word : words) {
    apply_override(study, word);
  }
  return study;
}

std::size_t count(const Study& study, const std::string& preset) { return plan_study(study, preset).runs.size(); }

TEST(Override, ReplacesTheValuesOfAllGridsAndPresets) {
  // dense 2 x 3, modular 1 x 2 x 3, shared 2 x 3; quick: one seed, and one rate for shared.
  EXPECT_EQ(count(parse(kThreeGrids), ""), 18U);
  EXPECT_EQ(count(parse(kThreeGrids), "quick"), 5U);
  EXPECT_EQ(count(overridden({"seed=5..8"}), ""), 4 * 6U);
  EXPECT_EQ(count(overridden({"seed=5..8"}), "quick"), 2 * 4 + 2 * 4 + 4U);
  for (const char* preset : {"", "quick"}) {
    for (const PlannedRun& run : plan_study(overridden({"lr=0.3"}), preset).runs) {
      EXPECT_EQ(test::spec_of(run).lr, 0.3);
    }
  }
}

TEST(Override, AddsASetting) {
  for (const PlannedRun& run : plan_study(overridden({"epochs=7", "batch-size=4"}), "").runs) {
    EXPECT_EQ(test::spec_of(run).epochs, 7);
    EXPECT_EQ(test::spec_of(run).batch_size, 4);
  }
  EXPECT_EQ(plan_study(overridden({"modules=2,2;3,3"}), "quick").runs.size(), 2 + 2 * 2 + 1U)
      << "what a list setting has";
}

TEST(Override, TasksAndModelsChooseAmongGrids) {
  const StudyPlan plan = plan_study(overridden({"model=dense,modular"}), "");
  EXPECT_EQ(plan.series, (Words{"dense", "modular, plain"}));
  // The modular grid has its own tasks; the others take what is asked for.
  const StudyPlan depth2 = plan_study(overridden({"task=depth2"}), "");
  EXPECT_EQ(depth2.runs.size(), 6 + 3 + 6U);
  for (const PlannedRun& run : depth2.runs) {
    EXPECT_EQ(test::spec_of(run).task, "depth2");
  }
  EXPECT_EQ(plan_study(overridden({"task=depth3"}), "").series, (Words{"dense", "shared"}));
  EXPECT_THROW(overridden({"model=sparse"}), ConfigError);
}

TEST(Override, SeriesAreKeptByName) {
  EXPECT_EQ(plan_study(overridden({"series=shared,dense"}), "").series, (Words{"dense", "shared"}));
  EXPECT_EQ(plan_study(overridden({"series=modular, plain"}), "").series, Words{"modular, plain"})
      << "a name may have a comma in it";
  EXPECT_EQ(plan_study(overridden({"series=dense,modular, plain"}), "").series, (Words{"dense", "modular, plain"}));
}

TEST(Override, TheAnalysis) {
  const Study study = overridden({"keep=results", "ties=first", "snapshot=last", "tune=lr,noise"});
  EXPECT_EQ(plan_study(study, "").keep, Keep::kResults);
  EXPECT_EQ(plan_study(study, "quick").keep, Keep::kResults) << "above the preset";
  EXPECT_EQ(study.analysis.ties, Ties::kFirst);
  EXPECT_EQ(study.analysis.snapshot, "last");
  EXPECT_EQ(study.analysis.tune, (Words{"lr", "noise"}));
  EXPECT_EQ(plan_study(parse(kThreeGrids), "quick").keep, Keep::kCurves);
}

TEST(Override, Mistakes) {
  const auto message = [](const std::string& word) -> std::string {
    try {
      const Study study = overridden({word});
      plan_study(study, "");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "was taken: " + word;
  };
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"epochs", "not of the form setting=value"},
      {"epochs=", "not of the form setting=value"},
      {"=3", "there is no setting ''"},
      {"epoch=3", "did you mean 'epochs'?"},
      {"epochs=many", "epochs must be"},
      {"epochs=0", "epochs must be"},
      {"lr=0.1,", "lr must be"},
      {"seed=9..3", "range"},
      {"keep=some", "keep must be"},
      {"ties=random", "ties must be"},
      {"snapshot=middle", "snapshot must be"},
      {"tune=lrr", "'lrr'"},
      {"tune=seed", "'seed'"},
      {"series=sparse", "no series 'sparse'"},
      {"series=shred", "did you mean 'shared'?"},
      {"model=sparse", "no grid of the study has model=sparse"},
  };
  for (const auto& [word, part] : mistakes) {
    EXPECT_NE(message(word).find(part), std::string::npos) << message(word);
  }
}

}  // namespace
}  // namespace modlab::studies
