#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::python {

// Settings as Python's arguments have them: the words of each, by name.
using Asked = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The runs of all combinations, as the program makes them of the same words. `model` is that of a function that stands
// for one. Throws ConfigError for names and values that are none.
std::vector<experiments::Run> runs_of(const Asked& asked, const std::optional<std::string>& model);

}  // namespace modlab::python
