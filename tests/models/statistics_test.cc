// Whole populations against PyTorch: depth 2, ratio 0.5, split 40, lr 0.01, structural rate 0.1, tau 2, weight decay
// 1e-3, 1000 epochs, test accuracy at the first best validation epoch.

#include <gtest/gtest.h>

#include <cmath>

#include "models/training.h"

namespace modlab {
namespace {

struct Sample {
  double mean = 0;
  double deviation = 0;
  int count = 0;
  int perfect = 0;

  double standard_error() const { return deviation / std::sqrt(count); }
};

Sample test_accuracies(const char* model, int seeds) {
  const test::Trained trained = test::train_seeds({{"task", "depth2"},
                                                   {"model", model},
                                                   {"ratio", "0.5"},
                                                   {"split_seed", "40"},
                                                   {"batch_size", "64"},
                                                   {"lr", "0.01"},
                                                   {"lr_structural", "0.1"},
                                                   {"tau", "2"},
                                                   {"weight_decay", "0.001"},
                                                   {"noise", "0.1"},
                                                   {"epochs", "1000"}},
                                                  seeds);
  Sample sample;
  sample.count = seeds;
  std::vector<double> accuracies;
  for (const engine::LaneResult& result : trained.results) {
    // 16 test rows of two bits.
    accuracies.push_back(100.0 * result.best.scores[engine::Part::kTest].right_bits / 32);
    sample.mean += accuracies.back() / seeds;
    sample.perfect += accuracies.back() == 100 ? 1 : 0;
  }
  for (const double accuracy : accuracies) {
    sample.deviation += (accuracy - sample.mean) * (accuracy - sample.mean) / (seeds - 1);
  }
  sample.deviation = std::sqrt(sample.deviation);
  return sample;
}

double log_choose(int n, int k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

// The chance, if both samples have one rate of success, of tables at most as likely as this one.
double fisher_two_sided(int successes, int count, int other_successes, int other_count) {
  const int total = successes + other_successes;
  const auto log_probability = [&](int k) {
    return log_choose(count, k) + log_choose(other_count, total - k) - log_choose(count + other_count, total);
  };
  double sum = 0;
  for (int k = std::max(0, total - other_count); k <= std::min(count, total); ++k) {
    if (log_probability(k) <= log_probability(successes) + 1e-9) {
      sum += std::exp(log_probability(k));
    }
  }
  return sum;
}

void expect_same_mean(const Sample& ours, const Sample& theirs, double standard_errors) {
  EXPECT_NEAR(ours.mean, theirs.mean, standard_errors * std::hypot(ours.standard_error(), theirs.standard_error()));
}

TEST(Fisher, GivesTheTextbooksNumbers) {
  EXPECT_NEAR(fisher_two_sided(3, 4, 1, 4), 0.485714, 1e-6);  // the lady tasting tea
  EXPECT_NEAR(fisher_two_sided(8, 10, 1, 6), 0.034965, 1e-6);
  EXPECT_NEAR(fisher_two_sided(5, 10, 5, 10), 1.0, 1e-9);
}

// The published model classes: 19 of 24 seeds reach 100 %, mean 98.3.
TEST(Statistics, SharedModulesAreAsGoodAsThePublishedCode) {
  const Sample ours = test_accuracies("modular-shared", 200);
  EXPECT_GT(fisher_two_sided(ours.perfect, ours.count, 19, 24), 0.01)
      << ours.perfect << " of " << ours.count << " are perfect";
  constexpr double kSpread = 4.5;
  expect_same_mean({.mean = ours.mean, .deviation = kSpread, .count = ours.count},
                   {.mean = 98.3, .deviation = kSpread, .count = 24}, 3);
}

// Against 2000 networks each, measured by bench/rivals/distribution.py.
TEST(Statistics, ModularIsAsGoodAsInPyTorch) {
  expect_same_mean(test_accuracies("modular", 400), {.mean = 90.33, .deviation = 7.60, .count = 2000}, 4);
}

TEST(Statistics, DenseIsAsGoodAsInPyTorch) {
  expect_same_mean(test_accuracies("dense", 200), {.mean = 99.24, .deviation = 1.48, .count = 2000}, 4);
}

}  // namespace
}  // namespace modlab
