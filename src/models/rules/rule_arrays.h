#pragma once

#include <vector>

#include "io/safetensors.h"
#include "models/rules/rule_samples.h"

namespace modlab::models {

// Samples as arrays for other programs: `inputs` with the columns that say the rule (one of them is 1), `rules` as
// numbers from 0, `targets`, each with a dimension for samples and, of sequences, one for tokens; and the rules
// themselves, `alpha` and `beta`, or `A` (rule, lag, row, column), `B` and `w`.
std::vector<io::NamedTensor> rule_arrays(const tasks::RuleTask& task, const RuleBatch& batch);

}  // namespace modlab::models
