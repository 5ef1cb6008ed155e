#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "io/unfinished.h"
#include "methods/flat_optimizer.h"
#include "methods/mask/masked_digits.h"
#include "methods/mask/stage_numbers.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// How the weights of a network on libtorch are trained.
struct TorchTraining {
  FlatOptimizerSpec optimizer = {};
  int steps = 20'000;
  int batch_size = 128;  // samples of a step, drawn with replacement
  std::uint64_t seed = 0;
  std::uint32_t stage = kWeightStage;
  // What a schedule makes of the learning rate at a step, counted from 0; empty: nothing.
  std::function<double(int step)> rate_factor = {};
};

// Trains on these samples, from these parameters and the network's buffers, which are changed: the trained parameters.
// Nothing if it was asked to stop: then `unfinished` has how far it was, and the same call goes on there.
std::optional<std::vector<float>> train_on_torch(models::TorchNetwork& network, std::vector<float> parameters,
                                                 std::span<const std::uint32_t> rows, const TorchTraining& training,
                                                 DigitProgress& progress, const io::Unfinished& unfinished = {});

// What a network draws from at a step, for itself: for each part of it, and for all of them together.
inline constexpr std::uint32_t kNoiseOfAll = 0xFFFFFFFF;
std::uint64_t noise_of_step(std::uint64_t seed, std::uint32_t stage, std::uint32_t step, std::uint32_t sample = 0);

}  // namespace modlab::methods
