#pragma once

#include <cstdint>

#include "models/rules/rule_shape.h"

namespace modlab::models {

// Everything that decides a training on rule-based data. What is 0 or negative here is left to resolve(), which knows
// the family.
struct RuleSpec {
  tasks::RuleTaskSettings task;
  RuleModel model = RuleModel::kMonolithic;
  int modules = 0;  // 0: as many as rules
  int width = 32;
  int length = 10;  // of training samples, in tokens; 1 where samples are no sequences
  std::uint64_t seed = 0;
  int iterations = 0;
  int batch_size = 256;
  double lr = 1e-4;
  double clip = -1;  // the longest that a gradient may be; 0: as long as it is
  int evaluate_every = 5000;
  int test_samples = 0;
};

// Fills in what was left open, and checks that the whole makes sense. Throws ConfigError.
RuleSpec resolve(RuleSpec spec);

}  // namespace modlab::models
