#include "measures/module_use.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/errors.h"

namespace modlab::measures {
namespace {

constexpr int kRules[] = {2, 4, 8, 16, 32};

ModuleUse one_to_one(int rules) {
  std::vector<double> values(static_cast<std::size_t>(rules) * rules);
  for (int rule = 0; rule < rules; ++rule) {
    // Any order of modules will do.
    values[static_cast<std::size_t>(rule) * rules + (3 * rule + 1) % rules] = 1;
  }
  return {rules, rules, values};
}

ModuleUse one_for_all(int rules, int modules) {
  std::vector<double> values(static_cast<std::size_t>(rules) * modules);
  for (int rule = 0; rule < rules; ++rule) {
    values[static_cast<std::size_t>(rule) * modules + modules / 2] = 7;  // counts, say
  }
  return {rules, modules, values};
}

// The baseline of random gates, which is exactly uniform.
TEST(ModuleUse, Uniform) {
  constexpr double kAdaptation[] = {0.256662, 0.300707, 0.335012, 0.354013, 0.364995};
  double mean = 0;
  for (int place = 0; place < 5; ++place) {
    const int rules = kRules[place];
    const UseMeasures found = measure_use(uniform_use(rules, rules));
    EXPECT_NEAR(found.collapse_avg, 0, 1e-12);
    EXPECT_NEAR(found.collapse_worst, 0, 1e-12);
    EXPECT_NEAR(found.alignment, 1 - 1.0 / rules, 1e-12);
    EXPECT_NEAR(found.imi, 1, 1e-5);
    EXPECT_LE(found.imi, 1) << "a store takes what is beyond for damage";
    EXPECT_NEAR(found.adaptation, kAdaptation[place], 5e-7);
    EXPECT_NEAR(found.entropy, 1, 1e-12);
    EXPECT_EQ(found.dead_modules, 0);
    mean += found.adaptation / 5;
  }
  EXPECT_NEAR(mean, 0.32228, 5e-6);
}

TEST(ModuleUse, OneModuleForEachRule) {
  constexpr double kImi[] = {5e-8, 0, 0, 0, 3e-6};
  for (int place = 0; place < 5; ++place) {
    const UseMeasures found = measure_use(one_to_one(kRules[place]));
    EXPECT_NEAR(found.collapse_avg, 0, 1e-12);
    EXPECT_NEAR(found.collapse_worst, 0, 1e-12);
    EXPECT_NEAR(found.alignment, 0, 1e-12);
    EXPECT_NEAR(found.adaptation, 0, 1e-12);
    EXPECT_NEAR(found.adaptation_matched, 0, 1e-12);
    EXPECT_EQ(found.entropy, 0);
    EXPECT_GT(found.imi, 0) << "the published formula has a small number in it";
    if (kImi[place] > 0) {
      EXPECT_NEAR(found.imi, kImi[place], 0.15 * kImi[place]);
    }
    EXPECT_EQ(found.module_of_rule[1], 4 % kRules[place]);
  }
}

TEST(ModuleUse, OneModuleForAll) {
  constexpr double kAdaptation[] = {0.243338, 0.505183, 0.673650, 0.788735, 0.872655};
  for (int place = 0; place < 5; ++place) {
    const int rules = kRules[place];
    const UseMeasures found = measure_use(one_for_all(rules, rules));
    EXPECT_NEAR(found.collapse_avg, 1, 1e-12);
    EXPECT_NEAR(found.collapse_worst, 1, 1e-12);
    EXPECT_NEAR(found.alignment, 1 - 1.0 / rules, 1e-12);
    EXPECT_NEAR(found.imi, 1, 1e-5);
    EXPECT_LE(found.imi, 1) << "a store takes what is beyond for damage";
    EXPECT_NEAR(found.adaptation, kAdaptation[place], 5e-7);
    EXPECT_EQ(found.dead_modules, rules - 1);
  }
}

// Figure 2 of the paper.
TEST(ModuleUse, TheIllustration) {
  const ModuleUse use(4, 4, {.95, 0, 0, .05, 0, 0, 0, 1, .35, .10, 0, .55, 0, 1, 0, 0});
  const UseMeasures found = measure_use(use);
  const double shares[] = {.325, .275, 0, .4};
  for (std::size_t module = 0; module < 4; ++module) {
    EXPECT_NEAR(found.share[module], shares[module], 1e-12);
  }
  EXPECT_NEAR(found.collapse_avg, 1.0 / 3, 1e-9);
  EXPECT_NEAR(found.collapse_worst, 1, 1e-12);
  EXPECT_NEAR(found.alignment, 0.2625, 1e-12);
  EXPECT_NEAR(found.imi, 0.418912, 5e-7);
  EXPECT_NEAR(found.imi, 1 - 0.805559 / std::log(4.0), 1e-6);
  EXPECT_NEAR(found.adaptation, 0.132995, 5e-7);
  EXPECT_EQ(found.dead_modules, 1);
  EXPECT_EQ(found.module_of_rule, (std::vector<int>{0, 3, 2, 1}));
}

TEST(ModuleUse, PublishedFrequencies) {
  const auto expect = [](const std::vector<double>& drawn, const std::vector<double>& expected) {
    ASSERT_EQ(drawn.size(), expected.size());
    for (std::size_t rule = 0; rule < expected.size(); ++rule) {
      EXPECT_NEAR(drawn[rule], expected[rule], 5e-7);
    }
  };
  expect(drawn_frequencies(2, 0), {0.387890, 0.612110});
  expect(drawn_frequencies(2, 1), {0.297511, 0.702489});
  expect(drawn_frequencies(2, 2), {0.956144, 0.043856});
  expect(drawn_frequencies(4, 0), {0.211543, 0.333826, 0.245393, 0.209238});
}

// More modules than rules or fewer: the best that is possible is 0, independence is what it is.
TEST(ModuleUse, OtherNumbersOfModules) {
  // Three rules, two modules: two rules have one of their own, the third has none.
  const UseMeasures fewer = measure_use({3, 2, {1, 0, 0, 1, 0, 1}});
  EXPECT_NEAR(fewer.alignment, 0, 1e-12);
  EXPECT_EQ(fewer.module_of_rule[0], 0);
  EXPECT_EQ(std::accumulate(fewer.module_of_rule.begin(), fewer.module_of_rule.end(), 0), 0 + 1 - 1);
  EXPECT_NEAR(fewer.collapse_avg, 2 * (0.5 - 1.0 / 3), 1e-12);
  EXPECT_NEAR(fewer.imi, 1 - (std::log(3.0) / 3 + 2.0 / 3 * std::log(1.5)) / std::log(2.0), 1e-6);
  // Two rules, four modules, two of them unused.
  const UseMeasures more = measure_use({2, 4, {0, 0, 5, 0, 0, 5, 0, 0}});
  EXPECT_NEAR(more.alignment, 0, 1e-12);
  EXPECT_NEAR(more.imi, 0, 1e-6);
  EXPECT_NEAR(more.adaptation, 0, 1e-12);
  EXPECT_NEAR(more.collapse_avg, 4.0 / 3 * 0.5, 1e-12);
  EXPECT_EQ(more.dead_modules, 2);
  // A rule spread over two modules of its own: sorted use is further from the rules than it need be.
  const UseMeasures spread = measure_use({2, 3, {0.5, 0.5, 0, 0, 0, 1}});
  EXPECT_NEAR(spread.alignment, 0.25, 1e-12);
  EXPECT_GT(spread.adaptation_matched, 0);
  const UseMeasures uniform = measure_use(uniform_use(3, 5));
  EXPECT_NEAR(uniform.imi, 1, 1e-5);
  EXPECT_NEAR(uniform.collapse_avg, 0, 1e-12);
}

TEST(ModuleUse, MatchedAdaptationSeesWhatSortingHides) {
  const ModuleUse swapped(2, 2, {0, 1, 1, 0});
  EXPECT_NEAR(measure_use(swapped).adaptation_matched, 0, 1e-12) << "another order of modules is as good";
  const UseMeasures mixed = measure_use({2, 2, {0.6, 0.4, 0.4, 0.6}});
  EXPECT_NEAR(mixed.adaptation, mixed.adaptation_matched, 1e-12);
  const UseMeasures crossed = measure_use({3, 3, {0.4, 0.6, 0, 0, 0.4, 0.6, 0.6, 0, 0.4}});
  EXPECT_GT(crossed.adaptation_matched, crossed.adaptation);
}

TEST(ModuleUse, OneRuleOrOneModule) {
  for (const auto& [rules, modules] : {std::pair{1, 1}, std::pair{1, 4}, std::pair{4, 1}}) {
    const UseMeasures found = measure_use(uniform_use(rules, modules));
    EXPECT_EQ(found.imi, 0);
    EXPECT_NEAR(found.collapse_avg, 0, 1e-12);
    EXPECT_NEAR(found.collapse_worst, 0, 1e-12);
    EXPECT_TRUE(std::isfinite(found.adaptation) && std::isfinite(found.alignment));
  }
}

TEST(ModuleUse, WhatIsNoUse) {
  EXPECT_THROW(ModuleUse(0, 2, {}), ConfigError);
  EXPECT_THROW(ModuleUse(2, 0, {}), ConfigError);
  EXPECT_THROW(ModuleUse(1, 2, {-0.1, 1.1}), ConfigError);
  EXPECT_THROW(ModuleUse(1, 2, {std::nan(""), 1}), ConfigError);
  EXPECT_THROW(ModuleUse(1, 2, {INFINITY, 1}), ConfigError);
  EXPECT_THROW(ModuleUse(1, 2, {1e308, 1e308}), ConfigError);
  EXPECT_THROW(ModuleUse(2, 2, {1, 1, 0, 0}), ConfigError);
  EXPECT_THROW(uniform_use(1025, 2), ConfigError);
}

}  // namespace
}  // namespace modlab::measures
