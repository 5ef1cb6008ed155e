#pragma once

#include <string>
#include <vector>

#include "studies/check.h"
#include "studies/findings.h"
#include "studies/study.h"

namespace modlab::studies {

// A claim holds if all of its checks do. It fails if one fails by more than chance makes one of so many fail: each is
// then held against kTail divided by their number (Bonferroni).
struct ClaimResult {
  const Claim* claim = nullptr;
  Verdict verdict = Verdict::kNoData;  // over splits or trials
  std::optional<Verdict> here;         // on these very splits, where there are several seeds on each
  std::string drawn = "split";         // what a split is called
  std::string reason;
  std::vector<CheckResult> checks;
};

std::vector<ClaimResult> evaluate_claims(const Findings& findings);

}  // namespace modlab::studies
