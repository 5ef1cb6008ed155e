#include "models/grid.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "core/errors.h"

namespace modlab::models {
namespace {

Choices choices(const char* name, std::vector<std::string> values) { return {find_setting(name), std::move(values)}; }

TEST(Grid, NoChoicesAreOneRunWithTheDefaults) {
  const std::vector<RunSpec> runs = all_combinations({});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(run_id(runs[0]), run_id(RunSpec{}));
}

TEST(Grid, TheLastChoiceVariesFastest) {
  const std::vector<RunSpec> runs =
      all_combinations({choices("ratio", {"0.3", "0.5"}), choices("lr", {"0.1", "0.01"}), choices("seed", {"4", "7"})});
  const std::vector<std::tuple<double, double, std::uint64_t>> expected = {
      {0.3, 0.1, 4}, {0.3, 0.1, 7}, {0.3, 0.01, 4}, {0.3, 0.01, 7},
      {0.5, 0.1, 4}, {0.5, 0.1, 7}, {0.5, 0.01, 4}, {0.5, 0.01, 7}};
  ASSERT_EQ(runs.size(), expected.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    EXPECT_EQ(std::tuple(runs[run].ratio, runs[run].lr, runs[run].seed), expected[run]) << run;
  }
}

TEST(Grid, SettingsThatMeanNothingToAModelDoNotMultiplyItsRuns) {
  // Two dense runs (noise), eight modular ones (noise, tau, lr_structural), four sparse ones (noise, density).
  const std::vector<RunSpec> runs = all_combinations(
      {choices("model", {"dense", "modular", "sparse"}), choices("noise", {"0", "0.1"}), choices("tau", {"1", "2"}),
       choices("lr_structural", {"0.1", "0.01"}), choices("density", {"0.5", "0.25"})});
  std::map<ModelKind, int> counts;
  for (const RunSpec& run : runs) {
    ++counts[run.model];
  }
  EXPECT_EQ(counts[ModelKind::kDense], 2);
  EXPECT_EQ(counts[ModelKind::kModular], 8);
  EXPECT_EQ(counts[ModelKind::kSparse], 4);
}

TEST(Grid, EqualValuesAreOneRun) {
  EXPECT_EQ(all_combinations({choices("lr", {"0.1", "1e-1", "0.10", "0.2"})}).size(), 2U);
}

TEST(Grid, AllRunsHaveNamesOfTheirOwn) {
  std::set<std::string> ids;
  for (const RunSpec& run :
       all_combinations({choices("model", {"modular", "modular-shared"}), choices("lr", {"0.1", "0.01"}),
                         choices("tau", {"1", "none"}), choices("seed", {"0", "1", "2"})})) {
    ids.insert(run_id(run));
  }
  EXPECT_EQ(ids.size(), 2 * 2 * 2 * 3U);
}

TEST(Grid, AnEmptyListOfValuesHasNoRuns) {
  EXPECT_TRUE(all_combinations({choices("lr", {"0.1", "0.01"}), choices("seed", {})}).empty());
}

TEST(Grid, TooManyRunsAreRefusedBeforeTheyAreMade) {
  std::vector<std::string> many;
  for (int value = 0; value < 4000; ++value) {
    many.push_back(std::to_string(value));
  }
  try {
    all_combinations({choices("seed", many), choices("split_seed", many), choices("epochs", many)});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("more than 5000000 runs"), std::string::npos) << error.what();
  }
}

TEST(Grid, ValuesThatAreNotAllowedAreRefused) {
  EXPECT_THROW(all_combinations({choices("lr", {"0.1", "fast"})}), ConfigError);
  EXPECT_THROW(all_combinations({choices("ratio", {"1.5"})}), ConfigError);
}

}  // namespace
}  // namespace modlab::models
