#pragma once

#include <string>

#include "studies/check.h"

namespace modlab::studies {

const char* verdict_text(Verdict verdict);
// With the reason why there is none: "undecided: 3 splits".
std::string verdict_text(const Judgement& judgement);

// A side, or where a check looks, in words: "dense, depth2".
std::string side_text(const Selector& selector);

// What a check asks, in the words of its file or in words made from it.
std::string check_text(const CheckContext& context);

// What its file expects: "at most 1 point below". Of a result whose unit is known.
std::string expectation_text(const CheckContext& context, const CheckResult& result);

// What it found: "+12.3 points ([8.1, 16], 90 % over 30 splits); expected above".
std::string number_text(const CheckResult& result);

}  // namespace modlab::studies
