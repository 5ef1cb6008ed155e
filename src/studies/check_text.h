#pragma once

#include <string>

#include "studies/check.h"

namespace modlab::studies {

const char* verdict_text(Verdict verdict);

// What a check asks, in the words of its file or in words made from it.
std::string check_text(const CheckContext& context);

// What it found: "+12.3 points [8.1, 16.0], p 0.001".
std::string number_text(const CheckResult& check);

}  // namespace modlab::studies
