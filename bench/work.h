#pragma once

#include <string>
#include <vector>

#include "methods/sculpt/sculpt_run.h"
#include "models/images/image_spec.h"
#include "models/rules/rule_spec.h"
#include "models/run_spec.h"

namespace modlab::bench {

// One piece of work that is measured on every contestant.
template <typename Spec>
struct WorkOf {
  std::string name;     // as the table shows it
  std::string network;  // as the rivals' --work, or mnist.py's --model, names it; empty where no rival needs it
  Spec spec;
  int rows = 0;            // in a batch; 64 in the loop means all training rows
  bool step_only = false;  // training steps alone: no noise, no evaluation
};

using Work = WorkOf<models::RunSpec>;
using ImageWork = WorkOf<models::ImageSpec>;
using SculptWork = WorkOf<methods::SculptRun>;
using RuleWork = WorkOf<models::RuleSpec>;

// The published protocol at ratio 0.5: full batch and batch 4, the whole loop with evaluation after every epoch; and
// the dense network's training step alone.
std::vector<Work> standard_work();

// The published networks on pairs of MNIST's digits, ratio 0.8, batch 128, each with its rates. The first three are
// those that the paper compares most; the others know their structure.
std::vector<ImageWork> mnist_work();

// Networks to sculpt, trained as published; epochs are those with which nearly every dense network learns.
std::vector<SculptWork> sculpt_work();

// All models of all families on 2, 8 and 32 rules at the least width, named family/model/rules. They learn at a rate
// that shows within the few steps that are timed.
std::vector<RuleWork> rule_work();

// Sizes of networks in which to find modules: layers of images' two-digit tasks, and the same at other widths.
struct DetectWork {
  std::string name;
  std::vector<int> widths;
};
std::vector<DetectWork> detect_work();

// What the arithmetic of one network's epoch (or step, if step_only) costs at least: 2 FLOPs a weight and row forward,
// 4 backward, 2 a weight in use and row of the truth table in evaluation.
double flops_per_epoch(const Work& work);
int steps_per_epoch(const Work& work);

}  // namespace modlab::bench
