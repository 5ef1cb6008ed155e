#pragma once

#include <span>
#include <string>

namespace modlab::cli {

// `modlab data scan ...`: commands and actions of SCAN for other programs.
int run_data_scan(std::span<const std::string> words);

}  // namespace modlab::cli
