#pragma once

#include <string>

#include "studies/study.h"

namespace modlab::studies {

// What makes a preset of a study another one than it was, in words: "ratio was 0.5 and is 0.3, 0.5; series modular is
// new". Empty if there is nothing that a user would notice.
std::string study_difference(const Study& was, const std::string& was_preset, const Study& is,
                             const std::string& is_preset);

}  // namespace modlab::studies
