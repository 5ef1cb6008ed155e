#pragma once

#include <string>
#include <vector>

#include "models/run_spec.h"
#include "models/settings.h"

namespace modlab::models {

// The values that one setting takes in a grid.
struct Choices {
  const Setting* setting = nullptr;
  std::vector<std::string> values;
};

// All combinations of the choices, the last choice varying fastest. Settings that mean nothing to a model do not
// multiply its runs. Throws ConfigError if there are too many, or a value is not allowed.
std::vector<RunSpec> all_combinations(const std::vector<Choices>& choices);

}  // namespace modlab::models
