#pragma once

#include <cstdint>

#include "models/rules/rule_shape.h"

namespace modlab::models {

// Everything that decides a training on rule-based data. What is 0 or negative here is left to resolve(), which knows
// the family.
struct RuleSpec {
  tasks::RuleTaskSettings task;
  RuleModel model = RuleModel::kModular;
  int modules = 0;  // 0: as many as rules
  int width = 32;
  int length = 10;  // of training samples, in tokens; 1 where samples are no sequences
  std::uint64_t seed = 0;
  int iterations = 0;
  int batch_size = 256;
  double lr = 1e-4;
  double clip = -1;  // the longest that a gradient may be; 0: as long as it is
  GateSettings gates;
  double gate_rate = 1;   // learning rate of what makes the gates, in times of lr
  double rule_skew = 0;   // training: the rule of number r comes as often as r^-skew; 0: all alike
  double rule_noise = 0;  // how often a sample says another rule than its own
  int train_samples = 0;  // 0: every step has fresh ones
  int evaluate_every = 5000;
  int test_samples = 0;
};

// Fills in what was left open, and checks that the whole makes sense. Throws ConfigError.
RuleSpec resolve(RuleSpec spec);

// The same for data and training alone, whatever network learns.
RuleSpec resolve_data(RuleSpec spec);

// The network of a resolved spec. Throws ConfigError where modules would be left without units.
RuleShape rule_shape(const RuleSpec& spec);

}  // namespace modlab::models
