#pragma once

#include <string>
#include <vector>

#include "methods/torch/torch_masking.h"
#include "models/torch/given_samples.h"

namespace modlab::methods {

// Targets of samples that someone brought: which of them a mask learns from, and which tests are its own.
struct SampleTargets {
  TorchTarget whole;
  std::vector<TorchTarget> targets;
  std::vector<std::vector<std::uint8_t>> tests;  // [target][test]: 1 where it is the target's
};

// "outputs": one for each column of labels, y1, y2 and so on; "classes": for each class everything but it; or a CSV
// file with a column for each target and a line for each sample, those that are tested on last, 1 where it belongs to
// the target and otherwise 0. Throws ConfigError or FormatError.
SampleTargets sample_targets(const std::string& text, const models::GivenSamples& samples);
// Those of such a file by its text; `path` stands in messages.
SampleTargets parse_sample_targets(const std::string& text, const std::string& path,
                                   const models::GivenSamples& samples);

// What a network with so many outputs says of the tests, judged: of a target, samples of its own that are right in all
// columns that count. Of real numbers: how much of their variance is explained, 0 if none is.
TorchJudgement judge_samples(const std::vector<float>& said, int outputs, const models::GivenSamples& samples,
                             const SampleTargets& targets);

}  // namespace modlab::methods
