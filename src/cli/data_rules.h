#pragma once

#include <span>
#include <string>

namespace modlab::cli {

// `modlab data rules ...`: samples of rule-based data for other programs.
int run_data_rules(std::span<const std::string> words);

}  // namespace modlab::cli
