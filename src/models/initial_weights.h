#pragma once

#include <vector>

#include "engine/network.h"
#include "models/images/shape.h"
#include "models/modular.h"
#include "models/run_spec.h"
#include "tasks/routing.h"

namespace modlab::models {

// Random initial parameters for every tensor, from the run's seed: weights and biases as `init` says, selection vectors
// standard normal.
std::vector<float> initial_parameters(const engine::Layout& layout, Init init, std::uint64_t seed);

// Overwrites the known selection vectors with the routing: the first pick 1.1, the second 1.0, others 0.
void fix_known_selections(const ModularShape& shape, const SelectionPlaces& places,
                          const std::vector<tasks::Routing>& routing, std::vector<float>& parameters);

// The same for the image slots: slot i reads image i and uses the image pool's first module.
void fix_known_images(const ImageModularShape& shape, std::vector<float>& parameters);

// A random sparse mask over an MLP's parameters: one uniform score for each weight of the whole network, kept if above
// the (1 - density) quantile; the bias of a unit without incoming weights goes too.
std::vector<float> random_mask(const engine::Layout& layout, double density, std::uint64_t seed);

}  // namespace modlab::models
