#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/team.h"
#include "io/unfinished.h"
#include "methods/mask/mask_outcome.h"
#include "methods/mask/masked_parameters.h"
#include "models/digits/digit_task.h"

namespace modlab::methods {

// A network on arithmetic that is trained and then masked, with everything that decides what comes of it.
struct DigitMaskingSpec {
  models::DigitTask task;
  std::vector<int> hidden = {2000, 2000, 2000, 2000};  // of a feed-forward network
  int state = 256;                                     // of an LSTM
  int layers = 2;
  std::uint64_t seed = 0;
  int steps = 20'000;
  int batch_size = 128;
  double lr = 1e-3;
  double clip = 1;
  // Of two sums, feed-forward: after the training the first sum gets the second one's input and output weights, so that
  // one set of hidden weights serves both.
  bool copy_weights = false;
  int delay = 0;  // of two sums: for so many steps the first one is learned alone
  MaskSpec mask;
  bool controls = true;
};

models::DigitShape digit_shape(const DigitMaskingSpec& spec);

// Where the control mask is on the early tensors alone, or on the late ones: accuracy of everything at once, in
// percent.
struct HalfMasks {
  double full = 0;
  double early = 0;
  double late = 0;
};

struct MaskedDigits {
  std::vector<float> weights;  // in the order of models::digit_layout
  MaskOutcome outcome;
  HalfMasks halves;
  double everything = 0;  // all answers of a sample right, without a mask, in percent
};

struct DigitProgress {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> steps{0};
  std::atomic<std::int64_t> found{0};  // steps that an earlier call took, and that need not be taken again
};

// Training steps that a network and its masks take.
std::int64_t all_steps(const DigitMaskingSpec& spec);

// Nothing if it was asked to stop: then `unfinished` has the weights and the masks that were done, and those that it
// has already are not trained again.
std::optional<MaskedDigits> mask_digits(const DigitMaskingSpec& spec, int threads,
                                        const engine::Kernels<float>& kernels, DigitProgress& progress,
                                        const io::Unfinished& unfinished = {});

// How long one training step of the network and one of a mask take here.
struct DigitStepSeconds {
  double weights = 0;
  double mask = 0;
};
DigitStepSeconds digit_step_seconds(const DigitMaskingSpec& spec, const engine::Kernels<float>& kernels);

}  // namespace modlab::methods
