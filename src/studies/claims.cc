#include "studies/claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlab::studies {
namespace {

void summarise(ClaimResult& result) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(result.checks, verdict, &CheckResult::verdict); };
  const auto all = static_cast<std::ptrdiff_t>(result.checks.size());
  if (count(Verdict::kFails) > 0) {
    result.verdict = Verdict::kFails;
  } else if (count(Verdict::kNoData) == all) {
    result.verdict = Verdict::kNoData;
  } else {
    result.verdict = count(Verdict::kHolds) == all ? Verdict::kHolds : Verdict::kUndecided;
  }
  if (result.verdict == Verdict::kNoData) {
    result.reason = "no runs for it in this study yet";
    return;
  }
  result.reason = fmt::format("{} of {} checks hold", count(Verdict::kHolds), all);
  if (count(Verdict::kFails) > 0) {
    result.reason += fmt::format(", {} fail{}", count(Verdict::kFails), count(Verdict::kFails) == 1 ? "s" : "");
  }
  if (count(Verdict::kUndecided) + count(Verdict::kNoData) > 0) {
    result.reason += fmt::format(", {} undecided", count(Verdict::kUndecided) + count(Verdict::kNoData));
  }
}

}  // namespace

std::vector<ClaimResult> evaluate_claims(const Findings& findings) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : findings.study().claims) {
    ClaimResult result;
    result.claim = &claim;
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
