#include <algorithm>
#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "studies/study.h"
#include "studies/study_plan.h"

namespace {

// Larger plans are only more of the same.
constexpr std::size_t kMaxRuns = 200;

using modlab::studies::Claim;
using modlab::studies::Figure;
using modlab::studies::Study;
using modlab::studies::StudyPlan;

// What figures and claims will ask a run for.
void expect_axes(const Study& study, const StudyPlan& plan, const modlab::studies::PlannedRun& run) {
  const auto ask = [&](const std::string& axis) {
    if (!axis.empty()) {
      plan.value(run, axis);
    }
  };
  const auto ask_all = [&](const modlab::studies::Selector& selector) {
    for (const auto& [axis, values] : selector) {
      plan.value(run, axis);
    }
  };
  for (const Figure& figure : study.figures) {
    for (const std::string& axis : {figure.x, figure.y, figure.panel, figure.row, figure.series}) {
      ask(axis);
    }
    ask_all(figure.where);
  }
  for (const Claim& claim : study.claims) {
    ask(claim.each);
    ask_all(claim.where);
    for (const std::string& axis : claim.over) {
      plan.value(run, axis);
    }
    for (const modlab::studies::Check& check : claim.checks) {
      ask(check.along);
      ask_all(check.best);
      for (const modlab::studies::Selector& side : check.sides) {
        ask_all(side);
      }
    }
  }
  ask_all(study.gallery);
}

void expect_plan(const Study& study, const std::string& preset) {
  if (modlab::studies::count_runs(study, preset) > kMaxRuns) {
    return;
  }
  const StudyPlan plan = modlab::studies::plan_study(study, preset);
  if (!plan.runs.empty()) {
    expect_axes(study, plan, plan.runs.front());
  }
  const auto tasks = plan.tasks();
  for (const modlab::studies::PlannedRun& run : plan.runs) {
    const bool has_axes = std::ranges::all_of(plan.axes, [&](const std::string& axis) {
      const modlab::settings::Values& values = run.run.values;
      return !values.has(axis) || plan.value(run, axis) == modlab::settings::setting_text(values.get(axis));
    });
    if (run.series >= plan.series.size() || run.run.kind == nullptr || !has_axes ||
        !tasks.contains(run.run.values.text("task"))) {
      std::abort();
    }
  }
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  std::vector<std::string> texts;
  for (const char* name : {"learning-rates", "mnist", "module-counts", "multi-task", "no-structure", "sculpt-levels"}) {
    texts.push_back(repository_file(std::string("studies/") + name + ".yaml"));
  }
  texts.emplace_back("method: grid\nparameters:\n  task: {values: [depth1, B]}\n  lr: {values: [0.1, 0.01]}\n");
  texts.emplace_back(
      "title: small\nparameters: {task: depth2, epochs: 3, seed: {values: [0..2]}}\n"
      "grids:\n- {series: a, parameters: {model: dense, hidden: [4, 4]}}\n"
      "- {series: b, parameters: {model: modular, modules: ['3,2']}}\n"
      "presets:\n  quick: {about: two, parameters: {epochs: 1}, series: {b: {parameters: {lr: 1}}}, without: [a]}\n"
      "figures: [{id: F1, title: t, x: ratio, series: series, measures: [test_accuracy]}]\n"
      "claims: [{id: C1, text: t, checks: [{compare: [a, b], measure: test_accuracy, expect: at_least}]}]\n");
  return texts;
}

// Any text is a study whose small plans can be made and have the axes that its figures and claims name, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Study study = modlab::studies::parse_study(text, "fuzz", "fuzz.yaml");
    expect_plan(study, "");
    expect_plan(study, study.default_preset);
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}
