#include "studies/votes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/errors.h"
#include "studies/check_text.h"
#include "studies/claims.h"
#include "studies/made_up_study.h"

namespace modlab::studies {
namespace {

using test::MadeUpStudy;

constexpr auto kContestGrids = R"(
tune: none
snapshot: last
parameters: {task: rules-mlp, task_type: [regression, classification], rules: [2, 4, 8], task_seed: [0..4], seed: [0, 1], iterations: 10}
grids:
  - {series: a, parameters: {model: gt-modular}}
  - {series: b, parameters: {model: modular}}
  - {series: c, parameters: {model: monolithic}}
)";

struct MadeContest {
  std::string series;
  bool classes = false;
  int rules = 0;
  int task = 0;
  int seed = 0;
};

struct ContestScore {
  double loss = 0;
  double error = 0;
};

using ContestScores = std::function<std::optional<ContestScore>(const MadeContest&)>;

experiments::Result scored(const ContestScore& score, bool classes) {
  experiments::Result result;
  for (const char* snapshot : {"best", "last"}) {
    experiments::Numbers& numbers = result.snapshots[snapshot];
    numbers = {{"id_loss", score.loss}, {"validation_loss", 1}, {"validation_score", 1}, {"parameters", 10}};
    if (classes) {
      numbers["id_error"] = score.error;
    }
  }
  return result;
}

std::vector<ClaimResult> judge_claims_of(MadeUpStudy& study, const ContestScores& scores) {
  study.train([&](const PlannedRun& run) -> std::optional<experiments::Result> {
    const auto number = [&](const char* name) { return std::stoi(run.run.values.text(name)); };
    const MadeContest made{study.series(run), run.run.values.text("task_type") == "classification", number("rules"),
                           number("task_seed"), number("seed")};
    const std::optional<ContestScore> score = scores(made);
    return score ? std::optional(scored(*score, made.classes)) : std::nullopt;
  });
  return evaluate_claims(study.findings());
}

CheckResult judge_contests(const std::string& check, const ContestScores& scores) {
  MadeUpStudy study(std::string(kContestGrids) +
                    "claims:\n  - id: C\n    text: a sentence\n    over: [task_type, rules]\n    checks:\n      - " +
                    check + "\n");
  const std::vector<ClaimResult> claims = judge_claims_of(study, scores);
  EXPECT_EQ(claims.at(0).drawn, "task seed");
  return claims.at(0).checks.at(0);
}

constexpr auto kVotes = "{votes: [a, b, c], measures: [id_error, id_loss], expect: greater}";

TEST(VotesCheck, TheBestOfEachContestHasItsVote) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) {
    return ContestScore{made.series == "a" ? 0.1 : 0.2, made.series == "a" ? 1.0 : 2.0};
  });
  EXPECT_EQ(check.verdict, Verdict::kHolds);
  EXPECT_DOUBLE_EQ(check.judgement->mean, 100);
  EXPECT_NEAR(check.judgement->p_wrong, 1.0 / 32, 1e-12) << "five task seeds, all the same";
  EXPECT_EQ(check.judgement->population, "over 5 task seeds");
  EXPECT_EQ(check.splits, 5);
  EXPECT_EQ(check.note, "of 30 contests: a 30, b 0, c 0, 0 ties");
  EXPECT_EQ(check.text, "contests won by a against b, c");
  EXPECT_EQ(check.expectation, "ahead");
  EXPECT_FALSE(check.here) << "votes go by steps";
}

TEST(VotesCheck, ATieGivesNobodyAVote) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) {
    // With two rules a and b are equal and c is worse; with more a wins.
    const bool is_tied = made.rules == 2 && made.series == "b";
    return ContestScore{made.series == "a" || is_tied ? 0.1 : 0.2, made.series == "a" || is_tied ? 0.0 : 2.0};
  });
  EXPECT_NEAR(check.judgement->mean, 100.0 * 2 / 3, 1e-9);
  EXPECT_EQ(check.note, "of 30 contests: a 20, b 0, c 0, 10 ties");
}

TEST(VotesCheck, WhereAllAreEqualNobodyIsAhead) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest&) { return ContestScore{0.1, 0}; });
  EXPECT_DOUBLE_EQ(check.judgement->mean, 0);
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_EQ(check.note, "of 30 contests: a 0, b 0, c 0, 30 ties");
}

TEST(VotesCheck, EqualErrorsThatDifferInTheLastBitAreEqual) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) {
    const double error = made.series == "a" ? 0.1 + 0.2 : 0.3;
    return ContestScore{error, error};
  });
  EXPECT_EQ(check.note, "of 30 contests: a 0, b 0, c 0, 30 ties");
}

TEST(VotesCheck, MeansOverSeedsDecide) {
  // a is better with the first seed and much worse with the second.
  const CheckResult check =
      judge_contests("{votes: [a, b], measures: [id_error, id_loss], expect: less}", [](const MadeContest& made) {
        const double number = made.series != "a" ? 2 : made.seed == 0 ? 1 : 5;
        return ContestScore{number, number};
      });
  EXPECT_DOUBLE_EQ(check.judgement->mean, -100);
  EXPECT_EQ(check.verdict, Verdict::kHolds);
}

TEST(VotesCheck, ClassesAreJudgedByTheirErrors) {
  const CheckResult check =
      judge_contests("{votes: [a, b], where: {task_type: classification}, measures: [id_error, id_loss]}",
                     [](const MadeContest& made) {
                       return ContestScore{made.series == "a" ? 9.0 : 1.0, made.series == "a" ? 1.0 : 9.0};
                     });
  EXPECT_DOUBLE_EQ(check.judgement->mean, 100);
  EXPECT_EQ(check.text, "task_type classification: contests won by a against b");
}

TEST(VotesCheck, TheStrongestOfTheOthersCounts) {
  // Of three contests on each task a wins two and c one: a is a third ahead of c, and two thirds of b.
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) {
    const std::string winner = made.rules == 8 ? "c" : "a";
    return ContestScore{made.series == winner ? 1.0 : 2.0, made.series == winner ? 1.0 : 2.0};
  });
  EXPECT_NEAR(check.judgement->mean, 100.0 / 3, 1e-9);
}

TEST(VotesCheck, ATaskSeedWithoutAllItsContestsIsLeftOut) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) -> std::optional<ContestScore> {
    if (made.task == 3 && made.rules == 4 && made.series == "b") {
      return std::nullopt;
    }
    return ContestScore{made.series == "a" ? 0.1 : 0.2, 1.0 + (made.series == "a" ? 0 : 1)};
  });
  EXPECT_EQ(check.splits, 4);
  EXPECT_EQ(check.verdict, Verdict::kUndecided);
  EXPECT_EQ(check.judgement->too_few, "4 task seeds");
}

TEST(VotesCheck, NoRunsAreNoData) {
  const CheckResult check = judge_contests(kVotes, [](const MadeContest& made) {
    return made.series == "c" ? std::nullopt : std::optional(ContestScore{1, 1});
  });
  EXPECT_EQ(check.verdict, Verdict::kNoData);
}

// Contests of equals. What they share on one task seed makes them go together: a task suits one side or the other.
Draws of_equals(std::mt19937& random, std::size_t sides, int tasks, std::size_t places, double shared) {
  std::normal_distribution<double> normal;
  Draws draws;
  for (int task = 0; task < tasks; ++task) {
    std::vector<double> suits(sides);
    for (double& each : suits) {
      each = shared * normal(random);
    }
    std::vector<double>& numbers = draws.units[{static_cast<std::uint64_t>(task), 0, 0}];
    for (std::size_t at = 0; at < places * sides; ++at) {
      numbers.push_back(suits[at % sides] + normal(random));
    }
  }
  return draws;
}

constexpr int kStudies = 2000;
constexpr int kTasks = 8;
constexpr std::size_t kPlaces = 10;

double wrong_share(std::size_t sides, double shared) {
  std::mt19937 random(1);
  int wrong = 0;
  for (int study = 0; study < kStudies; ++study) {
    const Contests contests(sides, std::vector<bool>(kPlaces, false),
                            of_equals(random, sides, kTasks, kPlaces, shared));
    const measures::Estimate ahead = measures::smallest_mean(sides - 1, [&](std::size_t which, double tail) {
      return evidence_of(contests.draws(), contests.lead(0, which + 1), tail)->general;
    });
    wrong += ahead.p_at_most(0) <= measures::kTail ? 1 : 0;
  }
  return static_cast<double>(wrong) / kStudies;
}

// Of 2000 studies 5 % are 100, give or take 10.
TEST(VotesCheck, OfTwoEqualsOneIsSaidToBeAheadAsOftenAsTheLevelAllows) {
  for (const double shared : {0.0, 1.0, 3.0}) {
    const double share = wrong_share(2, shared);
    EXPECT_LT(share, 0.068) << shared;
    EXPECT_GT(share, 0.025) << shared;
  }
}
TEST(VotesCheck, AmongFourEqualsOneIsSaidToBeAheadLessOften) { EXPECT_LT(wrong_share(4, 1), 0.05); }

// Why a task seed is the unit: contests counted one by one would find a winner far too often.
TEST(VotesCheck, ContestsByThemselvesWouldErr) {
  std::mt19937 random(1);
  int wrong = 0;
  for (int study = 0; study < kStudies; ++study) {
    const Contests contests(2, std::vector<bool>(kPlaces, false), of_equals(random, 2, kTasks, kPlaces, 1));
    Votes all;
    for (const Votes& task : contests.by_split()) {
      all.add(task);
    }
    wrong += measures::chance_of(all.won[0], all.contests, 1).p_at_most(0.5) <= measures::kTail ? 1 : 0;
  }
  EXPECT_GT(wrong, kStudies / 10);
}

std::string loss_check(const std::string& check) {
  return "{" + check + ", where: {task_type: regression}, measure: id_loss}";
}

TEST(Losses, AreNeverSaturated) {
  // Accuracies above 99 would say nothing; losses do, and so do errors.
  const auto high = [](const MadeContest& made) {
    const double number = (made.series == "a" ? 99.2 : 99.6) + 0.01 * made.task;
    return ContestScore{number, number};
  };
  const CheckResult loss = judge_contests(loss_check("compare: [a, b], expect: less"), high);
  EXPECT_EQ(loss.verdict, Verdict::kHolds);
  EXPECT_EQ(loss.covered, "");
  EXPECT_EQ(loss.note, "");
  const CheckResult error =
      judge_contests("{compare: [a, b], where: {task_type: classification}, measure: id_error, expect: less}", high);
  EXPECT_EQ(error.verdict, Verdict::kHolds);
  EXPECT_EQ(error.unit, "points");
}

TEST(Losses, AreComparedAsFactorsWhereAsked) {
  const auto twice = [](const MadeContest& made) {
    const double number = 0.001 * (1 + made.task) * (made.series == "a" ? 1 : 2) * (made.seed == 0 ? 0.9 : 1.1);
    return ContestScore{number, made.series == "a" ? 0.0 : 0.01};
  };
  const CheckResult half = judge_contests(loss_check("compare: [a, b], as: factor, expect: less"), twice);
  EXPECT_TRUE(half.is_factor);
  EXPECT_NEAR(half.judgement->mean, std::log10(0.5), 1e-9) << "whatever the task's own loss is";
  EXPECT_EQ(half.verdict, Verdict::kHolds);
  const auto verdict = [&](const std::string& rest) {
    return judge_contests(loss_check("compare: [b, a], as: factor, " + rest), twice).verdict;
  };
  EXPECT_EQ(verdict("expect: greater, threshold: 1.9"), Verdict::kHolds);
  EXPECT_EQ(verdict("expect: greater, threshold: 2.1"), Verdict::kFails);
  EXPECT_EQ(verdict("expect: at_most, margin: 2.1"), Verdict::kHolds);
  EXPECT_EQ(verdict("expect: comparable, margin: 1.9"), Verdict::kFails);
  // An error of 0 counts as one in a hundred thousand.
  const CheckResult none = judge_contests(
      "{compare: [b, a], where: {task_type: classification}, measure: id_error, as: factor, expect: greater}", twice);
  EXPECT_NEAR(none.judgement->mean, 1, 1e-9);
}

TEST(Trend, OfADifferenceIsHowItGrows) {
  // b is above a by 0.1, 0.2 and 0.4 with 2, 4 and 8 rules.
  const auto growing = [](const MadeContest& made) {
    return ContestScore{1 + 0.01 * made.task + (made.series == "b" ? 0.05 * made.rules : 0.0), 0};
  };
  const CheckResult as_they_are = judge_contests(loss_check("trend: [b, a], along: rules"), growing);
  EXPECT_NEAR(as_they_are.judgement->mean, 0.3, 1e-9);
  EXPECT_EQ(as_they_are.text, "task_type regression: loss: b above a as rules grows");
  // The line through 0.1, 0.2 and 0.4 at equal distances rises by 0.3 too; through those of a it does not rise.
  const CheckResult even = judge_contests(loss_check("trend: [b, a], along: rules, spacing: even"), growing);
  EXPECT_NEAR(even.judgement->mean, 0.3, 1e-9);
  EXPECT_NEAR(judge_contests(loss_check("trend: a, along: rules"), growing).judgement->mean, 0, 1e-9);
}

TEST(Trend, EvenSpacingChangesTheLine) {
  // 0, 1, 1 at 2, 4, 8 rules.
  const auto early = [](const MadeContest& made) { return ContestScore{made.rules > 2 ? 1.0 : 0.0, 0}; };
  EXPECT_NEAR(judge_contests(loss_check("trend: a, along: rules, spacing: even"), early).judgement->mean, 1, 1e-9);
  EXPECT_NEAR(judge_contests(loss_check("trend: a, along: rules"), early).judgement->mean, 6.0 / 7, 1e-9);
}

TEST(VotesFile, MistakesAreNamed) {
  const auto message = [](const std::string& check) -> std::string {
    try {
      MadeUpStudy study(std::string(kContestGrids) + "claims:\n  - id: C\n    text: s\n    checks:\n      - " + check +
                        "\n");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("{votes: a, measures: [id_loss]}").find("two sides or more"), std::string::npos);
  EXPECT_NE(message("{compare: [a, b], measure: id_loss, as: factor, expect: at_most, margin: 0.1}").find("a factor"),
            std::string::npos);
  EXPECT_NE(message("{votes: [a, b]}").find("needs 'measures'"), std::string::npos);
  EXPECT_NE(message("{votes: [a, b], measures: [id_los]}").find("id_los"), std::string::npos);
  EXPECT_NE(message("{trend: a, along: rules, measure: id_loss, spacing: odd}").find("spacing"), std::string::npos);
}

}  // namespace
}  // namespace modlab::studies
