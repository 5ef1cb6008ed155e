#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "studies/study.h"
#include "studies/study_plan.h"

namespace {

// Larger plans are only more of the same.
constexpr std::size_t kMaxRuns = 200;

void expect_plan(const modlab::studies::Study& study, const std::string& preset) {
  if (modlab::studies::count_runs(study, preset) > kMaxRuns) {
    return;
  }
  const modlab::studies::StudyPlan plan = modlab::studies::plan_study(study, preset);
  for (const modlab::studies::PlannedRun& run : plan.runs) {
    if (run.series >= plan.series.size() || run.values.size() != plan.axes.size() ||
        !plan.suites.contains(run.spec.task)) {
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

// Any text is a study whose small plans can be made, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const modlab::studies::Study study = modlab::studies::parse_study(text, "fuzz", "fuzz.yaml");
    expect_plan(study, "");
    expect_plan(study, study.default_preset);
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}
