#pragma once

#include <cstdint>
#include <vector>

#include "methods/sculpt/pruned_mlp.h"
#include "methods/sculpt/sculpt_spec.h"
#include "tasks/truth_table.h"

namespace modlab::methods {

struct ScoreSettings {
  UnitScore score = UnitScore::kLossSensitivity;
  ScoreNorm norm = ScoreNorm::kNone;
  std::uint64_t seed = 0;  // of random scores
};

// One for each hidden unit, layer after layer. A unit without edges has no more than any other.
std::vector<double> unit_scores(const PrunedMlp& network, const tasks::TruthTable& table,
                                const ScoreSettings& settings);

}  // namespace modlab::methods
