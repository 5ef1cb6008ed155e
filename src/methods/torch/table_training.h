#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/training.h"
#include "methods/flat_optimizer.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// How a network on libtorch learns samples of 0 and 1 as our own networks do: epoch by epoch, looking at all of them
// after each.
struct TableTraining {
  FlatOptimizerSpec optimizer = {};
  int epochs = 1000;
  int batch_size = 64;
  double noise = 0;  // standard deviation, on the first `noisy_inputs`
  int noisy_inputs = 0;
  std::uint64_t seed = 0;
  std::vector<engine::Part> part = {};  // of every sample
  int tasks = 1;                        // samples of one follow those of the one before
};

// The parameters that a seed begins with: those of the file, and for seeds other than 0 the numbers of each tensor in
// another order, which is another draw from whatever they were drawn from.
std::vector<float> initial_for_seed(const models::TorchNetwork& network, std::uint64_t seed);

// Nothing if it was asked to stop. `samples` are those that the network was opened with.
std::optional<engine::LaneResult> train_table(models::TorchNetwork& network, const models::GivenSamples& samples,
                                              const TableTraining& training, engine::Progress& progress);

}  // namespace modlab::methods
