#pragma once

#include <optional>
#include <string>

#include "measures/statistics.h"
#include "studies/findings.h"
#include "studies/study.h"

namespace modlab::studies {

enum class Verdict { kHolds, kFails, kUndecided, kNoData };

// One number with its uncertainty, and what it says about the sentence.
//
// Runs are paired by split and training seed; a statistic is resampled over these pairs (a bootstrap), and p is
// one-sided. Measures that span orders of magnitude are compared as logarithms and shown as factors.
//   compare  first side minus second, averaged over the shared axes where the two are neither both saturated nor both
//            at the base rate
//   trend    change of the fitted line from one end of an axis to the other
//   value    mean of one side
//   reaches  how much further along the axis the second side must go than the first to reach the level
//   tracks   rank correlation of two measures over the shared axes
//   best_at  mean at the named values minus the best mean at any others
//   every    share of runs that have the given measures but not those that should follow
struct CheckResult {
  std::string text;
  Verdict verdict = Verdict::kNoData;
  std::optional<measures::Interval> interval;
  std::optional<double> p;  // that the expectation is wrong; none for "comparable"
  bool is_factor = false;   // the interval's numbers are logarithms to base 10
  std::string unit;
  int runs = 0;
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

CheckResult evaluate_check(const CheckContext& context);

}  // namespace modlab::studies
