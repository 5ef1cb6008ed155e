#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "engine/solo/network.h"
#include "engine/training.h"

namespace modlab::engine::solo {

// Samples of one part: image numbers [sample][image], and the outputs that are wanted, bit k of a word output k.
struct SampleList {
  const PixelImages* images = nullptr;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> targets;

  int count() const { return static_cast<int>(targets.size()); }
};

struct Data {
  std::array<SampleList, kScoreParts> parts;
  int images = 0;
  int outputs = 0;

  const SampleList& operator[](Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

// Trains one network: the same settings as a lane of a block has, without its rows and its noise. The training part's
// scores are those of the epoch's batches, each before the network learned from it; a pass of its own would cost more
// than it tells. Returns nothing if it was asked to stop.
std::vector<LaneResult> train_solo(const engine::Kernels<float>& kernels, Network<float>& network, const Data& data,
                                   const BlockSettings& settings, const LaneSettings& lane, Progress& progress);

// The scores of one list of samples, after network.begin_evaluation(). If `right` is given, it takes each sample's
// count of right bits. If `stop` is given and set, the rest is left out.
PartScore evaluate_samples(Network<float>& network, const Kernels<float>& kernels, const Data& data,
                           const SampleList& samples, LossKind loss, std::vector<std::uint8_t>* right = nullptr,
                           const std::atomic<bool>* stop = nullptr);

}  // namespace modlab::engine::solo
