#pragma once

#include <span>
#include <string>

namespace modlab::cli {

// `modlab data mathematics ...`: questions and answers for other programs.
int run_data_mathematics(std::span<const std::string> words);

}  // namespace modlab::cli
