#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "io/unfinished.h"
#include "methods/mask/mask_outcome.h"
#include "methods/mask/mask_spec.h"
#include "methods/mask/masked_digits.h"
#include "methods/mask/masked_parameters.h"
#include "models/torch/torch_network.h"

namespace modlab::methods {

// A function that a mask is to keep, of a network on libtorch.
struct TorchTarget {
  std::string name;
  std::vector<std::uint32_t> rows;         // samples that the mask learns from
  std::vector<std::uint8_t> outputs = {};  // [output]: 1 where it counts; empty: all
};

// What a network says of the samples it is tested on, judged.
struct TorchJudgement {
  std::vector<double> accuracy;                   // of each target, in percent
  double everything = 0;                          // of the whole, in percent
  std::vector<double> other = {};                 // in each of TorchMasking::other_tests, in percent
  std::vector<std::vector<double>> classes = {};  // where answers are classes, [right][said], in percent
};

// A trained network on libtorch, and which masks of it are wanted.
struct TorchMasking {
  MaskSpec spec;
  std::uint64_t seed = 0;
  bool masks = true;       // otherwise the network is judged as it is
  bool controls = true;    // every mask is trained twice
  TorchTarget whole = {};  // what the control mask keeps
  std::vector<TorchTarget> targets = {};
  // Tensors of which every target keeps what the control mask keeps.
  std::vector<std::string> from_control = {};
  std::vector<std::uint32_t> tests = {};      // samples that everything is tested on
  std::vector<std::string> other_tests = {};  // names of what is among them and no target
  // What it says of them, [test][answer].
  std::function<TorchJudgement(const std::vector<float>& said)> judge = {};
};

// Training steps of all masks.
std::int64_t all_steps(const TorchMasking& masking);

// Nothing if it was asked to stop: then `unfinished` has the masks that were done and how far the one in work was, and
// the same call goes on there.
std::optional<MaskOutcome> mask_on_torch(models::TorchNetwork& network, std::span<const float> weights,
                                         const TorchMasking& masking, const engine::Kernels<float>& kernels,
                                         DigitProgress& progress, const io::Unfinished& unfinished = {});

}  // namespace modlab::methods
