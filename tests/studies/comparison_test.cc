#include "studies/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/errors.h"
#include "studies/study_plan.h"

namespace modlab::studies {
namespace {

// All combinations of some settings, with test accuracies by hand.
class Compared {
 public:
  Compared(std::vector<Choices> choices, const std::function<double(const experiments::Run& run)>& accuracy)
      : runs_(all_combinations(std::move(choices))) {
    for (const experiments::Run& run : runs_) {
      numbers_.push_back({{"test_accuracy", accuracy(run)}});
    }
  }
  std::vector<Comparison> by(const std::string& setting) const {
    std::vector<ComparedRun> compared;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      compared.push_back({&runs_[at], &numbers_[at]});
    }
    return compare_runs(compared, setting);
  }

 private:
  std::vector<experiments::Run> runs_;
  std::vector<experiments::Numbers> numbers_;
};

double split_of(const experiments::Run& run) { return std::stod(run.values.text("split_seed")); }
bool is_dense(const experiments::Run& run) { return run.values.text("model") == "dense"; }

const Choices kModels = {"model", {"dense", "modular-shared"}};
const Choices kSplits = {"split_seed", {"40", "41", "42", "43", "44"}};
const Choices kSeeds = {"seed", {"0", "1"}};

TEST(CompareRuns, TheModelsSplitBySplit) {
  // Splits are 10, 11, 12, 13 and 14 points apart, and far from each other themselves.
  const Compared runs({kModels, kSplits, kSeeds}, [](const experiments::Run& run) {
    return 3 * (split_of(run) - 40) + 60 + (is_dense(run) ? 0 : split_of(run) - 30);
  });
  const std::vector<Comparison> found = runs.by("");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].value, "modular-shared");
  EXPECT_EQ(found[0].reference, "dense");
  EXPECT_EQ(found[0].where, "");
  EXPECT_EQ(found[0].measure->name, "test_accuracy");
  EXPECT_EQ(found[0].evidence.splits, 5);
  EXPECT_EQ(found[0].evidence.seeds, 10);
  EXPECT_NEAR(found[0].evidence.general.mean, 12, 1e-9);
  EXPECT_NEAR(found[0].evidence.general.high - 12, 2.131847 * std::sqrt(0.5), 1e-5) << "four degrees of freedom";
}

TEST(CompareRuns, AnySettingAndOnePlaceForEachOfTheOthers) {
  const Compared runs({kModels, {"ratio", {"0.3", "0.5"}}, kSplits}, [](const experiments::Run& run) {
    return (is_dense(run) ? 60 : 80) + (run.values.text("ratio") == "0.5" ? 7 : 0);
  });
  const std::vector<Comparison> models = runs.by("");
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].where, "ratio 0.3");
  EXPECT_EQ(models[1].where, "ratio 0.5");
  EXPECT_NEAR(models[1].evidence.general.mean, 20, 1e-9);
  const std::vector<Comparison> ratios = runs.by("ratio");
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_EQ(ratios[0].where, "model dense");
  EXPECT_EQ(ratios[0].value, "0.5");
  EXPECT_NEAR(ratios[0].evidence.general.mean, 7, 1e-9);
}

TEST(CompareRuns, NothingToCompareIsOneClearSentence) {
  const auto message = [](const std::vector<Choices>& choices, const std::string& setting) -> std::string {
    try {
      Compared(choices, [](const experiments::Run&) { return 50; }).by(setting);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message({kSplits, kSeeds}, "").find("nothing to compare"), std::string::npos);
  EXPECT_NE(message({kModels}, "rato").find("did you mean 'ratio'"), std::string::npos);
  EXPECT_NE(message({kModels}, "lr").find("all runs have the same lr"), std::string::npos);
}

}  // namespace
}  // namespace modlab::studies
