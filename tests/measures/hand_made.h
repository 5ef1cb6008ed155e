#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/blueprint.h"
#include "models/training_settings.h"
#include "tasks/task_file.h"

namespace modlab::test {

// A modular network whose modules are set by hand.
struct HandMade {
  tasks::TaskSuite suite;
  models::RunSpec spec;
  models::Blueprint blueprint;
  std::vector<float> parameters;

  const models::ModularShape& shape() const { return std::get<models::ModularShape>(blueprint.shape); }

  // A module of two inputs that says constant + sum * (x + y) + bend * max(0, x + y - 1): all symmetric functions of
  // two bits.
  void set_module(int module, float constant, float sum, float bend) {
    const std::size_t at = models::modular_layout(shape()).modules[module];
    const std::size_t hidden = shape().module_widths[1];
    std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(at), 4 * hidden + 1, 0.0F);
    const std::size_t bias = at + 2 * hidden;
    for (std::size_t weight = 0; weight < 4; ++weight) {
      parameters[at + weight] = 1;
    }
    parameters[bias + 1] = -1;
    const std::size_t output = bias + hidden;
    parameters[output] = sum;
    parameters[output + 1] = bend;
    parameters[output + hidden] = constant;
  }
  void set_xor(int module) { set_module(module, 0, 1, -2); }
  void set_and(int module) { set_module(module, 0, 0, 1); }
  void set_or(int module) { set_module(module, 0, 1, -1); }
  void set_constant(int module, float value) { set_module(module, value, 0, 0); }
};

// With the true routing where the model has it, and otherwise with random selections.
inline HandMade hand_made(tasks::TaskSuite suite, const std::vector<std::pair<const char*, const char*>>& values) {
  HandMade network;
  network.suite = std::move(suite);
  for (const auto& [name, value] : values) {
    models::bit_settings().set(network.spec, name, value);
  }
  network.spec = models::resolve(network.spec, network.suite);
  network.blueprint = models::make_blueprint(network.spec, network.suite);
  network.parameters = models::make_lane(network.spec, network.blueprint, network.suite).initial;
  return network;
}
inline HandMade hand_made(const std::string& task, const std::vector<std::pair<const char*, const char*>>& values) {
  return hand_made(tasks::load_task(task), values);
}

}  // namespace modlab::test
