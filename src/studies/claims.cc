#include "studies/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace modlab::studies {
namespace {

// How many checks came to each verdict, and what that makes of all of them.
struct Tally {
  std::map<Verdict, int> counts;
  int checks = 0;
  double least_p_right = 1;

  void add(Verdict verdict, double p_right) {
    ++counts[verdict];
    ++checks;
    if (verdict == Verdict::kFails) {
      least_p_right = std::min(least_p_right, p_right);
    }
  }
  bool fails() const { return least_p_right <= measures::kTail / std::max(1, checks - at(Verdict::kNoData)); }
  int at(Verdict verdict) const {
    const auto found = counts.find(verdict);
    return found == counts.end() ? 0 : found->second;
  }
  Verdict verdict() const {
    if (fails()) {
      return Verdict::kFails;
    }
    if (at(Verdict::kNoData) == checks) {
      return Verdict::kNoData;
    }
    return at(Verdict::kHolds) == checks ? Verdict::kHolds : Verdict::kUndecided;
  }
};

void summarise(ClaimResult& result) {
  Tally general;
  Tally here;
  bool has_here = true;
  std::string too_few;
  for (const CheckResult& check : result.checks) {
    // Without a number a check is as sure as can be.
    general.add(check.verdict, check.judgement ? check.judgement->p_right : 0);
    const Verdict verdict_here = check.here ? check.here->verdict : check.verdict;
    here.add(verdict_here, check.here ? check.here->p_right : 0);
    has_here = has_here && (check.here ? std::isfinite(check.here->low) || check.here->equal : !check.judgement);
    if (check.judgement && !check.judgement->too_few.empty()) {
      too_few = check.judgement->too_few;
    }
  }
  result.verdict = general.verdict();
  if (result.verdict == Verdict::kNoData) {
    result.reason = "no runs for it in this study yet";
    return;
  }
  if (has_here && std::ranges::any_of(result.checks, [](const CheckResult& check) { return check.here.has_value(); })) {
    result.here = here.verdict();
  }
  if (!too_few.empty() && result.verdict == Verdict::kUndecided) {
    result.reason = too_few;
    return;
  }
  result.reason = fmt::format("{} of {} checks hold", general.at(Verdict::kHolds), general.checks);
  if (const int fails = general.at(Verdict::kFails); fails > 0) {
    result.reason += fmt::format(", {} fail{}{}", fails, fails == 1 ? "s" : "",
                                 general.fails() ? "" : ", as may be by chance among so many");
  }
  if (const int open = general.at(Verdict::kUndecided) + general.at(Verdict::kNoData); open > 0) {
    result.reason += fmt::format(", {} undecided", open);
  }
}

}  // namespace

std::vector<ClaimResult> evaluate_claims(const Findings& findings) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : findings.study().claims) {
    ClaimResult result;
    result.claim = &claim;
    result.drawn = findings.split_word();
    std::vector<const Cell*> cells;
    for (const Cell& cell : findings.cells(claim.tune)) {
      if (findings.matches(cell, claim.where)) {
        cells.push_back(&cell);
      }
    }
    std::vector<std::string> each = {""};
    if (!claim.each.empty()) {
      each = axis_values(findings, cells, claim.each);
    }
    for (const std::string& value_here : each) {
      for (const Check& check : claim.checks) {
        Selector where = claim.where;
        if (!claim.each.empty()) {
          where[claim.each] = {value_here};
        }
        for (const auto& [axis, values] : check.where) {
          where[axis] = values;
        }
        result.checks.push_back(
            evaluate_check({findings, claim, check, where,
                            check.measure.empty() ? nullptr : experiments::find_measure(check.measure)}));
      }
    }
    summarise(result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace modlab::studies
