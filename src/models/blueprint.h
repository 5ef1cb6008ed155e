#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/mlp.h"
#include "models/modular.h"
#include "models/run_spec.h"
#include "tasks/routing.h"
#include "tasks/task.h"

namespace modlab::models {

// What runs of one shape have in common: network, data, and the settings that all lanes of a block share. Runs with
// equal block keys have equal blueprints and can train in one block.
struct Blueprint {
  std::variant<MlpShape, ModularShape> shape;
  engine::Layout layout;
  engine::Data data;
  engine::BlockSettings block;
  std::vector<tasks::Routing> known_routing;  // one for each task, where some selection is known
};

// Fills in what the spec leaves to the task (sizes), and checks that the whole makes sense for it: a module picks no
// more candidates than there are, known routing has a graph to come from, the split leaves rows. Throws ConfigError.
RunSpec resolve(const RunSpec& given, const tasks::TaskSuite& suite);
// What is more than a RunSpec has a resolve of its own: taken for one it would lose what it has beyond.
// Debian's formatter does not know `requires`.
// clang-format off
template <std::derived_from<RunSpec> Spec>
  requires(!std::same_as<Spec, RunSpec>)
RunSpec resolve(const Spec& given, const tasks::TaskSuite& suite) = delete;
// clang-format on

// For a resolved spec: all settings but those in which the lanes of a block may differ.
std::string block_key(const RunSpec& spec);
Blueprint make_blueprint(const RunSpec& spec, const tasks::TaskSuite& suite);

template <typename T>
std::unique_ptr<engine::Network<T>> make_network(const Blueprint& blueprint, const engine::Kernels<T>& kernels);

// The lane of one run: rates, mask, initial weights and split.
engine::LaneSettings make_lane(const RunSpec& spec, const Blueprint& blueprint, const tasks::TaskSuite& suite);

}  // namespace modlab::models
