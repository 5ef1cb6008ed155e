// How often claims err, and how often they see what is there: whole claims on made-up studies whose truth is known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "core/random.h"
#include "studies/claims.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

constexpr int kClaims = 40;
// Splits differ far more than seeds do, as they do in studies of Boolean functions.
constexpr double kSplitDeviation = 4;
constexpr double kSeedDeviation = 1.5;

// What splits and seeds add to each of three measures of a claim's runs.
class Effects {
 public:
  Effects(int claim, const models::RunSpec& spec)
      : splits_(static_cast<std::uint64_t>(claim) * 1000 + spec.split_seed, Stream::kBootstrap),
        seeds_((static_cast<std::uint64_t>(claim) * 1000 + spec.split_seed) * 100 + spec.seed + 7'000'000,
               Stream::kBootstrap) {}
  double next() { return kSplitDeviation * normal(splits_) + kSeedDeviation * normal(seeds_); }

 private:
  // The sum of twelve uniform numbers is normal enough.
  static double normal(RandomSequence& random) {
    double sum = -6;
    for (int term = 0; term < 12; ++term) {
      sum += random.next_word() / 4294967296.0;
    }
    return sum;
  }
  RandomSequence splits_;
  RandomSequence seeds_;
};

struct Counts {
  int hold = 0;
  int fail = 0;
};

// Claims about two series that are `difference` apart in each of three measures; every value of noise is a study of its
// own.
Counts judged(int splits, double difference, const std::string& expect) {
  std::string yaml = fmt::format(
      "tune: none\nparameters: {{task: depth1, ratio: 0.5, noise: [0..{}], split_seed: [40..{}], seed: [0, 1], epochs: "
      "10}}\n"
      "grids:\n  - {{series: a, parameters: {{model: dense}}}}\n  - {{series: b, parameters: {{model: "
      "sparse}}}}\nclaims:\n",
      kClaims - 1, 39 + splits);
  for (int claim = 0; claim < kClaims; ++claim) {
    yaml += fmt::format("  - id: C{}\n    text: a sentence\n    where: {{noise: {}}}\n    checks:\n", claim, claim);
    for (const char* measure : {"train_accuracy", "validation_accuracy", "test_accuracy"}) {
      yaml += fmt::format("      - {{compare: [a, b], measure: {}, expect: {}}}\n", measure, expect);
    }
  }
  MadeUpStudy study(yaml);
  study.train([&](const PlannedRun& run) {
    const models::RunSpec spec = spec_of(run);
    if (study.series(run) == "b") {
      return made_up(65, 65, 65);
    }
    Effects effects(static_cast<int>(spec.noise), spec);
    std::array<double, 3> values{};
    for (double& value : values) {
      value = 65 + difference + effects.next();
    }
    return made_up(values[0], values[1], values[2]);
  });
  Counts counts;
  for (const ClaimResult& claim : evaluate_claims(study.findings())) {
    counts.hold += claim.verdict == Verdict::kHolds ? 1 : 0;
    counts.fail += claim.verdict == Verdict::kFails ? 1 : 0;
  }
  return counts;
}

// 5 % of 40 and three standard deviations.
constexpr int kMostErrors = 6;

// Every number lies just at the edge of the claim, so that each "fails" is an error.
TEST(ClaimErrors, NoMoreThanTheLevelSays) {
  for (const int splits : {3, 5, 10, 30}) {
    const Counts counts = judged(splits, 0, "greater");
    EXPECT_LE(counts.fail, kMostErrors) << splits << " splits";
    EXPECT_LE(counts.hold, kMostErrors) << splits << " splits";
  }
}

TEST(ClaimErrors, EffectsAreSeen) {
  // An effect as large as the deviation of splits: t has a noncentrality of sqrt(splits). All three checks must hold:
  // by the noncentral distribution in about 0.2, 0.7 and all of the claims.
  const Counts five = judged(5, kSplitDeviation, "greater");
  EXPECT_GE(five.hold, kClaims * 12 / 100);
  const Counts ten = judged(10, kSplitDeviation, "greater");
  EXPECT_GE(ten.hold, kClaims * 40 / 100);
  EXPECT_EQ(ten.fail, 0);
  EXPECT_GE(judged(30, kSplitDeviation, "greater").hold, kClaims * 95 / 100);
  EXPECT_GE(judged(10, -kSplitDeviation, "greater").fail, kClaims * 40 / 100);
}

}  // namespace
}  // namespace modlab::studies
