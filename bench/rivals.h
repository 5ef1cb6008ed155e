#pragma once

#include <optional>
#include <string>

#include "bench/curve.h"
#include "bench/masks.h"
#include "bench/stopwatch.h"
#include "bench/torch_masks.h"
#include "bench/trial_numbers.h"
#include "bench/work.h"

namespace modlab::bench {

struct RivalTiming {
  double us_per_net_step = 0;
  double test_accuracy = 0;  // of so few epochs that it says nothing; shown in the JSON only
  std::string torch;         // its version
  std::string blas;
};

// Runs one script of bench/rivals on the work, one thread; nothing if it cannot (functorch is missing, say). Throws
// ConfigError if PyTorch itself is not there.
std::optional<RivalTiming> time_rival(const std::string& rival, const Work& work, int ensemble, int epochs);

// The same for bench/rivals/mnist.py: training steps alone on the files in `folder`, as usually written or tuned.
struct MnistRivalTiming {
  SpentTime step;
  std::string torch;
  std::string blas;
};
std::optional<MnistRivalTiming> time_mnist_rival(const ImageWork& work, const std::string& folder, bool tuned);

// A whole training of the tuned mnist.py. Throws ConfigError if it fails.
Curve train_mnist_rival(const ImageWork& work, const std::string& folder, int seed);

// The same for bench/rivals/rules.py: whole steps of several networks, and their mean loss over the last quarter of
// them. Throws ConfigError if it fails.
struct RuleRivalTiming {
  SpentTime step;
  double loss = 0;
  std::string torch;
  std::string blas;
};
RuleRivalTiming time_rule_rival(const RuleWork& work, int networks, bool tuned);

// The same for bench/rivals/mask.py: steps that train masks, or weights. Throws ConfigError if it fails.
struct MaskRivalTiming {
  SpentTime step;
  double loss = 0;
  std::string torch;
  std::string blas;
};
MaskRivalTiming time_mask_rival(const MaskWork& work, bool of_weights, bool tuned);
// The same for bench/rivals/mask_networks.py, all samples in one pass or each in its own.
struct TorchMaskRivalTiming {
  SpentTime step;
  SpentTime sampler;
  SpentTime optimizer;
  std::size_t masked = 0;
  double loss = 0;
  std::string torch;
  std::string blas;
};
TorchMaskRivalTiming time_torch_mask_rival(const TorchMaskWork& work, bool in_passes);
// Seconds of one mask's step in bench/rivals/mask_lanes.py: of one mask, as published, or of `stack` side by side.
double time_lane_mask_rival(int stack);

// One trial of bench/rivals/sculpt.py, or what it does with the first `unit_steps` unit steps alone. Throws ConfigError
// if it fails.
struct SculptRivalTrial {
  SpentTime time;
  bool learned = false;  // the dense network did; if not, nothing was pruned
  TrialNumbers numbers;
  std::string torch;
  std::string blas;
};
SculptRivalTrial sculpt_rival(const SculptWork& work, int seed, std::optional<int> unit_steps);

// The speed of the rival's own large products, on one thread.
//
// OpenBLAS falls back to old kernels on processors that it does not know, without a word; so each of its kernels for
// newer ones is tried, and all measurements use the fastest.
struct RivalProducts {
  double gflops = 0;
  std::string kernels;          // the fastest: OPENBLAS_CORETYPE
  double gflops_by_itself = 0;  // with the ones that it takes unasked
  std::string kernels_by_itself;
};
const RivalProducts& rival_products();

// A rival that runs below a third of the peak of the machine on large products is no fair one.
bool is_fair(const RivalProducts& products, double peak_gflops);

// Throws ConfigError with the way out if there is no Debian python3 with torch.
void require_torch();

}  // namespace modlab::bench
