#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/train_block.h"
#include "methods/mask/masked_parameters.h"

// Masks over small networks, side by side: a lane is one mask, whichever network it is of.
namespace modlab::methods {

// One mask to be trained.
struct MaskJob {
  const std::vector<float>* weights = nullptr;  // all parameters of the network, which stay as they are
  std::vector<std::uint32_t> rows;              // samples that it is trained on
  std::uint32_t outputs = 0;                    // bit k: output k counts
  std::uint64_t seed = 0;
  std::uint32_t stage = 0;  // masks of one seed differ in it
  double lr = 0.01;
  double beta = 0;
  double init = 2;
  double clip = 1;
  double tau = 1;
};

struct MaskProgress {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> steps{0};  // summed over masks
};

// Trains up to kernels.lanes masks in lockstep, with what all of them share from `spec`, and gives the logits of each:
// what comes of a job depends on it alone. Nothing if it was asked to stop.
std::vector<std::vector<float>> train_mask_block(const engine::Kernels<float>& kernels, engine::Network<float>& network,
                                                 const engine::Data& data, const MaskedParameters& masked,
                                                 const MaskSpec& spec, const std::vector<MaskJob>& jobs,
                                                 MaskProgress& progress);

// What each network says of every sample, bit k of a word output k. Up to kernels.lanes networks at a time.
std::vector<std::vector<std::uint32_t>> predict(const engine::Kernels<float>& kernels, engine::Network<float>& network,
                                                const engine::Data& data,
                                                const std::vector<std::vector<float>>& networks);

}  // namespace modlab::methods
