#pragma once

#include "bench/stopwatch.h"
#include "bench/work.h"
#include "engine/kernels/kernels.h"

namespace modlab::bench {

// Multiply-adds of one step of training, twice as many FLOPs: as many backward to the inputs and to the weights as
// forward. Every input of the encoders counts, a rule's one-hot columns too; of an oracle only the modules that its
// rows need count.
double rule_step_flops(const RuleWork& work);

// Networks from their first step on, samples drawn within: the best time of a step, and the mean loss over the last
// quarter of the steps of all networks.
struct RuleTiming {
  SpentTime step;
  double loss = 0;
};
RuleTiming time_rule_steps(const RuleWork& work, int networks, const engine::Kernels<float>& kernels);

// Seconds on the clock for so many networks, shared among threads.
double time_rule_threads(const RuleWork& work, int networks, int threads, const engine::Kernels<float>& kernels);

}  // namespace modlab::bench
