#include "studies/study_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/errors.h"
#include "experiments/images/images.h"
#include "experiments/sculpt/sculpt.h"
#include "models/training_settings.h"
#include "studies/made_up_study.h"
#include "tasks/task_cache.h"
#include "temporary_folder.h"

namespace modlab::studies {
namespace {

using Words = std::vector<std::string>;
using Counts = std::map<std::string, int>;

Study parse(const std::string& text) { return parse_study(text, "mine", "mine.yaml"); }

Counts counts(const StudyPlan& plan) {
  Counts by_series;
  for (const PlannedRun& run : plan.runs) {
    ++by_series[plan.series[run.series]];
  }
  return by_series;
}

Counts counts(const std::string& name, const std::string& preset) {
  return counts(plan_study(load_study(name), preset));
}

int total(const Counts& by_series) {
  int sum = 0;
  for (const auto& [series, count] : by_series) {
    sum += count;
  }
  return sum;
}

// The paper's grid: 12 configurations x 7 ratios x 9 runs x 3 functions = 2268, and 48 instead of 12 with learned
// wiring.
TEST(BuiltInPlans, BooleanAsPublished) {
  const Counts expected = {{"dense", 2268},          {"sparse 50 %", 2268},    {"sparse 25 %", 2268},
                           {"sparse 10 %", 2268},    {"sparse matched", 2268}, {"modular", 9072},
                           {"modular-shared", 9072}, {"modular-fc", 2268},     {"modular-shared-fcms", 2268}};
  const Counts found = counts("boolean", "paper");
  EXPECT_EQ(found, expected);
  EXPECT_EQ(total(found), 24948 + 4 * 2268);
  EXPECT_EQ(total(found), 34020);
  const Counts quick = counts("boolean", "quick");
  EXPECT_EQ(quick.size(), 9U);
  for (const auto& [series, count] : quick) {
    EXPECT_EQ(count, 3 * 7 * 9 * 2) << series;
  }
}

TEST(BuiltInPlans, SelectionAsPublished) {
  // Top-k: 18 x 3 temperatures; Gumbel: 18 x 4.
  const Counts found = counts("selection", "paper");
  EXPECT_EQ(found.size(), 6U);
  for (const char* model : {"modular", "modular-shared"}) {
    EXPECT_EQ(found.at(model + std::string(", top-k")), 6804 / 2);
    EXPECT_EQ(found.at(model + std::string(", Gumbel per batch")), 18144 / 4);
    EXPECT_EQ(found.at(model + std::string(", Gumbel per sample")), 18144 / 4);
  }
  EXPECT_EQ(total(found), 24948);
  EXPECT_EQ(total(counts("selection", "quick")), 2 * 4 * 9 * 4 * 3 + 4 * 4 * 9 * 4 * 4);
}

TEST(BuiltInPlans, LearningRatesAsPublished) {
  EXPECT_EQ(counts("learning-rates", "paper"), (Counts{{"modular", 3402}, {"modular-shared", 3402}}));
  EXPECT_EQ(counts("learning-rates", "quick"), (Counts{{"modular", 567}, {"modular-shared", 567}}));
}

TEST(BuiltInPlans, ModuleCountsAsPublishedAndTheTrueCounts) {
  // 12 architectures x 24 configurations x 63 are published; the true counts are two more.
  EXPECT_EQ(total(counts("module-counts", "paper")), 18144 + 2 * 24 * 63);
  EXPECT_EQ(counts("module-counts", "quick"), (Counts{{"modular", 4 * 36}, {"modular-shared", 10 * 36}}));
}

TEST(BuiltInPlans, OurOwnStudies) {
  EXPECT_EQ(counts("multi-task", "paper"), (Counts{{"dense", 4 * 189},
                                                   {"modular", 24 * 189},
                                                   {"modular-shared", 24 * 189},
                                                   {"modular-fc", 4 * 189},
                                                   {"modular-shared-fcms", 4 * 189}}));
  EXPECT_EQ(total(counts("multi-task", "quick")), 5 * 3 * 4 * 9);
  EXPECT_EQ(counts("module-input-size", "paper"), (Counts{{"modular", 4 * 24 * 63}, {"modular-shared", 4 * 24 * 63}}));
  EXPECT_EQ(total(counts("module-input-size", "quick")), 2 * 4 * 63);
  EXPECT_EQ(counts("no-structure", "paper"),
            (Counts{{"dense", 12 * 63}, {"modular", 48 * 63}, {"modular-shared", 48 * 63}}));
  EXPECT_EQ(total(counts("no-structure", "quick")), 3 * 63);
}

// The paper's grid on images: 12 configurations, or with the temperature 0.5 of the published README 96; five ratios
// and nine seeds of each.
TEST(BuiltInPlans, MnistAsPublished) {
  EXPECT_EQ(counts("mnist", "paper"), (Counts{{"dense", 12 * 45},
                                              {"modular", 3 * 96 * 45},
                                              {"modular-fc", 3 * 12 * 45},
                                              {"modular-shared", 3 * 96 * 45},
                                              {"modular-shared-fcms", 3 * 12 * 45}}));
  EXPECT_EQ(total(counts("mnist", "standard")), 45 + 4 * 3 * 45);
  EXPECT_EQ(total(counts("mnist", "quick")), 5 * 3 * 9);
  EXPECT_EQ(load_study("mnist").keep, Keep::kCurves);
}

// As published: 36 trials a task, 48 in the study of levels, 28 for the widths of N90; twenty or 28 cells of four
// seeds for each depth.
TEST(BuiltInPlans, SculptingAsPublished) {
  EXPECT_EQ(counts("sculpt-validation", "paper"), (Counts{{"1 hidden layer", 8 * 12},
                                                          {"2 hidden layers", 8 * 12},
                                                          {"3 hidden layers", 8 * 12},
                                                          {"tables, 4 inputs", 3 * 3 * 20 * 4},
                                                          {"tables, 6 inputs", 3 * 28 * 4},
                                                          {"other clusterings", 144 * 40}}));
  EXPECT_EQ(counts("sculpt-validation", "published"), (Counts{{"1 hidden layer", 8 * 12},
                                                              {"2 hidden layers", 8 * 12},
                                                              {"3 hidden layers", 8 * 12},
                                                              {"other clusterings", 144 * 40}}));
  EXPECT_EQ(total(counts("sculpt-overlap", "paper")), 25 * 36);
  EXPECT_EQ(total(counts("sculpt-levels", "paper")), 5 * 48);
  EXPECT_EQ(total(counts("sculpt-structure", "paper")), 2 * (36 + 28));
  EXPECT_EQ(total(counts("sculpt-levels", "deep")), 5 * 12 * 50);
}

TEST(BuiltInPlans, TransferIsAsPublished) {
  const StudyPlan plan = plan_study(load_study("masks-transfer"), "paper");
  EXPECT_EQ(plan.runs.size(), 3U * 10);
  std::set<std::string> logits;
  for (const PlannedRun& run : plan.runs) {
    const settings::Values& values = run.run.values;
    logits.insert(values.text("prefer_old"));
    for (const auto& [name, value] : {std::pair{"tasks", "11"},
                                      {"hidden", "800,800,64"},
                                      {"steps", "0"},
                                      {"mask_steps", "30000"},
                                      {"mask_batch", "128"},
                                      {"samples", "8"},
                                      {"lr", "0.01"},
                                      {"mask_lr", "0.01"},
                                      {"mask_init", "2.0"},
                                      {"mask_clip", "1.0"},
                                      {"beta", "0.00128"},
                                      {"exclude", "none"},
                                      {"reset_first", "true"}}) {
      EXPECT_EQ(values.text(name), value) << name;
    }
  }
  EXPECT_EQ(logits, (std::set<std::string>{"off", "0.0", "-1.0"}));
}

TEST(BuiltInPlans, DeepHasThirtySplitsAndKeepsResultsOnly) {
  for (const std::string& name : builtin_study_names()) {
    const Study study = load_study(name);
    if (name == "mnist" || name == "restarts" || name.starts_with("sculpt") || name.starts_with("rules") ||
        name.starts_with("masks")) {
      continue;  // has none: that would take months; has thousands of seeds; or has fifty and keeps no weights
    }
    const Preset* deep = find_preset(study, "deep");
    ASSERT_NE(deep, nullptr) << name;
    EXPECT_EQ(deep->keep, Keep::kResults) << name;
    ASSERT_EQ(deep->parameters.size(), 2U) << name;
    EXPECT_EQ(deep->parameters[0].name, "split_seed") << name;
    EXPECT_EQ(deep->parameters[0].values.size(), 30U) << name;
    EXPECT_EQ(deep->parameters[1].name, "seed") << name;
    EXPECT_EQ(deep->parameters[1].values.size(), 10U) << name;
    EXPECT_EQ(study.keep, Keep::kAll) << name;
    EXPECT_EQ(count_runs(study, "deep") * 3, count_runs(study, "paper") * 100) << name;
  }
  EXPECT_EQ(count_runs(load_study("boolean"), "deep"), 34020 / 3 * 100U);
  EXPECT_EQ(plan_study(load_study("no-structure"), "quick").keep, Keep::kAll);
}

TEST(BuiltInPlans, SplitsSeedsAndRatiosAreThePublishedOnes) {
  for (const std::string& name : builtin_study_names()) {
    std::set<std::uint32_t> splits;
    std::set<std::uint64_t> seeds;
    std::set<double> ratios;
    const Study study = load_study(name);
    if (name == "restarts" || name == "rules-routing" || name.starts_with("masks")) {
      continue;  // no paper has it, or it has no splits
    }
    const StudyPlan plan = plan_study(study, "paper");
    if (plan.runs.front().run.kind == &experiments::sculpt() || name.starts_with("rules")) {
      continue;
    }
    for (const PlannedRun& run : plan.runs) {
      const bool on_images = run.run.kind == &experiments::images();
      const models::RunSpec spec = on_images ? experiments::image_spec(run.run.values) : test::spec_of(run);
      splits.insert(spec.split_seed);
      seeds.insert(spec.seed);
      ratios.insert(spec.ratio);
      EXPECT_EQ(spec.epochs, on_images ? 200 : 1000);
      EXPECT_EQ(spec.noise, on_images ? 0 : 0.1);
    }
    EXPECT_EQ(splits, (std::set<std::uint32_t>{40, 41, 42})) << name;
    EXPECT_EQ(seeds, (std::set<std::uint64_t>{0, 1, 2})) << name;
    EXPECT_EQ(ratios, name == "mnist" ? (std::set<double>{0.4, 0.5, 0.6, 0.7, 0.8})
                                      : (std::set<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}))
        << name;
    EXPECT_EQ(missing_runs(plan, {}).size(), plan.runs.size()) << name << ": every run stands once";
    EXPECT_EQ(different_runs(plan), plan.runs.size()) << name;
    EXPECT_EQ(count_runs(study, "paper"), plan.runs.size()) << name;
  }
}

TEST(StudyPlan, WhatIsWrittenLaterReplacesWhatIsWrittenEarlier) {
  Study study = parse(R"(
parameters: {task: depth1, lr: {values: [0.1, 0.2]}, noise: 0.5, seed: {values: [0, 1]}}
grids:
  - series: a
    parameters: {model: dense, lr: {values: [0.3, 0.4, 0.5]}, batch_size: 8}
  - series: b
    parameters: {model: sparse}
presets:
  small:
    parameters: {seed: 7, batch_size: 16}
    series:
      b: {seed: {values: [8, 9]}}
)");
  const auto specs = [&](const std::string& preset) {
    std::multiset<std::string> found;
    const StudyPlan plan = plan_study(study, preset);
    for (const PlannedRun& run : plan.runs) {
      found.insert(plan.series[run.series] + " lr " + plan.value(run, "lr") + " seed " + plan.value(run, "seed") +
                   " batch " + plan.value(run, "batch_size") + " noise " + plan.value(run, "noise"));
    }
    return found;
  };
  using Set = std::multiset<std::string>;
  EXPECT_EQ(specs(""), (Set{"a lr 0.3 seed 0 batch 8 noise 0.5", "a lr 0.3 seed 1 batch 8 noise 0.5",
                            "a lr 0.4 seed 0 batch 8 noise 0.5", "a lr 0.4 seed 1 batch 8 noise 0.5",
                            "a lr 0.5 seed 0 batch 8 noise 0.5", "a lr 0.5 seed 1 batch 8 noise 0.5",
                            "b lr 0.1 seed 0 batch 64 noise 0.5", "b lr 0.1 seed 1 batch 64 noise 0.5",
                            "b lr 0.2 seed 0 batch 64 noise 0.5", "b lr 0.2 seed 1 batch 64 noise 0.5"}));
  // The preset is above the grid, and its part for one series above its part for all.
  EXPECT_EQ(specs("small"), (Set{"a lr 0.3 seed 7 batch 16 noise 0.5", "a lr 0.4 seed 7 batch 16 noise 0.5",
                                 "a lr 0.5 seed 7 batch 16 noise 0.5", "b lr 0.1 seed 8 batch 16 noise 0.5",
                                 "b lr 0.1 seed 9 batch 16 noise 0.5", "b lr 0.2 seed 8 batch 16 noise 0.5",
                                 "b lr 0.2 seed 9 batch 16 noise 0.5"}));
  // The command line is above all.
  apply_override(study, "seed=3");
  apply_override(study, "lr=0.9");
  EXPECT_EQ(specs("small"), (Set{"a lr 0.9 seed 3 batch 16 noise 0.5", "b lr 0.9 seed 3 batch 16 noise 0.5"}));
}

TEST(StudyPlan, AxesAndValues) {
  const StudyPlan plan = plan_study(parse(R"(
parameters: {seed: {values: [0, 1]}, task: depth2}
grids:
  - series: dense
    parameters: {model: dense, split_seed: 41}
  - series: shared
    parameters: {model: modular-shared, tau: {values: [1, none]}, slots: {values: ["3,2", "6,6"]}}
)"),
                                    "");
  EXPECT_EQ(plan.series, (Words{"dense", "shared"}));
  for (const char* axis : {"task", "model", "seed", "split_seed", "tau", "slots"}) {
    EXPECT_EQ(std::ranges::count(plan.axes, axis), 1) << axis;
  }
  ASSERT_EQ(plan.runs.size(), 2 + 8U);
  const PlannedRun& dense = plan.runs.front();
  EXPECT_EQ(plan.value(dense, "series"), "dense");
  EXPECT_EQ(plan.value(dense, "tau"), "") << "means nothing to it";
  EXPECT_EQ(plan.value(dense, "slots"), "");
  EXPECT_EQ(plan.value(dense, "split_seed"), "41");
  EXPECT_EQ(plan.value(dense, "epochs"), "1000") << "an axis that no grid names has its default";
  EXPECT_EQ(plan.value(dense, "hidden"), "36,36,36") << "as resolved for the task";
  std::set<std::string> shared;
  for (const PlannedRun& run : plan.runs) {
    EXPECT_EQ(run.id(), models::bit_settings().id(test::spec_of(run)));
    if (plan.value(run, "series") == "shared") {
      shared.insert(plan.value(run, "slots") + "/" + plan.value(run, "tau") + "/" + plan.value(run, "pool"));
    }
  }
  EXPECT_EQ(shared.size(), 4U);
  EXPECT_TRUE(shared.contains("6,6/none/2")) << *shared.begin();
}

TEST(StudyPlan, SplitsAndSeedsVaryFastest) {
  const StudyPlan plan =
      plan_study(parse("parameters: {seed: [0, 1], split_seed: [40, 41], tau: [1, 2], lr: [0.1, 0.2]}\n"), "");
  ASSERT_EQ(plan.runs.size(), 16U);
  for (std::size_t at = 0; at < 16; ++at) {
    const models::RunSpec spec = test::spec_of(plan.runs[at]);
    EXPECT_EQ(spec.seed, at % 2);
    EXPECT_EQ(spec.split_seed, 40 + at / 2 % 2);
    EXPECT_EQ(spec.tau, 1.0 + static_cast<double>(at / 4 % 2));
    EXPECT_EQ(spec.lr, at < 8 ? 0.1 : 0.2);
  }
}

TEST(StudyPlan, RunsThatTwoSeriesShareAreTrainedOnce) {
  const StudyPlan plan = plan_study(parse(R"(
parameters: {task: depth1, model: modular}
grids:
  - series: few
    parameters: {seed: {values: [0, 1]}}
  - series: many
    parameters: {seed: {values: [0, 1, 2, 3]}}
)"),
                                    "");
  EXPECT_EQ(counts(plan), (Counts{{"few", 2}, {"many", 4}}));
  EXPECT_EQ(different_runs(plan), 4U);
  const std::vector<experiments::Run> missing = missing_runs(plan, {});
  ASSERT_EQ(missing.size(), 4U);
  constexpr std::uint64_t kOfAnotherStudy = 1;
  const std::vector<experiments::Run> rest = missing_runs(plan, {missing[0].number, kOfAnotherStudy});
  EXPECT_EQ(rest.size(), 3U);
  EXPECT_TRUE(std::ranges::none_of(
      rest, [&](const experiments::Run& run) { return run.values.text("seed") == missing[0].values.text("seed"); }));
}

TEST(StudyPlan, ARunStandsInASeriesOnce) {
  // Twice the same in two grids of one series; and a modular network with known inputs is the fixed one.
  const StudyPlan grids = plan_study(parse(R"(
parameters: {task: depth1, model: modular}
grids:
  - series: a
    parameters: {seed: {values: [0, 1]}}
  - series: a
    parameters: {seed: {values: [1, 2]}}
)"),
                                     "");
  EXPECT_EQ(grids.runs.size(), 3U);
  const StudyPlan resolved =
      plan_study(parse("parameters: {task: depth1, model: [modular, modular-fc], known_inputs: [false, true]}\n"), "");
  EXPECT_EQ(counts(resolved), (Counts{{"modular", 1}, {"modular-fc", 1}}));
}

TEST(StudyPlan, AnImpossibleCellIsNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      plan_study(parse(text), "");
    } catch (const UserError& error) {
      return error.what();
    }
    return "was taken";
  };
  const std::string found = message(
      "parameters: {task: depth2, model: modular, lr: [0.1, 0.2], fan_in: {values: [1, 2, 3, 4]}, noise: 0.1}\n");
  for (const char* part : {"study mine", "the cell", "task depth2", "model modular", "lr 0.1", "fan_in 4",
                           "level 2 has only 3 candidates"}) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  }
  EXPECT_EQ(found.find("noise"), std::string::npos) << "what does not vary is not part of the name: " << found;
  EXPECT_NE(message("parameters: {task: random62, model: modular-fc}\n").find("task random62, model modular-fc: "),
            std::string::npos);
  EXPECT_NE(message("parameters: {task: depth1, ratio: [0.5, 0.999]}\n").find("ratio 0.999"), std::string::npos);
  EXPECT_NE(message("parameters: {task: depht2}\n").find("did you mean 'depth2'"), std::string::npos);
  EXPECT_NE(message("parameters: {task: nowhere/task.yaml}\n").find("nowhere/task.yaml"), std::string::npos);
}

TEST(StudyPlan, UnknownPresets) {
  const auto message = [](const std::string& text, const std::string& preset) -> std::string {
    try {
      plan_study(parse(text), preset);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "was taken";
  };
  EXPECT_NE(message("parameters: {lr: 0.1}\npresets: {quick: {}, paper: {}}\n", "quik").find("it has quick, paper"),
            std::string::npos);
  EXPECT_NE(message("parameters: {lr: 0.1}\n", "quick").find("has no presets"), std::string::npos);
}

TEST(StudyPlan, OwnTasksArePartOfThePlan) {
  const test::TemporaryFolder folder;
  folder.write("and.yaml", "inputs: [x0, x1, x2, x3]\nlevels:\n  - {a: AND x0 x1}\noutputs: {y: a}\n");
  const std::string path = folder.file("and.yaml");
  const StudyPlan plan = plan_study(parse("parameters: {task: [depth1, " + path + "], model: dense}\n"), "");
  ASSERT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.tasks().size(), 2U);
  EXPECT_TRUE(plan.tasks().contains(path));
  EXPECT_EQ(tasks::cached_task(plan.runs[1].run.values.text("task"))->inputs(), 4);
}

}  // namespace
}  // namespace modlab::studies
