#include "studies/claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "studies/check_text.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using test::made_up;
using test::MadeUpStudy;
using test::spec_of;

// Of nine draws that are all equal.
constexpr double kEqualP = 1.0 / 512;

constexpr auto kGrids = R"(
tune: [tau]
parameters: {task: depth1, ratio: [0.1, 0.2, 0.3, 0.4], split_seed: [40..48], epochs: 1000}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: b, parameters: {model: sparse}}
  - {series: c, parameters: {model: modular}}
)";

// -4 to 4, one for each of the nine splits.
double wiggle(const PlannedRun& run) { return static_cast<double>(spec_of(run).split_seed) - 44; }
bool is_first_unit(const PlannedRun& run) { return spec_of(run).split_seed == 40; }

struct Judged {
  Verdict verdict = Verdict::kNoData;
  std::optional<Verdict> here;
  std::string reason;
  std::vector<CheckResult> checks;
};

// What becomes of one claim when series have these results.
using Training = std::function<std::optional<experiments::Result>(const std::string& series, const PlannedRun& run)>;

Judged judge_claim(const std::string& grids, const std::string& claim, const Training& training) {
  MadeUpStudy study(grids + "claims:\n  - id: C\n    text: a sentence\n" + claim);
  study.train([&](const PlannedRun& run) { return training(study.series(run), run); });
  const Findings findings = study.findings();
  const std::vector<ClaimResult> results = evaluate_claims(findings);
  EXPECT_EQ(results.size(), 1U);
  return {results[0].verdict, results[0].here, results[0].reason, results[0].checks};
}

CheckResult judge(const std::string& check, const Training& training, const std::string& grids = kGrids) {
  const Judged judged = judge_claim(grids, "    checks:\n      - " + check + "\n", training);
  EXPECT_EQ(judged.checks.size(), 1U);
  EXPECT_EQ(judged.verdict, judged.checks[0].verdict);
  return judged.checks[0];
}

// Test accuracies of the series; the other parts do not matter.
using Accuracy = std::function<double(const std::string& series, const PlannedRun& run)>;
Training tests(const Accuracy& accuracy) {
  return
      [accuracy](const std::string& series, const PlannedRun& run) { return made_up(90, 80, accuracy(series, run)); };
}
// Series a is above b by this much.
Training apart(const std::function<double(const PlannedRun&)>& difference) {
  return tests([difference](const std::string& series, const PlannedRun& run) {
    return series == "a" ? 70 + difference(run) : 70;
  });
}

std::string compare(const std::string& expectation) {
  return "{compare: [a, b], measure: test_accuracy, expect: " + expectation + "}";
}

TEST(Compare, GreaterHolds) {
  const CheckResult check = judge(compare("greater"), apart([](const auto& run) { return 10 + wiggle(run) * 2; }));
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_EQ(check.seeds, 9);
  ASSERT_TRUE(check.judgement);
  EXPECT_NEAR(check.judgement->mean, 10, 1e-9);
  // Nine splits with a deviation of 2 sqrt(7.5): an error of 1.83, and 1.86 of them with eight degrees of freedom.
  EXPECT_NEAR(check.judgement->low, 10 - 3.395, 0.001);
  EXPECT_NEAR(check.judgement->high, 10 + 3.395, 0.001);
  EXPECT_NEAR(check.judgement->p_wrong, 0.000294, 1e-6);
  EXPECT_EQ(check.judgement->population, "over 9 splits");
  EXPECT_EQ(check.expectation, "above");
  EXPECT_EQ(check.unit, "points");
  EXPECT_FALSE(check.is_factor);
  EXPECT_EQ(check.note, "");
  EXPECT_EQ(check.text, "test accuracy: a against b");
}

TEST(Compare, GreaterFails) {
  const CheckResult check = judge(compare("greater"), apart([](const auto& run) { return -10 + wiggle(run) * 2; }));
  EXPECT_EQ(check.verdict, Verdict::kFails);
  EXPECT_NEAR(check.judgement->mean, -10, 1e-9);
  EXPECT_GT(check.judgement->p_wrong, 0.999) << "p is that the expectation is wrong";
}

TEST(Compare, GreaterIsUndecided) {
  const CheckResult check = judge(compare("greater"), apart([](const auto& run) { return 0.5 + wiggle(run) * 2; }));
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_GT(check.judgement->p_wrong, 0.25);
  EXPECT_LT(check.judgement->p_wrong, 0.55);
}

TEST(Compare, LessIsGreaterTheOtherWayRound) {
  const auto less = [](double difference) {
    return judge(compare("less"), apart([difference](const auto& run) { return difference + wiggle(run) * 2; }));
  };
  const CheckResult holds = less(-10);
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_NEAR(holds.judgement->mean, -10, 1e-9);
  EXPECT_LT(holds.judgement->low, holds.judgement->high);
  EXPECT_NEAR(holds.judgement->p_wrong, 0.000294, 1e-6);
  const CheckResult fails = less(10);
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_GT(fails.judgement->p_wrong, 0.999);
  EXPECT_EQ(less(0).verdict, Verdict::kUndecided);
}

TEST(Compare, EqualRunsSpeakForNobody) {
  // One split of nine differs: t is 1, with eight degrees of freedom.
  for (const char* expectation : {"greater", "less"}) {
    for (const double difference : {9.0, -9.0}) {
      const CheckResult check =
          judge(compare(expectation), apart([&](const auto& run) { return is_first_unit(run) ? difference : 0.0; }));
      EXPECT_EQ(check.verdict, Verdict::kUndecided) << expectation << " " << difference;
      EXPECT_NEAR(check.judgement->mean, difference / 9, 1e-9);
      const bool speaks_for_it = (expectation == std::string("greater")) == (difference > 0);
      EXPECT_NEAR(check.judgement->p_wrong, speaks_for_it ? 0.1733 : 0.8267, 1e-4) << expectation << " " << difference;
    }
    const CheckResult equal = judge(compare(expectation), apart([](const auto& /*run*/) { return 0.0; }));
    EXPECT_EQ(equal.verdict, Verdict::kUndecided);
    EXPECT_DOUBLE_EQ(equal.judgement->p_wrong, 1);
  }
}

TEST(Compare, AtLeastAllowsItsMargin) {
  const auto at_least = [](double difference, double spread, const char* margin) {
    return judge(compare(std::string("at_least, margin: ") + margin),
                 apart([=](const auto& run) { return difference + wiggle(run) * spread; }))
        .verdict;
  };
  EXPECT_EQ(at_least(10, 1, "1"), Verdict::kHolds);
  EXPECT_EQ(at_least(0, 0, "1"), Verdict::kHolds);
  EXPECT_EQ(at_least(-0.5, 0, "1"), Verdict::kHolds) << "within the margin";
  EXPECT_EQ(at_least(-0.5, 0, "0.25"), Verdict::kFails);
  EXPECT_EQ(at_least(-2, 0.1, "1"), Verdict::kFails);
  EXPECT_EQ(at_least(-2, 0.1, "3"), Verdict::kHolds);
  EXPECT_EQ(at_least(0, 2, "1"), Verdict::kUndecided) << "too wide to exclude that it is lower";
  EXPECT_EQ(at_least(-2, 5, "1"), Verdict::kUndecided);
}

TEST(Compare, AtMostIsAtLeastTheOtherWayRound) {
  const auto at_most = [](double difference, double spread) {
    return judge(compare("at_most, margin: 1"),
                 apart([=](const auto& run) { return difference + wiggle(run) * spread; }));
  };
  EXPECT_EQ(at_most(-10, 1).verdict, Verdict::kHolds);
  EXPECT_LT(at_most(-10, 1).judgement->p_wrong, 1e-5);
  EXPECT_EQ(at_most(0.5, 0).verdict, Verdict::kHolds);
  EXPECT_EQ(at_most(2, 0.1).verdict, Verdict::kFails);
  EXPECT_EQ(at_most(0, 2).verdict, Verdict::kUndecided);
}

TEST(Compare, ComparableIsWithinItsMargin) {
  const auto comparable = [](double difference, double spread) {
    return judge(compare("comparable"), apart([=](const auto& run) { return difference + wiggle(run) * spread; }));
  };
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(comparable(sign * 2.9, 0).verdict, Verdict::kHolds) << "within three points";
    EXPECT_EQ(comparable(sign * 3.1, 0).verdict, Verdict::kFails);
    EXPECT_EQ(comparable(sign * 10, 1).verdict, Verdict::kFails);
    EXPECT_EQ(comparable(sign * 4, 3).verdict, Verdict::kUndecided);
  }
  EXPECT_EQ(comparable(1, 0.5).verdict, Verdict::kHolds) << "so is the whole interval";
  EXPECT_EQ(comparable(1, 2).verdict, Verdict::kUndecided) << "the mean is, the interval is not";
}

TEST(Compare, AThresholdTakesThePlaceOfZero) {
  const auto above = [](const std::string& expectation) {
    return judge(compare(expectation), apart([](const auto& run) { return 10 + wiggle(run); }));
  };
  const CheckResult holds = above("greater, threshold: 5");
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_NEAR(holds.judgement->mean, 10, 1e-9) << "the number shown stays what it is";
  EXPECT_EQ(above("greater, threshold: 15").verdict, Verdict::kFails);
  const CheckResult undecided = above("greater, threshold: 10");
  EXPECT_EQ(undecided.verdict, Verdict::kUndecided);
  EXPECT_NEAR(undecided.judgement->p_wrong, 0.5, 0.1);
  EXPECT_EQ(above("less, threshold: 15").verdict, Verdict::kHolds);
  EXPECT_EQ(above("comparable, threshold: 9").verdict, Verdict::kHolds);
}

TEST(Compare, RunsAreComparedWithTheirPairs) {
  // Splits and seeds differ far more than the series do.
  const Training training = tests(
      [](const std::string& series, const PlannedRun& run) { return 70 + 5 * wiggle(run) + (series == "a" ? 1 : 0); });
  const CheckResult check = judge(compare("greater"), training);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_NEAR(check.judgement->low, 1, 1e-9);
  EXPECT_NEAR(check.judgement->high, 1, 1e-9);
}

TEST(Compare, ARunWithoutItsPairIsLeftOut) {
  const CheckResult check = judge(compare("greater"), [](const std::string& series, const PlannedRun& run) {
    if (series == "b" && is_first_unit(run) && spec_of(run).ratio == 0.3) {
      return std::optional<experiments::Result>();
    }
    return std::optional(made_up(90, 80, series == "b" ? 70 : is_first_unit(run) ? 0 : 75));
  });
  EXPECT_EQ(check.seeds, 8);
  EXPECT_NEAR(check.judgement->mean, 5, 1e-9);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
}

// The accuracies of a and b at the four ratios.
Training at_ratios(const std::vector<double>& a, const std::vector<double>& b) {
  return tests([a, b](const std::string& series, const PlannedRun& run) {
    const auto at = static_cast<std::size_t>(std::lround(spec_of(run).ratio * 10)) - 1;
    return series == "a" ? a.at(at) : b.at(at);
  });
}

TEST(Compare, LeavesOutWhereBothAreSaturatedOrBothAtTheBaseRate) {
  // Depth 1 has a base rate of 50; 2 points above it still count as at it.
  CheckResult check = judge(compare("greater"), at_ratios({51.9, 80, 90, 99.1}, {30, 70, 85, 100}));
  EXPECT_NEAR(check.judgement->mean, (10 + 5) / 2.0, 1e-9);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_EQ(check.covered, "at 2 of 4 points");
  // One of the two is enough for a point to count.
  check = judge(compare("greater"), at_ratios({60, 80, 90, 99}, {51, 70, 85, 100}));
  EXPECT_NEAR(check.judgement->mean, (9 + 10 + 5 - 1) / 4.0, 1e-9);
  EXPECT_EQ(check.covered, "");
  EXPECT_EQ(check.note, "");
}

TEST(Compare, WhereNothingIsLeftNobodyIsAbove) {
  const std::vector<double> higher = {99.9, 100, 100, 51};
  const std::vector<double> lower = {99.2, 99.5, 99.5, 50};
  for (const char* expectation : {"greater", "less"}) {
    const CheckResult check = judge(compare(expectation), at_ratios(higher, lower));
    EXPECT_EQ(check.verdict, Verdict::kUndecided) << expectation;
    EXPECT_NE(check.note.find("everywhere"), std::string::npos) << check.note;
    EXPECT_NEAR(check.judgement->mean, (0.7 + 0.5 + 0.5 + 1) / 4, 1e-9);
  }
  EXPECT_EQ(judge(compare("comparable"), at_ratios(higher, lower)).verdict, Verdict::kHolds) << "they are alike";
  EXPECT_EQ(judge(compare("at_least"), at_ratios(lower, higher)).verdict, Verdict::kHolds);
}

TEST(Compare, EachSideHasTheBaseRateOfItsTask) {
  const std::string grids = R"(
parameters: {task: [depth1, depth3], ratio: [0.1, 0.2], split_seed: [40..48]}
grids:
  - {series: a, parameters: {model: dense}}
)";
  // Both at their base rates, 50 and 62.5, at ratio 0.1; apart at 0.2.
  const CheckResult check =
      judge("{compare: [{task: depth1}, {task: depth3}], measure: test_accuracy, expect: greater}",
            tests([](const std::string& /*series*/, const PlannedRun& run) {
              return spec_of(run).ratio == 0.1 ? (spec_of(run).task == "depth1" ? 51 : 63)
                                               : (spec_of(run).task == "depth1" ? 95 : 80);
            }),
            grids);
  EXPECT_NEAR(check.judgement->mean, 15, 1e-9);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_EQ(check.covered, "at 1 of 2 points");
}

TEST(Compare, OnlyAccuraciesSaturate) {
  // Perfect on training rows: a gap of 0 is a number like any other.
  const Training training = [](const std::string& series, const PlannedRun& /*run*/) {
    return made_up(100, 100, series == "a" ? 99.2 : 99.6);
  };
  const CheckResult check = judge("{compare: [a, b], measure: generalisation_gap, expect: greater}", training);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_NEAR(check.judgement->mean, 0.4, 1e-9);
  EXPECT_EQ(check.note, "");
}

TEST(Compare, LogarithmsAreShownAsFactors) {
  // Full batches: as many updates as epochs. 1000 against 10 everywhere.
  const Training training = [](const std::string& series, const PlannedRun& /*run*/) {
    return made_up(90, 80, 70, series == "a" ? 1000 : 10);
  };
  CheckResult check = judge("{compare: [a, b], measure: updates, expect: greater}", training);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_TRUE(check.is_factor);
  EXPECT_NEAR(check.judgement->mean, 2, 1e-9);
  EXPECT_EQ(
      number_text(check),
      "a factor of 100 (the same in all, so that at most 28 % differ, over 9 splits); expected above a factor of 1");
  check = judge("{compare: [b, a], measure: updates, expect: less}", training);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_TRUE(number_text(check).starts_with("a factor of 0.01 (")) << number_text(check);
  EXPECT_TRUE(number_text(check).ends_with("expected below a factor of 1")) << number_text(check);
  check = judge("{compare: [a, b], measure: updates, expect: comparable, margin: 0.477}", training);
  EXPECT_EQ(check.verdict, Verdict::kFails);
  EXPECT_TRUE(number_text(check).ends_with("expected within a factor of 3")) << number_text(check);
}

TEST(Compare, SelectsByMoreThanTheSeries) {
  const Training training = tests([](const std::string& series, const PlannedRun& run) {
    return series == "a" ? 100 * spec_of(run).ratio + 60 : 70;
  });
  // Ratios 0.1 and 0.2 of a: 70 and 80, their mean is 75; b 70.
  const CheckResult check = judge(
      "{compare: [{series: a, ratio: [0.1, 0.20]}, {series: b, ratio: [0.1, 0.2]}], measure: test_accuracy}", training);
  EXPECT_NEAR(check.judgement->mean, 5, 1e-9);
  EXPECT_EQ(check.text, "test accuracy: ratio 0.1/0.2, a against ratio 0.1/0.2, b");
}

TEST(Compare, NoData) {
  const CheckResult check = judge(compare("greater"), [](const std::string& series, const PlannedRun& /*run*/) {
    return series == "a" ? std::optional(made_up(90, 80, 70)) : std::nullopt;
  });
  EXPECT_EQ(check.verdict, Verdict::kNoData);
  EXPECT_FALSE(check.judgement);
  EXPECT_EQ(check.seeds, 0);
}

TEST(Compare, NoDataWhereTheMeasureMeansNothing) {
  const CheckResult check =
      judge("{compare: [a, b], measure: edit_distance}", apart([](const auto& /*run*/) { return 1.0; }));
  EXPECT_EQ(check.verdict, Verdict::kNoData);
}

TEST(Trend, IsTheChangeFromOneEndToTheOther) {
  const auto sloped = [](double slope) {
    return tests([slope](const std::string& /*series*/, const PlannedRun& run) {
      return 70 + slope * spec_of(run).ratio + wiggle(run);
    });
  };
  const std::string check = "{trend: a, along: ratio, measure: test_accuracy, expect: ";
  const CheckResult up = judge(check + "greater}", sloped(50));
  EXPECT_EQ(up.verdict, Verdict::kHolds);
  EXPECT_NEAR(up.judgement->mean, 50 * 0.3, 1e-9);
  EXPECT_EQ(up.seeds, 9);
  EXPECT_DOUBLE_EQ(up.judgement->p_wrong, kEqualP);
  EXPECT_EQ(up.text, "test accuracy of a as ratio grows");
  EXPECT_EQ(judge(check + "greater}", sloped(-50)).verdict, Verdict::kFails);
  EXPECT_EQ(judge(check + "less}", sloped(-50)).verdict, Verdict::kHolds);
  EXPECT_EQ(judge(check + "at_least, margin: 20}", sloped(-50)).verdict, Verdict::kHolds);
  EXPECT_EQ(judge(check + "comparable, margin: 10}", sloped(-50)).verdict, Verdict::kFails);
  EXPECT_EQ(judge(check + "greater, threshold: 20}", sloped(50)).verdict, Verdict::kFails);
}

TEST(Trend, IsTheFittedLinesChange) {
  // 70, 70, 70, 80 at 0.1 to 0.4: the slope is 1.5 x 10 / 5 = 3 for each of three steps.
  const CheckResult check = judge(
      "{trend: a, along: ratio, measure: test_accuracy}",
      tests([](const std::string& /*series*/, const PlannedRun& run) { return spec_of(run).ratio > 0.35 ? 80 : 70; }));
  EXPECT_NEAR(check.judgement->mean, 9, 1e-9);
}

TEST(Trend, OfLogarithms) {
  const CheckResult check = judge("{trend: a, along: ratio, measure: updates, expect: less}",
                                  [](const std::string& /*series*/, const PlannedRun& run) {
                                    const int epochs[] = {1000, 100, 10, 1};
                                    return made_up(90, 80, 70, epochs[std::lround(spec_of(run).ratio * 10) - 1]);
                                  });
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_NEAR(check.judgement->mean, -3, 1e-9);
  EXPECT_EQ(
      number_text(check),
      "a factor of 0.001 (the same in all, so that at most 28 % differ, over 9 splits); expected below a factor of 1");
}

TEST(Trend, NeedsTwoPlacesAndNumbers) {
  const Training training = [](const std::string& /*series*/, const PlannedRun& run) {
    return spec_of(run).ratio < 0.15 ? std::optional(made_up(90, 80, 70)) : std::nullopt;
  };
  EXPECT_EQ(judge("{trend: a, along: ratio, measure: test_accuracy}", training).verdict, Verdict::kNoData);
  EXPECT_EQ(judge("{trend: a, along: task, measure: test_accuracy}", apart([](const auto&) { return 1.0; })).verdict,
            Verdict::kNoData);
}

TEST(Value, IsTheMeanOfOneSide) {
  const auto value = [](const std::string& rest) {
    return judge("{value: a, measure: test_accuracy, " + rest + "}",
                 tests([](const std::string& /*series*/, const PlannedRun& run) { return 60 + wiggle(run); }));
  };
  const CheckResult check = value("expect: greater");
  EXPECT_NEAR(check.judgement->mean, 60, 1e-9);
  EXPECT_EQ(check.unit, "%");
  EXPECT_EQ(check.text, "test accuracy of a");
  EXPECT_EQ(value("expect: greater, threshold: 50").verdict, Verdict::kHolds);
  EXPECT_EQ(value("expect: greater, threshold: 70").verdict, Verdict::kFails);
  EXPECT_EQ(value("expect: at_most, threshold: 58, margin: 5").verdict, Verdict::kHolds);
  EXPECT_EQ(value("expect: at_most, threshold: 50, margin: 5").verdict, Verdict::kFails);
  EXPECT_EQ(value("expect: comparable, threshold: 61, margin: 3").verdict, Verdict::kHolds);
}

// One network that is right or not on each of nine splits: four of nine, an exact interval (Clopper and Pearson).
TEST(Value, OfSplitsThatSayYesOrNoIsCounted) {
  const auto value = [](const std::string& rest) {
    return judge("{value: a, measure: perfect, " + rest + "}",
                 [](const std::string& /*series*/, const PlannedRun& run) {
                   const double right = wiggle(run) > 0 ? 100 : 0;
                   return made_up(right, right, right);
                 });
  };
  const CheckResult check = value("expect: at_least, threshold: 70");
  EXPECT_NEAR(check.judgement->mean, 400.0 / 9, 1e-9);
  EXPECT_NEAR(check.judgement->low, 16.8750, 1e-3);
  EXPECT_NEAR(check.judgement->high, 74.8632, 1e-3);
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_EQ(value("expect: at_least, threshold: 76").verdict, Verdict::kFails);
  EXPECT_EQ(value("expect: at_least, threshold: 16").verdict, Verdict::kHolds);
}

// Five networks of which all learn may well be from many of which one in three does not. Five accuracies of 100 % of
// thousands of answers are no five yeses.
TEST(Value, OfTrialsCountsWhatIsYesOrNoAlone) {
  const auto value = [](const std::string& model, const std::string& task, const std::string& measure) {
    return judge(
        "{value: a, measure: " + measure + ", expect: at_least, threshold: 99}",
        [&](const std::string& /*series*/, const PlannedRun& run) {
          experiments::Result result;
          const experiments::Parts parts = run.run.kind->parts();
          for (const std::string& name : {parts.headline, parts.validation, measure}) {
            result.snapshots["best"][name] = experiments::find_measure(name)->unit == "%" ? 100 : 1;
          }
          return result;
        },
        "tune: none\nparameters: {model: " + model + ", task: " + task +
            ", seed: [0..4]}\ngrids:\n  - {series: a, parameters: {}}\n");
  };
  const CheckResult learned = value("sculpted", "sculpt/4-2-4", "learned");
  EXPECT_NEAR(learned.judgement->low, 100 * std::pow(0.05, 1.0 / 5), 1e-6);
  EXPECT_EQ(learned.verdict, Verdict::kUndecided);
  const CheckResult accuracy = value("masked", "add-mul", "own_accuracy");
  EXPECT_EQ(accuracy.judgement->low, 100);
  EXPECT_EQ(accuracy.verdict, Verdict::kHolds);
}

TEST(Value, OfALogarithmIsNoFactor) {
  const CheckResult check =
      judge("{value: a, measure: updates, expect: less, threshold: 3}",
            [](const std::string& /*series*/, const PlannedRun& /*run*/) { return made_up(90, 80, 70, 100); });
  EXPECT_EQ(check.verdict, Verdict::kHolds) << "fewer than 10^3";
  EXPECT_NEAR(check.judgement->mean, 100, 1e-9);
  EXPECT_FALSE(check.is_factor);
  EXPECT_EQ(number_text(check),
            "100 updates (the same in all, so that at most 28 % differ, over 9 splits); expected below 1000 updates");
}

// 95 % from this ratio on; above 0.4 is never.
Training reached(double a, double b) {
  return tests([a, b](const std::string& series, const PlannedRun& run) {
    return spec_of(run).ratio > (series == "a" ? a : b) - 0.05 ? 96 : 80;
  });
}

TEST(Reaches, ComparesTheFirstRatiosThatReachTheLevel) {
  const std::string check = "{reaches: [a, b], measure: test_accuracy, along: ratio, expect: at_least, margin: 0.05}";
  CheckResult result = judge(check, reached(0.2, 0.4));
  EXPECT_EQ(result.verdict, Verdict::kHolds);
  EXPECT_NEAR(result.judgement->mean, 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(result.judgement->p_wrong, kEqualP);
  EXPECT_EQ(result.note, "the means reach 95 % at 0.2 and 0.4");
  EXPECT_EQ(result.unit, "of ratio");
  EXPECT_EQ(result.seeds, 9);
  EXPECT_EQ(result.text, "a reaches 95 % test accuracy no later than b");
  EXPECT_EQ(judge(check, reached(0.3, 0.3)).verdict, Verdict::kHolds) << "no later";
  result = judge(check, reached(0.4, 0.1));
  EXPECT_EQ(result.verdict, Verdict::kFails);
  EXPECT_NEAR(result.judgement->mean, -0.3, 1e-9);
}

TEST(Reaches, NeverIsBeyondTheEnd) {
  const std::string check = "{reaches: [a, b], measure: test_accuracy, along: ratio, expect: at_least, margin: 0.05}";
  const CheckResult one = judge(check, reached(0.4, 9));
  EXPECT_EQ(one.verdict, Verdict::kHolds);
  EXPECT_NEAR(one.judgement->mean, 0.1, 1e-9) << "one step";
  EXPECT_EQ(one.note, "the means reach 95 % at 0.4 and never");
  EXPECT_EQ(judge(check, reached(9, 0.4)).verdict, Verdict::kFails);
  const CheckResult both = judge(check, reached(9, 9));
  EXPECT_EQ(both.note, "the means reach 95 % at never and never");
  EXPECT_EQ(both.verdict, Verdict::kUndecided) << "who would be the first cannot be seen";
}

TEST(Reaches, OtherLevelsAndThresholds) {
  const std::string check = "{reaches: [a, b], measure: test_accuracy, along: ratio, ";
  EXPECT_EQ(judge(check + "level: 97, expect: at_least}", reached(0.1, 0.2)).note,
            "the means reach 97 % at never and never");
  EXPECT_EQ(judge(check + "level: 80, expect: at_least}", reached(0.3, 0.4)).note,
            "the means reach 80 % at 0.1 and 0.1");
  EXPECT_EQ(judge(check + "expect: greater, threshold: 0.1}", reached(0.1, 0.3)).verdict, Verdict::kHolds);
  const CheckResult fails = judge(check + "expect: greater, threshold: 0.25}", reached(0.1, 0.3));
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_DOUBLE_EQ(fails.judgement->p_wrong, 1) << "p speaks of the threshold";
  EXPECT_NEAR(fails.judgement->mean, 0.2, 1e-9);
}

Training correlated(double sign) {
  return [sign](const std::string& /*series*/, const PlannedRun& run) {
    experiments::Result result = made_up(90, 80, 70 + 50 * spec_of(run).ratio + 0.1 * wiggle(run));
    result.snapshots["best"]["specialisation"] = 0.5 + sign * spec_of(run).ratio + 0.001 * wiggle(run);
    return result;
  };
}

TEST(Tracks, IsTheRankCorrelationOverTheSharedAxes) {
  const std::string check = "{tracks: c, measure: specialisation, other: test_accuracy, threshold: 0.5}";
  const CheckResult holds = judge(check, correlated(1));
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_NEAR(holds.judgement->mean, 1, 1e-9);
  EXPECT_EQ(holds.unit, "rank correlation");
  EXPECT_DOUBLE_EQ(holds.judgement->p_wrong, kEqualP);
  EXPECT_EQ(holds.text, "|correlation| with the first level's gate of c goes with its test accuracy");
  const CheckResult fails = judge(check, correlated(-1));
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_NEAR(fails.judgement->mean, -1, 1e-9);
}

TEST(Tracks, NeedsThreePlaces) {
  const Training training = [](const std::string& series, const PlannedRun& run) {
    return spec_of(run).ratio < 0.25 ? correlated(1)(series, run) : std::nullopt;
  };
  EXPECT_EQ(judge("{tracks: c, measure: specialisation, other: test_accuracy}", training).verdict, Verdict::kNoData);
  EXPECT_EQ(judge("{tracks: a, measure: specialisation, other: test_accuracy}",
                  tests([](const std::string&, const PlannedRun&) { return 70; }))
                .verdict,
            Verdict::kNoData)
      << "means nothing to a dense network";
}

constexpr auto kRates = R"(
tune: [tau]
parameters: {task: depth1, model: modular, lr: [0.1, 0.01, 0.001], ratio: [0.1, 0.2], split_seed: [40..48]}
grids:
  - {series: a}
)";

Training at_rates(double tenth, double hundredth, double thousandth) {
  return [=](const std::string& /*series*/, const PlannedRun& run) {
    const double value = spec_of(run).lr == 0.1 ? tenth : spec_of(run).lr == 0.01 ? hundredth : thousandth;
    experiments::Result result = made_up(90, 80, value + 0.01 * wiggle(run));
    result.snapshots["best"]["edit_distance"] = value;
    return result;
  };
}

TEST(BestAt, IsTheLeadOverTheBestOfTheOthers) {
  const std::string check = "{best_at: {lr: 1e-2}, of: a, measure: test_accuracy, expect: greater}";
  const CheckResult holds = judge(check, at_rates(80, 90, 60), kRates);
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_NEAR(holds.judgement->mean, 10, 1e-9);
  EXPECT_EQ(holds.note, "best of the others: lr 0.1");
  EXPECT_EQ(holds.seeds, 9);
  const CheckResult fails = judge(check, at_rates(80, 70, 60), kRates);
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_NEAR(fails.judgement->mean, -10, 1e-9);
  EXPECT_EQ(judge("{best_at: {lr: 0.01}, measure: test_accuracy, threshold: 15}", at_rates(80, 90, 60), kRates).verdict,
            Verdict::kFails);
}

TEST(BestAt, TheBestMayBeTheLowest) {
  const std::string check = "{best_at: {lr: 0.01}, of: a, measure: edit_distance, expect: less}";
  const CheckResult holds = judge(check, at_rates(5, 2, 4), kRates);
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_NEAR(holds.judgement->mean, -2, 1e-9);
  EXPECT_EQ(holds.note, "best of the others: lr 0.001");
  EXPECT_EQ(judge(check, at_rates(1, 2, 4), kRates).verdict, Verdict::kFails);
}

TEST(BestAt, SeveralValuesAreTakenTogether) {
  const CheckResult check =
      judge("{best_at: {lr: [0.1, 0.01]}, of: a, measure: test_accuracy}", at_rates(80, 90, 60), kRates);
  EXPECT_NEAR(check.judgement->mean, 85 - 60, 1e-9);
}

TEST(BestAt, NoData) {
  EXPECT_EQ(judge("{best_at: {lr: 0.5}, of: a, measure: test_accuracy}", at_rates(1, 2, 3), kRates).verdict,
            Verdict::kNoData);
  EXPECT_EQ(
      judge("{best_at: {lr: [0.1, 0.01, 0.001]}, of: a, measure: test_accuracy}", at_rates(1, 2, 3), kRates).verdict,
      Verdict::kNoData);
}

TEST(Every, OneRunIsEnoughToFail) {
  const std::string check = "{every: c, given: {train_accuracy: 100, test_accuracy: 100}, then: {edit_distance: 0}}";
  // Ratios 0.3 and 0.4 are right on all rows: 18 runs; `others` of them have another wiring.
  const auto perfect = [](int others) {
    return [others](const std::string& /*series*/, const PlannedRun& run) {
      experiments::Result result = spec_of(run).ratio > 0.25 ? made_up(100, 100, 100) : made_up(100, 100, 99);
      result.snapshots["best"]["edit_distance"] = spec_of(run).ratio < 0.25          ? 7
                                                  : others > 0 && is_first_unit(run) ? 1
                                                                                     : 0;
      return std::optional(result);
    };
  };
  const CheckResult holds = judge(check, perfect(0));
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_EQ(holds.splits, 9);
  EXPECT_EQ(holds.note, "all 18 such runs do");
  EXPECT_EQ(number_text(holds),
            "0 % (the same in all, so that at most 28 % differ, over 9 splits); expected none that does not");
  EXPECT_EQ(holds.text, "c with test accuracy 100 %, training accuracy 100 % have graph edit distance 0");
  const CheckResult fails = judge(check, perfect(1));
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_EQ(fails.note, "2 of 18 such runs do not");
  const CheckResult none = judge(check, tests([](const std::string&, const PlannedRun&) { return 99; }));
  EXPECT_EQ(none.verdict, Verdict::kNoData);
  EXPECT_EQ(none.note, "no run meets the condition");
}

TEST(FlopTable, HoldsWithTheOneMisprint) {
  const CheckResult check =
      judge("{flop_table: all}", [](const std::string&, const PlannedRun&) { return std::nullopt; });
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_NE(check.note.find("59 of 60"), std::string::npos) << check.note;
}

constexpr auto kTwoTasks = R"(
parameters: {task: [depth1, depth2], ratio: [0.1, 0.2], split_seed: [40..48]}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: b, parameters: {model: sparse}}
)";
constexpr auto kEachTask = R"(
    each: task
    checks:
      - {compare: [a, b], measure: test_accuracy, expect: greater}
      - {compare: [a, b], measure: train_accuracy, expect: comparable}
)";

// By how much a is above b on the two tasks.
Training on_tasks(double depth1, double depth2) {
  return tests([=](const std::string& series, const PlannedRun& run) {
    return 80 + wiggle(run) * (series == "a" ? 0.1 : 0) +
           (series == "b"                   ? 0
            : spec_of(run).task == "depth1" ? depth1
                                            : depth2);
  });
}

TEST(Claim, IsCheckedForEachValueOfAnAxis) {
  const Judged judged = judge_claim(kTwoTasks, kEachTask, on_tasks(10, 5));
  EXPECT_EQ(judged.verdict, Verdict::kHolds);
  EXPECT_EQ(judged.reason, "4 of 4 checks hold");
  ASSERT_EQ(judged.checks.size(), 4U);
  EXPECT_EQ(judged.checks[0].text, "depth1: test accuracy: a against b");
  EXPECT_NEAR(judged.checks[0].judgement->mean, 10, 1e-9);
  EXPECT_EQ(judged.checks[2].text, "depth2: test accuracy: a against b");
  EXPECT_NEAR(judged.checks[2].judgement->mean, 5, 1e-9);
  EXPECT_EQ(judged.checks[3].text, "depth2: training accuracy: a against b");
}

TEST(Claim, FailsIfOneCheckFails) {
  const Judged fails = judge_claim(kTwoTasks, kEachTask, on_tasks(10, -5));
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_EQ(fails.reason, "3 of 4 checks hold, 1 fails");
  const Judged both = judge_claim(kTwoTasks, kEachTask, on_tasks(-10, -5));
  EXPECT_EQ(both.reason, "2 of 4 checks hold, 2 fail");
  const Judged undecided = judge_claim(kTwoTasks, kEachTask, on_tasks(10, 0));
  EXPECT_EQ(undecided.verdict, Verdict::kUndecided);
  EXPECT_EQ(undecided.reason, "3 of 4 checks hold, 1 undecided");
  const Judged mixed = judge_claim(kTwoTasks, kEachTask, on_tasks(-10, 0));
  EXPECT_EQ(mixed.verdict, Verdict::kFails);
  EXPECT_EQ(mixed.reason, "2 of 4 checks hold, 1 fails, 1 undecided");
}

TEST(Claim, WithoutRunsHasNoData) {
  const Training nothing = [](const std::string&, const PlannedRun&) { return std::nullopt; };
  const Judged none = judge_claim(kTwoTasks, kEachTask, nothing);
  EXPECT_EQ(none.verdict, Verdict::kNoData);
  EXPECT_EQ(none.reason, "no runs for it in this study yet");
  // Half of it: what is there is not enough to hold.
  const Judged half = judge_claim(kTwoTasks, R"(
    checks:
      - {compare: [{series: a, task: depth1}, {series: b, task: depth1}], measure: test_accuracy}
      - {compare: [{series: a, task: depth2}, {series: b, task: depth2}], measure: test_accuracy}
)",
                                  [](const std::string& series, const PlannedRun& run) {
                                    return spec_of(run).task == "depth1" ? on_tasks(10, 10)(series, run) : std::nullopt;
                                  });
  EXPECT_EQ(half.verdict, Verdict::kUndecided);
  EXPECT_EQ(half.checks[0].verdict, Verdict::kHolds);
  EXPECT_EQ(half.checks[1].verdict, Verdict::kNoData);
}

TEST(Claim, WhereAndOver) {
  // a is above b by 10 at ratio 0.1 and below it by 30 at 0.2.
  const Training training = tests([](const std::string& series, const PlannedRun& run) {
    return series == "b" ? 85 : spec_of(run).ratio == 0.1 ? 95 : 55;
  });
  const std::string check = "    checks:\n      - {compare: [a, b], measure: test_accuracy}\n";
  EXPECT_NEAR(judge_claim(kTwoTasks, check, training).checks[0].judgement->mean, -10, 1e-9);
  const Judged where = judge_claim(kTwoTasks, "    where: {ratio: 0.10}\n" + check, training);
  EXPECT_NEAR(where.checks[0].judgement->mean, 10, 1e-9);
  EXPECT_EQ(where.verdict, Verdict::kHolds);
}

TEST(Claim, MayTuneOtherwise) {
  // By validation 0.1 is better, by test 0.01.
  const Training training = [](const std::string& /*series*/, const PlannedRun& run) {
    return spec_of(run).lr == 0.1 ? made_up(90, 99, 60) : made_up(90, 70, 80);
  };
  const std::string grids =
      "tune: [lr]\nparameters: {task: depth1, model: dense, lr: [0.1, 0.01], split_seed: [40, 41]}\ngrids:\n"
      "  - {series: a}\n";
  const std::string check = "    checks:\n      - {value: a, measure: test_accuracy}\n";
  EXPECT_NEAR(judge_claim(grids, check, training).checks[0].judgement->mean, 60, 1e-9);
  EXPECT_NEAR(judge_claim(grids, "    tune: [tau]\n" + check, training).checks[0].judgement->mean, 70, 1e-9)
      << "both rates, side by side";
}

TEST(Claim, NumbersInWords) {
  CheckResult check;
  check.note = "nothing to say";
  EXPECT_EQ(number_text(check), "nothing to say");
  check.judgement = Judgement{.mean = 12.345, .low = -8.1, .high = 16, .draws = 30, .population = "over 30 splits"};
  check.expectation = "above";
  check.unit = "points";
  EXPECT_EQ(number_text(check), "+12.3 points ([-8.1, 16], 90 % over 30 splits); expected above");
  check.covered = "at 3 of 7 points";
  EXPECT_EQ(number_text(check), "+12.3 points at 3 of 7 points ([-8.1, 16], 90 % over 30 splits); expected above");
  check.covered = "";
  check.unit = "";
  check.judgement->mean = -0.5;
  check.judgement->low = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(number_text(check), "-0.5 (too few for an interval, over 30 splits); expected above");
  EXPECT_STREQ(verdict_text(Verdict::kHolds), "holds");
  EXPECT_STREQ(verdict_text(Verdict::kFails), "fails");
  EXPECT_STREQ(verdict_text(Verdict::kUndecided), "undecided");
  EXPECT_STREQ(verdict_text(Verdict::kNoData), "no data");
}

TEST(Claim, ExpectationsInWords) {
  const auto expectation = [](const std::string& check) {
    return judge(check, apart([](const auto& /*run*/) { return 1.0; })).expectation;
  };
  const auto of_compare = [&](const std::string& rest) { return expectation(compare(rest)); };
  EXPECT_EQ(of_compare("greater"), "above");
  EXPECT_EQ(of_compare("less"), "below");
  EXPECT_EQ(of_compare("greater, threshold: 5"), "more than 5 points above");
  EXPECT_EQ(of_compare("greater, threshold: -5"), "less than 5 points below");
  EXPECT_EQ(of_compare("less, threshold: -1"), "more than 1 point below");
  EXPECT_EQ(of_compare("at_least"), "at most 1 point below");
  EXPECT_EQ(of_compare("at_least, margin: 0"), "not below");
  EXPECT_EQ(of_compare("at_least, threshold: 2"), "at least 1 point above");
  EXPECT_EQ(of_compare("at_most"), "at most 1 point above");
  EXPECT_EQ(of_compare("comparable"), "within 3 points");
  EXPECT_EQ(of_compare("comparable, threshold: 4"), "between 1 point and 7 points");
  EXPECT_EQ(expectation("{compare: [a, b], measure: updates, expect: comparable, margin: 0.301029995664}"),
            "within a factor of 2");
  EXPECT_EQ(expectation("{trend: a, along: ratio, measure: test_accuracy, expect: at_least}"), "at most 1 point down");
  EXPECT_EQ(expectation("{value: a, measure: test_accuracy, expect: at_least, threshold: 100, margin: 10}"),
            "at least 90 %");
}

constexpr auto kFewSplits = R"(
tune: [tau]
parameters: {task: depth1, ratio: 0.1, split_seed: [40, 41, 42], seed: [0, 1, 2], epochs: 1000}
grids:
  - {series: a, parameters: {model: dense}}
  - {series: b, parameters: {model: sparse}}
)";

TEST(Populations, FewSplitsDecideOnlyAboutThemselves) {
  // Splits are 9, 10 and 11 points apart, and seeds a tenth of that.
  const CheckResult check = judge(compare("greater"), apart([](const auto& run) {
                                    return static_cast<double>(spec_of(run).split_seed) - 31 +
                                           0.1 * (static_cast<double>(spec_of(run).seed) - 1);
                                  }),
                                  kFewSplits);
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_EQ(check.judgement->too_few, "3 splits");
  EXPECT_EQ(verdict_text(*check.judgement), "undecided: 3 splits");
  EXPECT_EQ(check.splits, 3);
  EXPECT_EQ(check.seeds, 9);
  EXPECT_NEAR(check.judgement->mean, 10, 1e-9);
  EXPECT_NEAR(check.judgement->low, 10 - 2.919986 / std::sqrt(3.0), 1e-5) << "two degrees of freedom";
  ASSERT_TRUE(check.here);
  EXPECT_EQ(check.here->verdict, Verdict::kHolds);
  EXPECT_EQ(check.here->population, "on these 3 splits");
  // Three squared errors of 0.01 / 3 each, and six degrees of freedom.
  EXPECT_NEAR(check.here->high, 10 + 1.94318 * std::sqrt(0.01) / 3, 1e-5);
  const Judged claim =
      judge_claim(kFewSplits, "    checks:\n      - " + compare("greater") + "\n",
                  apart([](const auto& run) { return 5 + 0.1 * static_cast<double>(spec_of(run).seed); }));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_EQ(claim.reason, "3 splits");
  EXPECT_EQ(claim.here, Verdict::kHolds);
}

TEST(Populations, SeedsOnOneSplitAreNoSplits) {
  // The first split is far off: nine seeds of it are one draw.
  const std::string grids =
      "parameters: {task: depth1, ratio: 0.1, split_seed: [40..44], seed: [0..8]}\ngrids:\n"
      "  - {series: a, parameters: {model: dense}}\n  - {series: b, parameters: {model: sparse}}\n";
  const CheckResult check =
      judge(compare("greater"), apart([](const auto& run) {
              return (is_first_unit(run) ? 20.0 : 0.0) + 0.01 * static_cast<double>(spec_of(run).seed);
            }),
            grids);
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_LT(check.judgement->low, 0);
  EXPECT_EQ(check.here->verdict, Verdict::kHolds);
}

TEST(Populations, OneSeedOnEachSplitSaysNothingOfSeeds) {
  const Judged claim = judge_claim(kGrids, "    checks:\n      - " + compare("greater") + "\n",
                                   apart([](const auto& run) { return 10 + wiggle(run); }));
  EXPECT_EQ(claim.verdict, Verdict::kHolds);
  EXPECT_FALSE(claim.here);
}

TEST(Claim, AxisValuesInTheOrderOfThePlan) {
  MadeUpStudy study("parameters: {task: depth1, model: dense, ratio: [0.5, 0.1, 0.3], seed: [0, 1]}\n");
  study.train([](const PlannedRun& /*run*/) { return made_up(90, 80, 70); });
  const Findings findings = study.findings();
  std::vector<const Cell*> cells;
  for (const Cell& cell : findings.cells()) {
    cells.push_back(&cell);
  }
  EXPECT_EQ(axis_values(findings, cells, "ratio"), (std::vector<std::string>{"0.5", "0.1", "0.3"}));
  EXPECT_EQ(axis_values(findings, cells, "series"), std::vector<std::string>{"dense"});
  EXPECT_TRUE(axis_values(findings, {}, "ratio").empty());
}

}  // namespace
}  // namespace modlab::studies
