#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/images/image_network.h"
#include "models/mlp.h"
#include "models/modular.h"
#include "models/run_spec.h"
#include "tasks/routing.h"
#include "tasks/task.h"

namespace modlab::models {

// What runs of one shape have in common: network, data, and the settings that all lanes of a block share. Runs with
// equal block keys have equal blueprints and can train in one block.
struct Blueprint {
  std::variant<MlpShape, ModularShape, ImageMlpShape, ImageModularShape> shape;
  engine::Layout layout;
  engine::Data data;  // empty on images
  engine::BlockSettings block;
  std::vector<tasks::Routing> known_routing;  // one for each task, where some selection is known

  // On images networks are trained one at a time.
  bool on_images() const {
    return std::holds_alternative<ImageMlpShape>(shape) || std::holds_alternative<ImageModularShape>(shape);
  }
};

// Fills in what the spec leaves to the task (sizes), and checks that the whole makes sense for it: a module picks no
// more candidates than there are, known routing has a graph to come from, the split leaves rows. Throws ConfigError.
RunSpec resolve(const RunSpec& given, const tasks::TaskSuite& suite);

// For a resolved spec: all settings but those in which the lanes of a block may differ.
std::string block_key(const RunSpec& spec);
Blueprint make_blueprint(const RunSpec& spec, const tasks::TaskSuite& suite);

template <typename T>
std::unique_ptr<engine::Network<T>> make_network(const Blueprint& blueprint, const engine::Kernels<T>& kernels);

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_network(const Blueprint& blueprint,
                                                             const engine::solo::Kernels<T>& kernels);

// The lane of one run: rates, mask and initial weights, and on bits its split.
engine::LaneSettings make_lane(const RunSpec& spec, const Blueprint& blueprint, const tasks::TaskSuite& suite);

}  // namespace modlab::models
