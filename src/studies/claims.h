#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measures/statistics.h"
#include "studies/findings.h"
#include "studies/study.h"

namespace modlab::studies {

enum class Verdict { kHolds, kFails, kUndecided, kNoData };
const char* verdict_text(Verdict verdict);

// One number with its uncertainty, and what it says about the sentence.
//
// Runs are paired by split and training seed; a statistic is resampled over these pairs (a bootstrap), and p is
// one-sided. Measures that span orders of magnitude are compared as logarithms and shown as factors.
//   compare  first side minus second, averaged over the shared axes where the two are neither both saturated nor both
//   at
//            the base rate (spec 7)
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

// A claim holds if all of its checks do, and fails if one does.
struct ClaimResult {
  const Claim* claim = nullptr;
  Verdict verdict = Verdict::kNoData;
  std::string reason;
  std::vector<CheckResult> checks;
};

std::vector<ClaimResult> evaluate_claims(const Findings& findings);

// "+12.3 points [8.1, 16.0], p 0.001"
std::string number_text(const CheckResult& check);

// The values of an axis among some cells, in the order in which the plan has them.
std::vector<std::string> axis_values(const Findings& findings, const std::vector<const Cell*>& cells,
                                     const std::string& axis);

}  // namespace modlab::studies
