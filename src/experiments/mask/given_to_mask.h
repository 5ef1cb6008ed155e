#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "methods/mask/masked_bits.h"
#include "models/blueprint.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::experiments {

// How masks over small networks are trained where nothing else is said.
methods::MaskSpec small_masks();

// What a network was before its training; weights that it lacks are zero.
std::vector<float> untrained_weights(const models::RunSpec& spec, const models::Blueprint& blueprint,
                                     const tasks::TaskSuite& suite);

// A network of layers that was trained elsewhere, as the engine has it.
models::Blueprint layers_blueprint(const models::MlpShape& shape, const tasks::Task& task);

// A network from a file, ready to be masked.
struct GivenToMask {
  std::string id;
  std::string model;  // "modular-shared"; empty where the file does not say
  std::shared_ptr<const tasks::TaskSuite> suite;
  tasks::TasksAtHand tasks;  // its own, while it lives
  models::Blueprint blueprint;
  methods::NetworkToMask network;
};

// The networks of a file that `modlab train --save`, `modlab sculpt` or anyone else wrote; those of layers alone need
// the name of their task, others carry it. Throws ConfigError or FormatError, also where a network does not reproduce
// the accuracy that its file says it has.
std::vector<GivenToMask> read_networks_to_mask(const std::string& path, const std::string& task,
                                               const std::string& snapshot, const engine::Kernels<float>& kernels);

}  // namespace modlab::experiments
