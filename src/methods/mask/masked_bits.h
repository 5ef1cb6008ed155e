#pragma once

#include <cstdint>
#include <vector>

#include "methods/mask/mask_block.h"
#include "methods/mask/mask_outcome.h"
#include "methods/mask/mask_target.h"
#include "models/blueprint.h"

namespace modlab::methods {

// A trained network on truth tables, whose masks are wanted.
struct NetworkToMask {
  std::vector<float> weights;
  std::vector<float> untrained;  // before its training; empty: not known
  std::uint64_t seed = 0;
};

// What is to be done to networks of one shape.
struct BitsMasking {
  const models::Blueprint* blueprint = nullptr;
  MaskTarget whole;
  std::vector<MaskTarget> targets;
  MaskSpec spec;
  bool controls = true;  // train each mask twice, and one on the network before its training
};

// The masks that a network takes: for progress.
std::size_t mask_count(const BitsMasking& masking);

// Masks of all of them on so many threads; nothing if it was asked to stop.
std::vector<MaskOutcome> mask_networks(const BitsMasking& masking, const std::vector<NetworkToMask>& networks,
                                       int threads, const engine::Kernels<float>& kernels, MaskProgress& progress);

// The weights of the penalty that are tried where it is to be found: from 1e-6 to 1, two in a decade.
std::vector<double> beta_candidates();
// The largest of them with which a mask on everything reaches 95 % of what the network does; the smallest if none does.
double chosen_beta(const std::vector<BetaPoint>& table, double unmasked);

}  // namespace modlab::methods
