#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "core/errors.h"
#include "experiments/bits/bits.h"
#include "models/blueprint.h"
#include "models/training_settings.h"
#include "studies/study_plan.h"
#include "tasks/task_cache.h"

namespace modlab::studies {
namespace {

using Runs = std::vector<experiments::Run>;

TEST(Grid, NoChoicesAreOneRunWithTheDefaults) {
  const Runs runs = all_combinations({});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].kind, &experiments::bits());
  const models::RunSpec defaults = models::resolve(models::RunSpec{}, *tasks::cached_task(models::RunSpec{}.task));
  EXPECT_EQ(runs[0].id(), models::bit_settings().id(defaults));
}

TEST(Grid, TheLastChoiceVariesFastest) {
  const Runs runs = all_combinations({{"ratio", {"0.3", "0.5"}}, {"lr", {"0.1", "0.01"}}, {"seed", {"4", "7"}}});
  const std::vector<std::tuple<double, double, std::uint64_t>> expected = {
      {0.3, 0.1, 4}, {0.3, 0.1, 7}, {0.3, 0.01, 4}, {0.3, 0.01, 7},
      {0.5, 0.1, 4}, {0.5, 0.1, 7}, {0.5, 0.01, 4}, {0.5, 0.01, 7}};
  ASSERT_EQ(runs.size(), expected.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const models::RunSpec spec = experiments::bit_spec(runs[run].values);
    EXPECT_EQ(std::tuple(spec.ratio, spec.lr, spec.seed), expected[run]) << run;
  }
}

TEST(Grid, SettingsThatMeanNothingToAModelDoNotMultiplyItsRuns) {
  // Two dense runs (noise), eight modular ones (noise, tau, lr_structural), four sparse ones (noise, density).
  const Runs runs = all_combinations({{"model", {"dense", "modular", "sparse"}},
                                      {"noise", {"0", "0.1"}},
                                      {"tau", {"1", "2"}},
                                      {"lr_structural", {"0.1", "0.01"}},
                                      {"density", {"0.5", "0.25"}}});
  std::map<std::string, int> counts;
  for (const experiments::Run& run : runs) {
    ++counts[run.values.text("model")];
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"dense", 2}, {"modular", 8}, {"sparse", 4}}));
}

TEST(Grid, EqualValuesAreOneRun) { EXPECT_EQ(all_combinations({{"lr", {"0.1", "1e-1", "0.10", "0.2"}}}).size(), 2U); }

TEST(Grid, AllRunsHaveNamesOfTheirOwn) {
  std::set<std::string> ids;
  for (const experiments::Run& run : all_combinations({{"model", {"modular", "modular-shared"}},
                                                       {"lr", {"0.1", "0.01"}},
                                                       {"tau", {"1", "none"}},
                                                       {"seed", {"0", "1", "2"}}})) {
    EXPECT_EQ(run.id(), models::bit_settings().id(experiments::bit_spec(run.values)));
    ids.insert(run.id());
  }
  EXPECT_EQ(ids.size(), 2 * 2 * 2 * 3U);
}

TEST(Grid, AnEmptyListOfValuesHasNoRuns) {
  EXPECT_TRUE(all_combinations({{"lr", {"0.1", "0.01"}}, {"seed", {}}}).empty());
}

TEST(Grid, TooManyRunsAreRefusedBeforeTheyAreMade) {
  std::vector<std::string> many;
  for (int value = 0; value < 4000; ++value) {
    many.push_back(std::to_string(value));
  }
  try {
    all_combinations({{"seed", many}, {"split_seed", many}, {"epochs", many}});
    FAIL();
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("these settings multiply to 64000000000 runs"), std::string::npos) << message;
    EXPECT_NE(message.find("at most 5000000 can be planned at once"), std::string::npos) << message;
  }
}

TEST(Grid, ValuesThatAreNotAllowedAreRefused) {
  EXPECT_THROW(all_combinations({{"lr", {"0.1", "fast"}}}), ConfigError);
  EXPECT_THROW(all_combinations({{"ratio", {"1.5"}}}), ConfigError);
  EXPECT_THROW(all_combinations({{"seed", {"1.5"}}}), ConfigError);
}

TEST(Grid, SettingsAreFoundWithDashesAndUnderscores) {
  ASSERT_NE(experiments::find_setting("weight_decay"), nullptr);
  EXPECT_EQ(experiments::find_setting("weight-decay"), experiments::find_setting("weight_decay"));
  EXPECT_EQ(experiments::find_setting("elephants"), nullptr);
}

}  // namespace
}  // namespace modlab::studies
