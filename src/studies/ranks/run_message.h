#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.h"

// Runs on their way from one rank to another. Ranks have planned the same study, so that a run is its number.
namespace modlab::studies {

std::string encode_numbers(std::span<const std::uint64_t> runs);
// Throws FormatError for what is no such message.
std::vector<std::uint64_t> decode_numbers(std::string_view bytes);

// What became of runs, to the bit.
std::string encode_finished(std::span<const experiments::FinishedRun> runs);
using FindRun = std::function<const experiments::Run*(std::uint64_t number)>;
std::vector<experiments::FinishedRun> decode_finished(std::string_view bytes, const FindRun& find);

}  // namespace modlab::studies
