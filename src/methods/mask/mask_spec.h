#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/kernels/kernels.h"
#include "methods/mask/mask_clip.h"

namespace modlab::methods {

// What has a logit of its own: every weight, or every unit with all weights that lead into it.
enum class MaskGrain { kWeight, kUnit };
// What is to be small: the sum of the logits, as published, or the expected number of kept weights.
enum class MaskPenaltyKind { kLogits, kCount };

// What an inverted mask leaves of the first and the last layer: what the mask does not keep, as of all others, what the
// control mask keeps, or everything.
enum class InverseEnds { kNone, kFullMask, kOnes };

// How masks over a frozen network are trained.
struct MaskSpec {
  int steps = 20'000;
  int batch_size = 128;  // rows of a step, in `samples` equal parts, each under a mask drawn for it
  int samples = 4;
  double lr = 0.01;
  // Times the sum of the logits, divided by the rows of a batch, it is added to the loss. Nothing: the largest one is
  // looked for with which a mask on everything still does 95 % of what the network does.
  std::optional<double> beta = 1e-4;
  double init = 2;  // of every logit
  double clip = 1;  // of the gradient's length
  double tau = 1;
  engine::MaskDrawing sampler = engine::MaskDrawing::kGumbel;
  MaskPenaltyKind penalty = MaskPenaltyKind::kLogits;
  MaskGrain grain = MaskGrain::kWeight;
  MaskClip clip_of = MaskClip::kLogits;
  // A logit that falls below minus this is given up for good; nothing: none is.
  std::optional<double> active = {};
  InverseEnds inverse_io = InverseEnds::kNone;
  std::vector<std::string> include = {};           // patterns of tensors' names; empty: all
  std::vector<std::string> exclude = {"no-bias"};  // patterns, or presets
};

// Whether a sample of a mask is one bit for each weight.
inline bool has_bits(const MaskSpec& spec) {
  return spec.sampler != engine::MaskDrawing::kHardConcrete && spec.grain == MaskGrain::kWeight;
}

}  // namespace modlab::methods
