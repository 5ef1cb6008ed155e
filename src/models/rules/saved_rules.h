#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "models/rules/rule_spec.h"

namespace modlab::models {

// A trained network on rules as a file holds it, as those on truth tables do: tensors of both snapshots, and as
// metadata the run with its settings and results. Its data follow from its settings.
struct SavedRules {
  RuleSpec spec;  // resolved
  RuleShape shape;
  nlohmann::ordered_json run;
  std::vector<float> best;
  std::vector<float> last;
};

io::TensorFile to_tensor_file(const RuleShape& shape, const std::vector<float>& best, const std::vector<float>& last,
                              const nlohmann::ordered_json& run);

// Whether a run that a file carries is one on rules.
bool is_on_rules(const nlohmann::ordered_json& run);

// Throws FormatError where settings make no sense or tensors are not theirs.
SavedRules read_rules(const io::TensorFile& file, const nlohmann::ordered_json& run, const std::string& path);

}  // namespace modlab::models
