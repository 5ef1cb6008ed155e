#pragma once

#include <cstdint>

namespace modlab::methods {

// Masks of one network and seed are told apart by a number, so that no two draw the same noise and rows: 0 is the
// control mask, 1 and up are the targets, and what is no stage begins here.
inline constexpr std::uint32_t kAgainStages = 1000;
inline constexpr std::uint32_t kUntrainedStages = 2000;
inline constexpr std::uint32_t kBetaStages = 3000;
// The training of the weights themselves.
inline constexpr std::uint32_t kWeightStage = 9000;

}  // namespace modlab::methods
