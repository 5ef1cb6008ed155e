#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "experiments/images/images.h"
#include "experiments/rules/rules.h"
#include "experiments/sculpt/sculpt.h"
#include "studies/study.h"
#include "studies/study_plan.h"
#include "tasks/task_cache.h"

namespace modlab::studies {
namespace {

// What the figures and claims of a built-in study name must be there when its paper preset has run, or its quick one
// where that trains something else in its place. A misspelt series would otherwise be a claim without data that nobody
// misses.
class BuiltInClaims : public testing::TestWithParam<std::string> {
 protected:
  BuiltInClaims() : study_(load_study(GetParam())) {
    // Splits and seeds add nothing to what there is.
    apply_override(study_, "split_seed=40");
    apply_override(study_, "task_seed=0");
    apply_override(study_, "seed=0");
    // A question that no paper asks has no paper's grid.
    full_ = std::ranges::count(study_.presets, "paper", &Preset::name) > 0 ? "paper" : "standard";
    plan_ = plan_study(study_, full_);
    quick_ = plan_study(study_, "quick");
    for (const char* size : {"small", "medium"}) {
      if (std::ranges::count(study_.presets, size, &Preset::name) > 0) {
        add_runs_of(size);
      }
    }
    const std::set<std::string> has_claims_of_quick = {"masks-transfer", "masks-cifar", "masks-scan",
                                                       "masks-mathematics"};
    if (has_claims_of_quick.contains(study_.name)) {
      add_runs_of("quick");
    }
    for (const PlannedRun& run : plan_.runs) {
      runs_.push_back(&run);
    }
  }

  // Where claims are about networks of one size, and a preset has each.
  void add_runs_of(const std::string& preset) {
    StudyPlan more = plan_study(study_, preset);
    for (PlannedRun& run : more.runs) {
      const auto series = std::ranges::find(plan_.series, more.series[run.series]);
      run.series = static_cast<std::size_t>(series - plan_.series.begin());
      plan_.runs.push_back(std::move(run));
    }
  }

  bool matches(const PlannedRun& run, const Selector& selector) const {
    return std::ranges::all_of(selector, [&](const auto& entry) {
      if (entry.first == kRestarts) {
        return has_restarts(entry.second);
      }
      return std::ranges::find(entry.second, plan_.value(run, entry.first)) != entry.second.end();
    });
  }
  bool has_restarts(const std::vector<std::string>& counts) const {
    return std::ranges::all_of(counts, [&](const std::string& count) {
      return std::ranges::any_of(study_.analysis.restarts, [&](int each) { return std::to_string(each) == count; });
    });
  }
  std::vector<const PlannedRun*> matching(const Selector& a, const Selector& b = {}) const {
    std::vector<const PlannedRun*> found;
    std::ranges::copy_if(runs_, std::back_inserter(found),
                         [&](const PlannedRun* run) { return matches(*run, a) && matches(*run, b); });
    return found;
  }
  std::set<std::string> values(const std::vector<const PlannedRun*>& runs, const std::string& axis) const {
    std::set<std::string> found;
    for (const PlannedRun* run : runs) {
      found.insert(plan_.value(*run, axis));
    }
    return found;
  }
  // Every value that it names is there, together with the rest.
  void expect_named_values(const Selector& selector, const Selector& where, const std::string& who) const {
    for (const auto& [axis, named] : selector) {
      if (axis == kRestarts) {
        EXPECT_TRUE(has_restarts(named)) << who;
        continue;
      }
      for (const std::string& value : named) {
        Selector one = selector;
        one[axis] = {value};
        const bool in_quick = std::ranges::any_of(
            quick_.runs, [&, axis = axis](const PlannedRun& run) { return quick_.value(run, axis) == value; });
        EXPECT_TRUE(in_quick || !matching(one, where).empty()) << who << ": no runs with " << axis << " " << value;
      }
    }
    EXPECT_FALSE(matching(selector, where).empty()) << who;
  }
  void expect_axis(const std::string& axis, const std::vector<const PlannedRun*>& runs, const std::string& who) const {
    if (axis == kRestarts) {
      EXPECT_GT(study_.analysis.restarts.size(), 1U) << who;
    } else if (!axis.empty()) {
      EXPECT_GT(values(runs, axis).size(), 1U) << who << ": " << axis << " does not vary";
      EXPECT_FALSE(values(runs, axis).contains("")) << who << ": " << axis << " means nothing to some runs";
    }
  }
  // Losses of numbers, losses of classes and errors are no average: whoever looks at one looks at one type of task.
  void expect_one_type(const std::string& measure, const std::vector<const PlannedRun*>& runs,
                       const std::vector<std::string>& axes, const std::string& who) const {
    const bool is_apart = measure.find("loss") != std::string::npos || measure.find("error") != std::string::npos;
    const bool is_axis = std::ranges::find(axes, "task_type") != axes.end();
    if (on_rules() && is_apart && !is_axis) {
      EXPECT_EQ(values(runs, "task_type").size(), 1U) << who << ": " << measure << " of two types of task";
    }
  }
  bool on_rules() const { return plan_.runs.front().run.kind == &experiments::rules(); }
  bool of_masks() const { return study_.name.starts_with("masks"); }
  // That some of the runs have the measure at all.
  void expect_measure(const std::string& name, const std::vector<const PlannedRun*>& runs,
                      const std::string& who) const {
    ASSERT_NE(experiments::find_measure(name), nullptr) << who;
    const std::set<std::string> structural = {"edit_distance",      "structure_found", "specialisation",
                                              "specialisation_max", "in_situ",         "image_specialisation"};
    const std::set<std::string> without_modules = {"dense", "sparse", "cnn", "sculpted"};
    const bool has = std::ranges::any_of(runs, [&](const PlannedRun* run) {
      if (std::ranges::find(run->run.kind->measures(), name, &experiments::Measure::name) ==
          run->run.kind->measures().end()) {
        return false;
      }
      if (run->run.kind == &experiments::rules()) {
        const bool of_modules =
            std::set<std::string>{"collapse_avg", "collapse_worst", "alignment", "adaptation", "imi"}.contains(name);
        return (!of_modules || run->run.values.text("model") != "monolithic") &&
               (name.find("error") == std::string::npos || run->run.values.text("task_type") == "classification");
      }
      if (of_masks()) {
        return true;
      }
      const auto suite = tasks::cached_task(run->run.values.text("task"));
      const bool has_modules = !without_modules.contains(run->run.values.text("model"));
      if (structural.contains(name)) {
        return has_modules && suite->tasks.front().graph.has_value();
      }
      if (name == "module_reuse") {
        return has_modules && suite->tasks.size() > 1;
      }
      // "test_accuracy_2" is of the second task.
      const std::size_t line = name.rfind('_');
      const std::string ending = line == std::string::npos ? "" : name.substr(line + 1);
      const bool is_of_task =
          !ending.empty() && std::ranges::all_of(ending, [](char each) { return each >= '0' && each <= '9'; });
      return !is_of_task || std::stoul(ending) <= suite->tasks.size();
    });
    EXPECT_TRUE(has) << who << ": no run has the measure " << name;
  }

  void check_figures() const;
  void check_claims() const;

  Study study_;
  std::string full_;
  StudyPlan plan_, quick_;
  std::vector<const PlannedRun*> runs_;
};

TEST_P(BuiltInClaims, HasItsPresetsFiguresAndClaims) {
  EXPECT_EQ(study_.name, GetParam());
  EXPECT_EQ(study_.default_preset, "quick");
  // A hundred seeds of networks on images, or on rules, would take months.
  const bool on_images = plan_.runs.front().run.kind == &experiments::images();
  for (const std::string& preset :
       {std::string("quick"), full_, of_masks() ? full_ : std::string(on_images || on_rules() ? "standard" : "deep")}) {
    ASSERT_NE(find_preset(study_, preset), nullptr);
    EXPECT_FALSE(find_preset(study_, preset)->about.empty()) << preset;
  }
  EXPECT_FALSE(study_.title.empty());
  EXPECT_FALSE(study_.about.empty());
  EXPECT_FALSE(study_.figures.empty());
  EXPECT_FALSE(study_.claims.empty());
  EXPECT_FALSE(matching(study_.gallery).empty());
  expect_named_values(study_.gallery, {}, "gallery");
}

TEST_P(BuiltInClaims, EveryClaimHasItsFigure) {
  std::set<std::string> figures;
  for (const Figure& figure : study_.figures) {
    EXPECT_TRUE(figures.insert(figure.id).second) << figure.id << " stands twice";
  }
  std::set<std::string> claims;
  for (const Claim& claim : study_.claims) {
    EXPECT_TRUE(claims.insert(claim.id).second) << claim.id << " stands twice";
    EXPECT_TRUE(figures.contains(claim.figure)) << claim.id << " names " << claim.figure;
    EXPECT_TRUE(claim.text.ends_with(".") || claim.text.ends_with(".)")) << claim.id;
  }
}

void BuiltInClaims::check_figures() const {
  for (const Figure& figure : study_.figures) {
    if (figure.kind == Figure::Kind::kFlopTable) {
      continue;
    }
    const std::vector<const PlannedRun*> runs = matching(figure.where);
    const bool curves = figure.kind == Figure::Kind::kCurves;
    expect_named_values(figure.where, {}, figure.id);
    const std::vector<std::string> axes = {curves ? "" : figure.x, figure.y,
                                           figure.panel == kMeasureAxis ? "" : figure.panel, figure.row, figure.series};
    for (const std::string& axis : axes) {
      expect_axis(axis, runs, figure.id);
    }
    for (const std::string& measure : figure.measures) {
      if (curves) {
        EXPECT_NE(experiments::find_curve_measure(measure), nullptr) << figure.id;
      } else {
        expect_measure(measure, runs, figure.id);
      }
      if (figure.kind != Figure::Kind::kVotes) {
        expect_one_type(measure, runs, axes, figure.id);
      }
    }
    if (plan_.runs.front().run.kind == &experiments::sculpt() || on_rules() || of_masks()) {
      continue;  // pooled over widths, and over searches, as published; of masks, sizes are apart by preset
    }
    // A point is one cell: runs that differ in something that is neither drawn nor tuned would be averaged.
    const std::vector<std::string>& tune = figure.tune ? *figure.tune : study_.analysis.tune;
    std::map<std::string, std::set<std::string>> cells_of_point;
    for (const PlannedRun* run : runs) {
      std::string point;
      for (const std::string& axis : {figure.x, figure.y, figure.panel, figure.row, figure.series}) {
        point += axis.empty() ? "" : plan_.value(*run, axis) + ", ";
      }
      std::string cell = plan_.value(*run, "series");
      for (const std::string& axis : plan_.axes) {
        if (std::ranges::find(tune, axis) == tune.end()) {
          cell += ", " + axis + " " + plan_.value(*run, axis);
        }
      }
      cells_of_point[point].insert(cell);
    }
    for (const auto& [point, cells] : cells_of_point) {
      EXPECT_EQ(cells.size(), 1U) << figure.id << ", " << point << ": " << *cells.begin() << " and " << *cells.rbegin();
    }
  }
}

void BuiltInClaims::check_claims() const {
  for (const Claim& claim : study_.claims) {
    expect_named_values(claim.where, {}, claim.id);
    expect_axis(claim.each, matching(claim.where), claim.id);
    for (std::size_t at = 0; at < claim.checks.size(); ++at) {
      const Check& check = claim.checks[at];
      const std::string who = claim.id + ", check " + std::to_string(at + 1);
      if (check.kind == Check::Kind::kFlopTable) {
        continue;
      }
      std::vector<std::set<std::string>> keys;
      Selector where = claim.where;
      for (const auto& [axis, named] : check.where) {
        where[axis] = named;
      }
      expect_named_values(where, {}, who);
      for (const Selector& side : check.sides) {
        const std::vector<const PlannedRun*> runs = matching(side, where);
        expect_named_values(side, where, who);
        if (check.kind != Check::Kind::kVotes) {
          expect_one_type(check.measure, runs, {}, who);
        }
        if (!check.measure.empty()) {
          expect_measure(check.measure, runs, who);
        }
        if (!check.other_measure.empty()) {
          expect_measure(check.other_measure, runs, who);
        }
        for (const auto* wanted : {&check.given, &check.then}) {
          for (const auto& [name, value] : *wanted) {
            expect_measure(name, runs, who);
          }
        }
        expect_axis(check.along, runs, who);
        if (!claim.each.empty()) {
          EXPECT_EQ(values(runs, claim.each), values(matching(where), claim.each)) << who;
        }
        // What the sides share: they must meet somewhere.
        std::set<std::string>& own = keys.emplace_back();
        for (const PlannedRun* run : runs) {
          std::string key;
          for (const std::string& axis : claim.over) {
            const bool named = std::ranges::any_of(check.sides, [&](const auto& each) { return each.contains(axis); });
            key += named ? "" : plan_.value(*run, axis) + "\n";
          }
          own.insert(key);
        }
      }
      for (std::size_t side = 1; side < keys.size(); ++side) {
        EXPECT_EQ(keys.at(0), keys.at(side)) << who << ": the sides do not meet";
        EXPECT_NE(check.sides[0], check.sides[side]) << who;
      }
      if (check.kind == Check::Kind::kTracks) {
        EXPECT_GE(keys.at(0).size(), 3U) << who;
      }
      if (check.kind == Check::Kind::kBestAt) {
        expect_named_values(check.best, check.sides[0], who);
      }
      const bool allows = check.expect == Check::Expect::kAtLeast || check.expect == Check::Expect::kAtMost ||
                          check.expect == Check::Expect::kComparable;
      EXPECT_TRUE(!allows || check.margin > 0) << who;
      // A default margin is in points; of other units the file must say how much.
      if (allows && check.kind != Check::Kind::kEvery && experiments::find_measure(check.measure)->log) {
        EXPECT_LT(check.margin, 1) << who << ": logarithms within a factor of ten";
      }
      // What a point of accuracy is, a loss is not: it is as small as training is long.
      if (allows && on_rules()) {
        const bool is_share = experiments::find_measure(check.measure)->domain == std::pair(0.0, 1.0);
        EXPECT_TRUE(check.as_factor || is_share) << who << ": a margin of a loss or an error is a factor";
        EXPECT_LE(check.margin, check.as_factor ? std::log10(1.5) : 0.05) << who;
      }
    }
  }
}

TEST_P(BuiltInClaims, FiguresNameWhatThereIs) { check_figures(); }
TEST_P(BuiltInClaims, ClaimsNameWhatThereIs) { check_claims(); }

// Guards the guard: every name that is off by a letter is found.
TEST_P(BuiltInClaims, AMisspeltNameIsFound) {
  const auto failures = [](const std::function<void()>& check) {
    testing::TestPartResultArray found;
    {
      const testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      check();
    }
    return found.size();
  };
  for (const Claim& claim : std::vector(study_.claims)) {
    for (std::size_t check = 0; check < claim.checks.size(); ++check) {
      for (std::size_t side = 0; side < claim.checks[check].sides.size(); ++side) {
        for (const auto& [axis, values] : claim.checks[check].sides[side]) {
          study_.claims = {claim};
          study_.claims[0].checks = {claim.checks[check]};
          study_.claims[0].checks[0].sides[side][axis].back() += "s";
          EXPECT_GT(failures([this] { check_claims(); }), 0) << claim.id << " " << axis;
        }
      }
    }
  }
  for (const Figure& figure : std::vector(study_.figures)) {
    for (const auto& [axis, values] : figure.where) {
      study_.figures = {figure};
      study_.figures[0].where[axis].back() += "s";
      EXPECT_GT(failures([this] { check_figures(); }), 0) << figure.id << " " << axis;
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInClaims, testing::ValuesIn(builtin_study_names()), test_name);

TEST(BuiltInStudies, AreTheTwentyFive) {
  EXPECT_EQ(builtin_study_names(), (std::vector<std::string>{"boolean",
                                                             "learning-rates",
                                                             "masks-arithmetic",
                                                             "masks-boolean",
                                                             "masks-cifar",
                                                             "masks-mathematics",
                                                             "masks-penalty",
                                                             "masks-scan",
                                                             "masks-sculpted",
                                                             "masks-transfer",
                                                             "mnist",
                                                             "module-counts",
                                                             "module-input-size",
                                                             "multi-task",
                                                             "no-structure",
                                                             "restarts",
                                                             "rules-mha",
                                                             "rules-mlp",
                                                             "rules-rnn",
                                                             "rules-routing",
                                                             "sculpt-levels",
                                                             "sculpt-overlap",
                                                             "sculpt-structure",
                                                             "sculpt-validation",
                                                             "selection"}));
}

// Every family of networks on rules has the claims of Figures 3 to 7 and of the text.
TEST(BuiltInStudies, OnRulesHaveTheSameClaims) {
  const std::set<std::string> published = {"F3a", "F3b", "F4a", "F4b", "F4c", "F4d", "F4e", "F4f", "F5a", "F5b",
                                           "F5c", "F5d", "F6a", "F6b", "F7a", "T1",  "T2",  "T3",  "T4"};
  for (const char* name : {"rules-mlp", "rules-mha", "rules-rnn"}) {
    std::set<std::string> claims;
    for (const Claim& claim : load_study(name).claims) {
      claims.insert(claim.id);
    }
    EXPECT_EQ(claims, published) << name;
  }
}

// Where an encoder cannot carry a token, or a memory the state, no network can succeed: such widths are only where a
// preset says so.
TEST(BuiltInStudies, OnRulesLeaveOutWidthsAtWhichNoNetworkCanSucceed) {
  for (const char* preset : {"quick", "standard", "paper"}) {
    for (const PlannedRun& run : plan_study(load_study("rules-mha"), preset).runs) {
      EXPECT_GE(std::stoi(run.run.values.text("width")), 4 * std::stoi(run.run.values.text("rules"))) << preset;
    }
  }
  // Units that the cells of a mixture share, at widths 32 and 128.
  const std::map<std::string, std::map<std::string, int>> memory = {
      {"32", {{"2", 91}, {"4", 62}, {"8", 41}, {"16", 26}, {"32", 15}}},
      {"128", {{"2", 365}, {"4", 249}, {"8", 164}, {"16", 104}, {"32", 63}}}};
  for (const char* preset : {"quick", "standard", "paper"}) {
    for (const PlannedRun& run : plan_study(load_study("rules-rnn"), preset).runs) {
      EXPECT_LT(std::stoi(run.run.values.text("dim")),
                memory.at(run.run.values.text("width")).at(run.run.values.text("rules")))
          << preset;
    }
  }
}

// A thousand runs of a hundred thousand steps.
TEST(BuiltInStudies, OnSumsHaveThePublishedGrid) {
  const StudyPlan plan = plan_study(load_study("rules-mlp"), "paper");
  EXPECT_EQ(different_runs(plan), 1000U);
  for (const PlannedRun& run : plan.runs) {
    EXPECT_EQ(run.run.values.text("iterations"), "100000");
    EXPECT_EQ(run.run.values.text("lr"), "0.0001");
    EXPECT_EQ(run.run.values.text("batch_size"), "256");
  }
}

// What a preset does otherwise than the paper it says.
TEST(BuiltInStudies, OnRulesSayHowTheyDeviate) {
  for (const char* name : {"rules-mlp", "rules-mha", "rules-rnn"}) {
    const Study study = load_study(name);
    for (const char* preset : {"quick", "standard"}) {
      const std::string& about = find_preset(study, preset)->about;
      const StudyPlan plan = plan_study(study, preset);
      const experiments::Values& values = plan.runs.front().run.values;
      for (const std::string& said : {values.text("lr"), "width " + values.text("width"), std::string("instead of")}) {
        EXPECT_NE(about.find(said), std::string::npos) << name << " " << preset << ": " << said;
      }
    }
  }
}

TEST(BuiltInStudies, CoverThePapersClaims) {
  const std::set<std::string> published = {
      "F3-1", "F3-2",  "F3-3",  "F3-4",  "F3-5", "F3-6", "F3-7", "F4-1", "F4-2", "F4-3", "F4-4", "F4-5", "F4-6", "F4-7",
      "F5-1", "F5-2",  "F6-1",  "F6-2",  "F7-1", "F7-2", "F7-3", "F7-4", "F7-5", "F7-6", "F8-1", "F8-2", "F9-1", "F9-2",
      "F9-3", "F10-1", "F11-1", "F12-1", "T1",   "F15",  "F16",  "F17",  "F18",  "F19",  "F20",  "F21",  "F22",  "F25"};
  std::set<std::string> covered;
  std::set<std::string> figures;
  for (const std::string& name : builtin_study_names()) {
    const Study study = load_study(name);
    for (const Claim& claim : study.claims) {
      covered.insert(claim.id);
    }
    for (const Figure& figure : study.figures) {
      figures.insert(figure.id);
    }
  }
  for (const std::string& id : published) {
    EXPECT_TRUE(covered.contains(id)) << id;
  }
  for (const char* id : {"F3",  "F4",  "F5",  "F6",  "F7",  "F8",  "F9",  "F10", "F11", "F12", "F13",
                         "F15", "F16", "F17", "F18", "F19", "F20", "F21", "F22", "F23", "F24", "F25"}) {
    EXPECT_TRUE(figures.contains(id)) << id;
  }
}

}  // namespace
}  // namespace modlab::studies
