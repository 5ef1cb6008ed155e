#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/blueprint.h"
#include "tasks/task.h"

namespace modlab::measures {

// Pearson's correlation; 0 where a side is constant (up to rounding) or not finite.
double pearson(std::span<const double> a, std::span<const double> b);

// How closely the modules of level 1 compute the operation of the task's first level: |rho| between what a module says
// to the clean rows 00, 01, 10, 11 and the truth column of the operation. Where several operations stand on the first
// level, of one task or of several, a module's |rho| is its largest with any of them; of a gate that needs one value
// the module's other input is free, and may be the first or the second. A slot with a pool
// stands for the member it selects. With several tasks, all slots of all tasks count the same.
struct Specialisation {
  double mean = 0;
  double max = 0;
  std::vector<double> modules;  // [task][level-1 slot], as one list
};

// Nothing for monolithic networks, where a task has no graph, and where fan-in is not 2.
std::optional<Specialisation> specialisation(const models::Blueprint& blueprint, const tasks::TaskSuite& suite,
                                             const std::vector<float>& parameters);

// How closely every slot follows every gate of a task, in place: correlations over all rows of the truth table.
struct InSitu {
  std::vector<std::vector<double>> correlation;  // [slot through all levels][gate through all levels], signed
  // [level][slot]: gate of the level or -1. Among the matchings of minimum edit distance the one with the largest sum
  // of |rho|.
  std::vector<std::vector<int>> matching;
  double mean = 0;   // |rho| of matched slot and gate over all gates; a gate without a slot counts 0
  int distance = 0;  // the edit distance that the matching shows, to the slots that take part in it
};

// Nothing for monolithic networks, and where the task has no graph. In a suite of several tasks a slot that no output
// of this task depends on is matched with nothing: it may serve another task.
std::optional<InSitu> in_situ_correlation(const models::Blueprint& blueprint, const tasks::TaskSuite& suite, int task,
                                          const std::vector<float>& parameters);

}  // namespace modlab::measures
