#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/mask/mask_outcome.h"
#include "methods/mask/masked_parameters.h"
#include "methods/torch/torch_masking.h"
#include "models/torch/torch_network.h"

// What a network that tells classes apart loses under a mask that never saw one of them.
namespace modlab::methods {

// Samples of classes, and which of them are learned from and tested on.
struct ClassTask {
  std::vector<std::string> names;  // of the classes
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> test;
};

// A function of such a network: to know some of the classes.
struct ClassTarget {
  TorchTarget target;
  std::vector<std::uint8_t> has;  // [class]: 1 where it is one of them
};

// All classes but one, for each of `removed`. `only_present`: the class that is missing cannot be answered while the
// mask is trained; otherwise never saying it is rewarded as well.
std::vector<ClassTarget> without_classes(const ClassTask& task, const std::vector<int>& removed, bool only_present);
// So many pairs of classes, drawn without replacement; all of them if there are no more.
std::vector<ClassTarget> class_pairs(const ClassTask& task, int pairs, std::uint64_t seed);

// Throws ConfigError for a target without a sample to learn from or to be tested on.
void check(const ClassTask& task, const std::vector<ClassTarget>& targets);

// What a network says of the tests, judged: a sample counts for each target that has its class.
TorchJudgement judge_classes(const std::vector<float>& said, const ClassTask& task,
                             const std::vector<ClassTarget>& targets);

// What a mask without a class makes of it, beside the control mask.
struct RemovedClass {
  double drop = 0;                      // points of accuracy that the class loses
  std::optional<double> relative_drop;  // in percent of what it had; nothing if it had nothing
  std::optional<double> worst_other;    // the largest relative drop of another class, in percent of that of this one
};
// Both are [right][said], in percent.
RemovedClass removed_class(const std::vector<std::vector<double>>& control,
                           const std::vector<std::vector<double>>& without, std::size_t removed);

// A mask on the first half of the layers alone, or on the second; of an odd number the middle one is early. A layer is
// a matrix with all vectors that follow it.
models::WeightMask half_of_layers(const models::WeightMask& mask, bool early);

// Whether a mask leaves the way in which a network errs: with the last layer masked, then the last two, and so on, the
// cosine of the gradient of the loss with that of the whole network, over the weights that the mask keeps.
std::vector<double> gradient_cosines(models::TorchNetwork& network, std::span<const float> weights,
                                     const MaskedParameters& masked, const models::WeightMask& mask,
                                     std::span<const std::uint32_t> rows);

}  // namespace modlab::methods
