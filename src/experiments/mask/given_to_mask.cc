#include "experiments/mask/given_to_mask.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "core/errors.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "methods/sculpt/pruned_mlp.h"
#include "models/layered_network_file.h"
#include "models/saved_snapshot.h"
#include "models/saved_tensors.h"
#include "models/table_data.h"
#include "models/training_settings.h"
#include "tasks/split.h"
#include "tasks/task_cache.h"

namespace modlab::experiments {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

// Of all bits on some rows, in percent.
double bit_accuracy(const engine::Data& data, const std::vector<std::uint32_t>& said,
                    const std::vector<std::uint32_t>& rows) {
  const std::uint32_t outputs = (1U << data.outputs) - 1;
  int right = 0;
  for (const std::uint32_t row : rows) {
    right += data.outputs - std::popcount((said[row] ^ data.target_words[row]) & outputs);
  }
  return 100.0 * right / (static_cast<double>(rows.size()) * data.outputs);
}

std::vector<std::uint32_t> said_by(const GivenToMask& given, const engine::Kernels<float>& kernels) {
  const auto network = models::make_network<float>(given.blueprint, kernels);
  return methods::predict(kernels, *network, given.blueprint.data, {given.network.weights}).front();
}

void check_accuracy(const GivenToMask& given, const std::string& path, double says, double has) {
  constexpr double kSame = 0.01;
  if (std::abs(says - has) > kSame) {
    throw FormatError(
        fmt::format("{}: {} says that its accuracy is {:.2f} %, but it is {:.2f} % on {}; is it the network of "
                    "that task?",
                    path, given.id, says, has, given.suite->name));
  }
}

std::vector<std::uint32_t> test_rows(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  std::vector<std::uint32_t> rows;
  const int of_task = 1 << suite.inputs();
  std::uint32_t first = 0;
  for (const tasks::Split& split :
       tasks::published_splits(spec.ratio, spec.split_seed, of_task, static_cast<int>(suite.tasks.size()))) {
    for (const int row : split.test) {
      rows.push_back(first + static_cast<std::uint32_t>(row));
    }
    first += static_cast<std::uint32_t>(of_task);
  }
  return rows;
}

// What `modlab train --save` wrote: it carries its task, its settings and its accuracy.
GivenToMask from_training(const std::string& path, const std::string& task, const std::string& snapshot,
                          const engine::Kernels<float>& kernels) {
  models::AnySavedSnapshot loaded = models::load_snapshot(path, snapshot);
  auto* saved = std::get_if<models::SavedSnapshot>(&loaded);
  if (saved == nullptr) {
    throw ConfigError(path + ": masks are for networks on truth tables; this one is on images or rules");
  }
  GivenToMask given;
  given.id = std::filesystem::path(path).stem().string();
  given.model = models::model_name(saved->network.spec.model);
  given.suite = std::make_shared<const tasks::TaskSuite>(saved->network.suite);
  given.tasks = saved->network.tasks;
  given.network.weights = saved->parameters();
  given.network.seed = saved->network.spec.seed;
  given.blueprint = saved->network.blueprint;
  given.network.untrained = untrained_weights(saved->network.spec, given.blueprint, *given.suite);
  check_accuracy(
      given, path, saved->score("test_accuracy"),
      bit_accuracy(given.blueprint.data, said_by(given, kernels), test_rows(saved->network.spec, *given.suite)));
  if (!task.empty() && task != given.suite->name) {
    const auto other = tasks::cached_task(task);
    if (other->inputs() != given.suite->inputs() || other->outputs() != given.suite->outputs() ||
        other->tasks.size() != given.suite->tasks.size()) {
      throw ConfigError(fmt::format("{} has {} inputs and {} outputs, but the network in {} reads {} and says {}", task,
                                    other->inputs(), other->outputs(), path, given.suite->inputs(),
                                    given.suite->outputs()));
    }
    given.suite = other;
    for (std::size_t at = 0; at < other->tasks.size(); ++at) {
      const std::vector<std::uint32_t>& rows = other->tasks[at].table.rows;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        given.blueprint.data.target_words[at * rows.size() + row] = rows[row] | static_cast<std::uint32_t>(at)
                                                                                    << engine::kTaskShift;
      }
    }
  }
  return given;
}

GivenToMask from_layers(const models::NamedNetwork& named, const std::string& path, const std::string& task,
                        const engine::Kernels<float>& kernels) {
  GivenToMask given;
  given.id = named.id;
  given.suite = tasks::cached_task(task);
  if (given.suite->tasks.size() != 1 || given.suite->images()) {
    throw ConfigError(fmt::format("{} is no single task on bits, as a network of layers needs", task));
  }
  const methods::PrunedMlp pruned = methods::from_layered(named.network);
  if (pruned.shape.widths.front() != given.suite->inputs() || pruned.shape.widths.back() != given.suite->outputs()) {
    throw ConfigError(fmt::format("{} has {} inputs and {} outputs, but {} in {} reads {} and says {}", task,
                                  given.suite->inputs(), given.suite->outputs(), named.id, path,
                                  pruned.shape.widths.front(), pruned.shape.widths.back()));
  }
  given.network.weights = pruned.parameters;
  given.blueprint = layers_blueprint(pruned.shape, given.suite->tasks.front());
  const auto accuracy = named.about.find("accuracy");
  if (accuracy != named.about.end() && accuracy->is_number()) {
    std::vector<std::uint32_t> rows;
    for (int row = 0; row < given.blueprint.data.samples(); ++row) {
      rows.push_back(static_cast<std::uint32_t>(row));
    }
    check_accuracy(given, path, 100 * accuracy->get<double>(),
                   bit_accuracy(given.blueprint.data, said_by(given, kernels), rows));
  }
  return given;
}

}  // namespace

std::vector<float> untrained_weights(const models::RunSpec& spec, const models::Blueprint& blueprint,
                                     const tasks::TaskSuite& suite) {
  engine::LaneSettings lane = models::make_lane(spec, blueprint, suite);
  for (std::size_t place = 0; place < lane.mask.size(); ++place) {
    lane.initial[place] *= lane.mask[place];
  }
  return lane.initial;
}

models::Blueprint layers_blueprint(const models::MlpShape& shape, const tasks::Task& task) {
  models::Blueprint blueprint;
  blueprint.shape = shape;
  blueprint.layout = models::mlp_layout(shape);
  blueprint.data = models::table_data(task);
  return blueprint;
}

methods::MaskSpec small_masks() {
  methods::MaskSpec spec;
  spec.steps = 3000;
  spec.beta.reset();
  return spec;
}

std::vector<GivenToMask> read_networks_to_mask(const std::string& path, const std::string& task,
                                               const std::string& snapshot, const engine::Kernels<float>& kernels) {
  const std::string bytes = io::read_file(path, kMostBytes);
  if (io::is_safetensors(bytes, path) && io::decode_safetensors(bytes, path).metadata.contains(models::kSavedRunKey)) {
    return {from_training(path, task, snapshot, kernels)};
  }
  if (task.empty()) {
    throw ConfigError(path + ": name the task that these networks are for with --task");
  }
  std::vector<GivenToMask> given;
  for (const models::NamedNetwork& named :
       models::parse_layered_networks(bytes, path, {.last_snapshot = snapshot == "last"})) {
    given.push_back(from_layers(named, path, task, kernels));
  }
  return given;
}

}  // namespace modlab::experiments
