#pragma once

#include <cstdint>

namespace modlab::models {

// How shares become gates.
enum class GateKind {
  kSoft,             // as they are: every module counts
  kTopK,             // the largest shares as they are, the others not at all
  kStraightThrough,  // the module with the largest share alone, and gradients as if the shares themselves had counted
};

// Which module an oracle takes for a rule.
enum class OracleKind {
  kRule,      // the rule's own
  kPermuted,  // that of another rule, always the same: nothing should change
  kRandom,    // any, drawn for each row, whatever its rule
};

// How a mixture's modules are weighed. The first are of gates that are learned, the last one of an oracle's.
struct GateSettings {
  GateKind kind = GateKind::kSoft;
  int top_k = 1;           // of kTopK
  double gumbel = 0;       // training: that many times Gumbel noise on the scores
  double temperature = 1;  // scores are divided by it
  double cooling = 1;      // at the end of training, in times of the temperature at its beginning
  double balance = 0;      // weight of the loss that asks for modules of equal use
  double entropy = 0;      // weight of what rewards gates that are spread; below 0: gates that are decided
  int oracle_steps = 0;    // training steps in which the rule decides, before the gates do
  OracleKind oracle = OracleKind::kRule;
  // Of the run, which schedules and noise depend on.
  int iterations = 1;
  std::uint64_t seed = 0;
};

}  // namespace modlab::models
