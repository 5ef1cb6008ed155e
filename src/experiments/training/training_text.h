#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/training.h"
#include "experiments/experiment.h"
#include "models/population.h"

namespace modlab::experiments {

// "1,234 of 5,000 networks, 716 a second".
Status networks_trained(std::int64_t epochs_done, std::int64_t total_epochs, std::size_t networks, double seconds);

// Losses and accuracies at the epochs of a curve, and at the best one, as CSV with a header.
std::string epoch_table(const engine::LaneResult& lane, const models::PartRows& rows);

// Accuracies by epoch as a store has them. `snapshots` say how many rows each part has. Throws FormatError, naming
// `source`, where the two do not fit together.
std::string stored_curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                             std::size_t parts, const std::string& test_part, const std::string& source);

// The same as numbers.
struct StoredAccuracies {
  std::vector<int> epochs;                 // of the curve, and the best one
  std::vector<std::vector<double>> parts;  // [part], at epochs, in percent
};
StoredAccuracies stored_accuracies(const Run& run, const std::map<std::string, Numbers>& snapshots,
                                   const std::string& curve, std::size_t parts, const std::string& test_part,
                                   const std::string& source);

// Parameters as a store keeps them. Throws FormatError, naming `source`, if they are not `count` numbers.
std::string weight_bytes(const std::vector<float>& parameters);
std::vector<float> stored_weights(const std::string& bytes, std::size_t count, const std::string& source);

}  // namespace modlab::experiments
