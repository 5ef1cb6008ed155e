#pragma once

#include <vector>

#include "methods/detect/detect.h"
#include "tasks/task.h"

// Which outputs fail when a module is cut out of the network.
namespace modlab::methods {

// What a cut takes away. A module with hidden units loses what these give to others and to each other, their outputs
// and inputs stay; one of inputs without hidden units loses its inputs' edges, so that they count as 0; one of outputs
// alone loses the edges into them, so that they answer as their biases say.
enum class Cut { kHiddenUnits, kInputs, kOutputs };

struct Lesion {
  Cut cut = Cut::kHiddenUnits;
  std::vector<double> accuracy;  // of each output: the share of rows on which it is right
  std::vector<int> failing;      // outputs that are right on fewer rows than in the whole network
};

struct LesionTest {
  std::vector<double> accuracy;  // of the whole network
  std::vector<Lesion> lesions;   // for each module of the hierarchy
};

// Throws ConfigError where network and task do not fit (see check_fits).
LesionTest lesion_test(const models::LayeredNetwork& network, const Hierarchy& hierarchy, const tasks::Task& task);

// For people: "hidden units".
const char* text_of(Cut cut);

}  // namespace modlab::methods
