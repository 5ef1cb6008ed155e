#pragma once

#include <vector>

#include "methods/detect/unit_names.h"
#include "models/layered_network.h"
#include "tasks/task.h"

// A layered network on all rows of a truth table.
namespace modlab::methods {

// Throws ConfigError unless the network reads the task's bits and has its outputs.
void check_fits(const models::LayeredNetwork& network, const tasks::Task& task);

// Where each unit is active, which is above zero, [layer][unit]; rows beyond the last hold 0. The network has at most
// tasks::kMaxInputs inputs.
std::vector<std::vector<tasks::Column>> active_rows(const models::LayeredNetwork& network);

// The share of rows on which each output is right, from 0 to 1. As above.
std::vector<double> output_accuracies(const models::LayeredNetwork& network, const tasks::TruthTable& table);

// Units that no input reaches but that are active all the same, by their bias, and that feed a live unit. They are dead
// to the detector, yet what they feed is not the same without them.
std::vector<UnitPlace> constant_units(const models::LayeredNetwork& network, const std::vector<std::vector<int>>& live);

}  // namespace modlab::methods
