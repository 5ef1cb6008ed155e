#pragma once

#include <string>
#include <vector>

#include "studies/check.h"
#include "studies/findings.h"
#include "studies/study.h"

namespace modlab::studies {

// A claim holds if all of its checks do, and fails if one does.
struct ClaimResult {
  const Claim* claim = nullptr;
  Verdict verdict = Verdict::kNoData;
  std::string reason;
  std::vector<CheckResult> checks;
};

std::vector<ClaimResult> evaluate_claims(const Findings& findings);

}  // namespace modlab::studies
