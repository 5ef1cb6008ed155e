#pragma once

#include <compare>
#include <string>
#include <vector>

#include "models/layered_network.h"
#include "tasks/task.h"

namespace modlab::methods {

// A unit of a network.
struct UnitPlace {
  int layer = 0;
  int unit = 0;

  friend auto operator<=>(const UnitPlace&, const UnitPlace&) = default;
};

// Units by name: inputs and outputs as the task calls them, or in0 and out0 without one; hidden units by layer and
// number, h1.7. Numbers are those of the network, from 0; the first hidden layer is 1.
class UnitNames {
 public:
  explicit UnitNames(const models::LayeredNetwork& network);
  // The network has the task's inputs and outputs.
  UnitNames(const models::LayeredNetwork& network, const tasks::Task& task);

  std::string of(const UnitPlace& place) const;
  // In the order given, with blanks between.
  std::string list(const std::vector<UnitPlace>& places) const;
  std::string list(int layer, const std::vector<int>& units) const;

 private:
  int last_layer_;
  std::vector<std::string> inputs_;  // empty without a task
  std::vector<std::string> outputs_;
};

// "inputs", "hidden 1", "outputs".
std::string layer_name(int layer, int layers);

}  // namespace modlab::methods
