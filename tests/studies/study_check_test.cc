#include "studies/study_check.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace modlab::studies {
namespace {

constexpr const char* kTwoSeries = R"(parameters: {task: {value: depth2}, tau: {values: [1, 2]}}
grids:
  - {series: monolithic, parameters: {model: {value: dense}}}
  - {series: shared, parameters: {model: {value: modular-shared}}}
)";
constexpr const char* kTwoModels = "parameters: {task: {value: depth2}, model: {values: [dense, modular-shared]}}\n";

std::string refused(const std::string& text, void (*check)(const Study&)) {
  try {
    check(parse_study(text, "mine", "mine.yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  }
}

TEST(CheckSeries, NamesThatTheStudyDoesNotHave) {
  const std::string figure =
      "figures: [{id: F1, title: t, x: ratio, measures: [test_accuracy], where: {series: shard}}]\n";
  expect_parts(refused(kTwoSeries + figure, &check_series),
               {"mine.yaml", "figure F1", "'shard'", "did you mean 'shared'"});
  const std::string side =
      "claims: [{id: C1, text: t, checks: [{compare: [monolitic, shared], measure: test_accuracy}]}]\n";
  expect_parts(refused(kTwoSeries + side, &check_series), {"claim C1", "'monolitic'", "did you mean 'monolithic'"});
  const std::string best =
      "claims: [{id: C1, text: t, checks: [{best_at: {series: zebra}, measure: test_accuracy}]}]\n";
  expect_parts(refused(kTwoSeries + best, &check_series), {"claim C1", "'zebra'", "it has monolithic, shared"});
  const std::string where =
      "claims: [{id: C1, text: t, where: {series: dense}, checks: [{value: shared, measure: test_accuracy}]}]\n";
  expect_parts(refused(kTwoSeries + where, &check_series), {"claim C1", "'dense'"});
  expect_parts(refused(std::string(kTwoSeries) + "gallery: {series: [shared, modular]}\n", &check_series),
               {"the gallery", "'modular'"});
  EXPECT_EQ(refused(std::string(kTwoSeries) + "gallery: {series: [shared, monolithic]}\n", &check_series), "");
}

TEST(CheckSeries, AGridWithoutANameHasASeriesForEachModel) {
  EXPECT_EQ(refused(std::string(kTwoModels) + "gallery: {series: [dense, modular-shared]}\n", &check_series), "");
  expect_parts(refused(std::string(kTwoModels) + "gallery: {series: modular}\n", &check_series), {"'modular'"});
  // With known inputs, modular is modular-fc.
  EXPECT_EQ(refused("parameters: {model: {value: modular}, known_inputs: {values: [true, false]}}\n"
                    "gallery: {series: [modular, modular-fc]}\n",
                    &check_series),
            "");
}

TEST(CheckSettings, MeanSomethingToARun) {
  EXPECT_EQ(refused(kTwoSeries, &check_settings), "") << "tau is for one of the two";
  expect_parts(refused("parameters: {model: {value: dense}, slots: {values: [\"3,2\"]}}\n", &check_settings),
               {"mine.yaml", "slots", "means nothing"});
  expect_parts(refused(R"(parameters: {task: {value: depth2}}
grids:
  - {series: monolithic, parameters: {model: {value: dense}, tau: {value: 1}}}
  - {series: shared, parameters: {model: {value: modular-shared}}}
)",
                       &check_settings),
               {"tau", "series 'monolithic'"});
  expect_parts(
      refused(std::string(kTwoModels) + "presets: {small: {parameters: {samples: {value: 3}}}}\n", &check_settings),
      {"samples", "the study's models"});
  for (const std::string& name : builtin_study_names()) {
    EXPECT_NO_THROW(check_settings(load_study(name))) << name;
  }
}

TEST(CheckSettings, WordsOfACommandLine) {
  Study study = parse_study(kTwoSeries, "mine", "mine.yaml");
  apply_override(study, "series=monolithic");
  EXPECT_NO_THROW(check_overrides(study, {"series=monolithic"})) << "tau of the file has lost its use, nothing more";
  EXPECT_NO_THROW(check_overrides(study, {"lr=0.1", "keep=all"}));
  EXPECT_THROW(check_overrides(study, {"tau=1"}), ConfigError);
}

}  // namespace
}  // namespace modlab::studies
