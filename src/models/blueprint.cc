#include "models/blueprint.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "models/initial_weights.h"
#include "models/resolve.h"
#include "models/table_data.h"
#include "models/training_settings.h"
#include "tasks/split.h"

namespace modlab::models {
namespace {

constexpr int kPublishedHiddenWidth = 36;

// The rows of each part, from the published split.
void add_split(const RunSpec& spec, const Blueprint& blueprint, const tasks::TaskSuite& suite,
               engine::LaneSettings& lane) {
  const int rows = 1 << suite.inputs();
  const std::vector<tasks::Split> splits =
      tasks::published_splits(spec.ratio, spec.split_seed, rows, static_cast<int>(suite.tasks.size()));
  lane.part.resize(blueprint.data.samples());
  for (std::size_t task = 0; task < splits.size(); ++task) {
    const std::size_t first = task * rows;
    for (const int row : splits[task].train) {
      lane.train.push_back(static_cast<std::uint32_t>(first + row));
      lane.part[first + row] = engine::Part::kTrain;
    }
    for (const int row : splits[task].validation) {
      lane.part[first + row] = engine::Part::kValidation;
    }
    for (const int row : splits[task].test) {
      lane.part[first + row] = engine::Part::kTest;
    }
  }
}

}  // namespace

std::string block_key(const RunSpec& spec) { return bit_settings().shared_key(spec); }

RunSpec resolve(const RunSpec& given, const tasks::TaskSuite& suite) {
  RunSpec spec = given;
  if (spec.model == ModelKind::kCnn) {
    throw ConfigError(fmt::format("model cnn reads images, but task '{}' has bits; use model dense", spec.task));
  }
  // Says so if the ratio leaves a part without rows.
  tasks::count_rows(spec.ratio, 1 << suite.inputs());
  resolve_training(spec, suite);
  if (!spec.is_mlp()) {
    resolve_modules(spec, suite, {suite.inputs(), "use a task with more inputs"});
  } else if (spec.hidden.empty()) {
    // Depth 1, 2, 3 of the paper: 1, 3, 5 hidden layers.
    spec.hidden.assign(2 * sizes_of(suite).depth - 1, kPublishedHiddenWidth);
  }
  return spec;
}

Blueprint make_blueprint(const RunSpec& spec, const tasks::TaskSuite& suite) {
  Blueprint blueprint;
  blueprint.data = table_data(suite.tasks, spec.task_input, spec.is_mlp() && suite.tasks.size() > 1);
  blueprint.block = block_settings(spec);
  if (spec.is_mlp()) {
    MlpShape shape;
    shape.widths.push_back(static_cast<int>(blueprint.data.inputs.size()));
    shape.widths.insert(shape.widths.end(), spec.hidden.begin(), spec.hidden.end());
    shape.widths.push_back(blueprint.data.outputs);
    blueprint.layout = mlp_layout(shape);
    blueprint.shape = shape;
  } else {
    blueprint.known_routing = known_routing(spec, suite);
    const ModularShape shape = modular_shape(spec, suite, suite.inputs());
    blueprint.layout = modular_layout(shape).layout;
    blueprint.shape = shape;
  }
  check_parameters(blueprint.layout);
  return blueprint;
}

template <typename T>
std::unique_ptr<engine::Network<T>> make_network(const Blueprint& blueprint, const engine::Kernels<T>& kernels) {
  if (const auto* mlp = std::get_if<MlpShape>(&blueprint.shape)) {
    return make_mlp<T>(*mlp, kernels);
  }
  return make_modular<T>(std::get<ModularShape>(blueprint.shape), kernels);
}

template std::unique_ptr<engine::Network<float>> make_network(const Blueprint&, const engine::Kernels<float>&);
template std::unique_ptr<engine::Network<double>> make_network(const Blueprint&, const engine::Kernels<double>&);

engine::LaneSettings make_lane(const RunSpec& spec, const Blueprint& blueprint, const tasks::TaskSuite& suite) {
  engine::LaneSettings lane = common_lane(spec, blueprint.layout);
  if (const auto* modular = std::get_if<ModularShape>(&blueprint.shape)) {
    fix_known_selections(*modular, modular_layout(*modular), blueprint.known_routing, lane.initial);
  }
  add_split(spec, blueprint, suite, lane);
  return lane;
}

}  // namespace modlab::models
