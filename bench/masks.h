#pragma once

#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "engine/kernels/kernels.h"
#include "models/digits/digit_shape.h"

namespace modlab::bench {

// A network on two-digit addition and multiplication whose masks, and weights, are trained.
struct MaskWork {
  std::string name;
  models::DigitShape shape;
  int steps = 10;  // that are timed
};
inline constexpr int kMaskRows = 128;  // of a batch
inline constexpr int kMaskSamples = 4;
inline constexpr int kShownSteps = 3;  // of an LSTM

// The published networks but the widest, smaller ones first.
std::vector<MaskWork> mask_work();

// As many multiply-adds backward to the inputs and to the weights as forward, two FLOPs each; every input counts, and
// every step of an LSTM. Drawing masks counts nothing.
double mask_step_flops(const MaskWork& work);

// The best time of a step, data given; the loss of the last.
struct MaskTiming {
  SpentTime step;
  double loss = 0;
};
// `near`: the share of logits that are where they begin; all others are so far down that nothing is computed for them,
// as most are in most of a mask's training.
MaskTiming time_mask_steps(const MaskWork& work, int samples, int threads, const engine::Kernels<float>& kernels,
                           double near = 1);
MaskTiming time_weight_steps(const MaskWork& work, int threads, const engine::Kernels<float>& kernels);

// Masks over one small network (6-36-36-36-2 on depth 2), as many as there are lanes, with the same rows and samples:
// seconds of one mask's step, and the floating-point operations of its products.
double time_lane_mask_step(const engine::Kernels<float>& kernels);
double lane_mask_step_flops();

}  // namespace modlab::bench
