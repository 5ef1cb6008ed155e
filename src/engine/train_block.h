#pragma once

#include <cstdint>
#include <vector>

#include "engine/network.h"
#include "engine/training.h"

namespace modlab::engine {

// All samples that a block's networks learn from or are judged on, as words: an input is a bit field of a sample's
// input word; bit k of its target word is output k, and the top byte is its task. Samples of one task are contiguous
// and each task has the same number.
struct Data {
  std::vector<std::uint32_t> input_words;
  std::vector<std::uint32_t> target_words;
  std::vector<Field> inputs;
  int noisy_inputs = 0;  // input noise falls on the first so many
  int outputs = 0;
  int tasks = 1;

  int samples() const { return static_cast<int>(input_words.size()); }
};
inline constexpr int kTaskShift = 24;

// Trains up to kernels.lanes networks in lockstep; what comes out of a lane depends on that lane's settings alone.
// Returns nothing if it was asked to stop.
std::vector<LaneResult> train_block(const Kernels<float>& kernels, Network<float>& network, const Data& data,
                                    const BlockSettings& settings, const std::vector<LaneSettings>& lanes,
                                    Progress& progress);

}  // namespace modlab::engine
