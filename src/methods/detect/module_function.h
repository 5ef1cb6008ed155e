#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/detect/detect.h"
#include "methods/detect/unit_names.h"
#include "tasks/task.h"

// What the modules of a network compute, read off its units: a unit counts as 1 where it is active (above zero) and as
// 0 elsewhere.
namespace modlab::methods {

// An input, a gate or an output of the task that a unit equals on all rows, or negates.
struct NodeMatch {
  std::string name;
  bool negated = false;
};

struct UnitFunction {
  UnitPlace unit;
  int ones = 0;                    // rows on which it is active
  std::vector<int> depends_on;     // inputs of the network that make a difference, ascending
  std::vector<NodeMatch> matches;  // inputs, then gates by level, then outputs of another name
  std::string formula;             // as one gate of inputs, "AND(x1, !x2)"; empty if it is none of at most six
  // Over what the module reads, the first of it changing slowest: 0, 1, or - for bits that no row leads to. Nothing for
  // an input, where the module reads more than six units, and where the same bits lead to 0 and to 1, because it
  // matters how active units are.
  std::optional<std::string> local_table;
  std::string local_formula;  // as one gate of what the module reads, AND and OR before XOR; or empty
};

struct ModuleFunction {
  std::vector<UnitPlace> reads;     // inputs of the network that it has, and units of other modules that feed it
  std::vector<UnitFunction> gives;  // of its units that are outputs of the network or feed other modules
  // Modules of the task all of whose values that leave them are among what this module gives, as they are or negated.
  std::vector<int> computes;
};

// For each module of the hierarchy. Throws ConfigError where network and task do not fit (see check_fits).
std::vector<ModuleFunction> module_functions(const models::LayeredNetwork& network, const Hierarchy& hierarchy,
                                             const tasks::Task& task);

}  // namespace modlab::methods
