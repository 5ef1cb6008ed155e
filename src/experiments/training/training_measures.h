#pragma once

#include <vector>

#include "engine/training.h"
#include "experiments/measure.h"
#include "measures/flops.h"
#include "measures/network_measures.h"
#include "models/population.h"

// What is said of a trained network, on truth tables and on images.
namespace modlab::experiments {

// The measures that both have: of parts by the names that they have there ("train", "validation", "test").
std::vector<Measure> training_measures(const std::vector<std::string>& parts);
// Of one task of a suite: "test_accuracy_2".
std::vector<Measure> task_measures();
Measure percent_measure(std::string name, std::string label, std::string chance = "");
Measure share_measure(std::string name, std::string label);

// Accuracies, losses and rows of all parts, and the epoch.
Numbers snapshot_numbers(const engine::Snapshot& snapshot, const models::PartRows& rows, int tasks);
void add_structure(const measures::NetworkMeasures& found, Numbers& numbers);
// What follows from the others. `test` is the name of the part that is tested on.
void add_derived(const measures::FlopCount& flops, int batch_size, const std::string& test, Numbers& numbers);

}  // namespace modlab::experiments
