#pragma once

#include <optional>
#include <string>

#include "studies/findings.h"
#include "studies/judgement.h"
#include "studies/study.h"

namespace modlab::studies {

// One number with its uncertainty, and what it says about the sentence. judgement.h tells how sure it is. Measures that
// span orders of magnitude are compared as logarithms and shown as factors.
//   compare  first side minus second, averaged over the shared axes where the two are neither both saturated nor both
//            at the base rate
//   trend    change of the fitted line from one end of an axis to the other, of one side or of the difference of two
//   votes    share of contests that the first side wins minus that of the strongest of the others
//   value    mean of one side
//   reaches  how much further along the axis the second side must go than the first to reach the level
//   tracks   rank correlation of two measures over the shared axes
//   best_at  mean at the named values minus the best mean at any others
//   every    share of runs that have the given measures but not those that should follow
struct CheckResult {
  std::string text;
  std::string expectation;  // in words: "above 0 points"
  Range expected;
  std::string measure;  // its name
  Verdict verdict = Verdict::kNoData;
  std::optional<Judgement> judgement;  // over splits or trials; none where a check has no number
  std::optional<Judgement> here;       // on these very splits
  bool is_difference = true;           // between sides or places; otherwise a number of its own
  bool is_factor = false;              // numbers are logarithms to base 10
  std::string unit;
  int splits = 0;
  int seeds = 0;        // of all splits together; trials, or runs, where there are no splits
  std::string covered;  // "at 4 of 7 points": what the number leaves out
  std::string note;
};

// One check of a claim, for one value of the claim's `each`.
struct CheckContext {
  const Findings& findings;
  const Claim& claim;
  const Check& check;
  Selector where;  // the claim's, and the value of `each`
  const experiments::Measure* measure;
};

CheckResult evaluate_check(const CheckContext& given);

}  // namespace modlab::studies
