#include "models/blueprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/errors.h"
#include "models/images/image_settings.h"
#include "models/initial_weights.h"
#include "models/published_training.h"
#include "models/settings.h"
#include "models/table_data.h"
#include "tasks/image_samples.h"
#include "tasks/split.h"

namespace modlab::models {
namespace {

constexpr int kPublishedHiddenWidth = 36;
constexpr int kPublishedModuleWidth = 12;
constexpr int kPublishedPixelWidths[] = {256, 128};
constexpr int kMaxTasks = 16;
// The most parameters a network may have: beyond, a block does not fit into memory.
constexpr std::size_t kMaxParameters = 10'000'000;

// Sizes for a task whose structure is not known: two levels, pairs of inputs and then the outputs, as the paper's
// depth 2.
tasks::TrueSizes sizes_of(const tasks::TaskSuite& suite) {
  if (const std::optional<tasks::TrueSizes> sizes = tasks::true_sizes(suite)) {
    return *sizes;
  }
  const std::vector<int> levels = {(suite.inputs() + 1) / 2, suite.outputs()};
  return {.modules = levels, .slots = levels, .pool = 2, .depth = 2};
}

void resolve_known(RunSpec& spec) {
  if (spec.model == ModelKind::kModular && spec.known_inputs) {
    spec.model = ModelKind::kModularFc;
  }
  if (spec.model == ModelKind::kShared && spec.known_inputs && spec.known_modules) {
    spec.model = ModelKind::kSharedFcms;
  }
  if (spec.model == ModelKind::kModularFc || spec.model == ModelKind::kSharedFcms) {
    spec.known_inputs = true;
  }
  spec.known_modules = spec.has_pool() && (spec.known_modules || spec.model == ModelKind::kSharedFcms);
  spec.known_outputs = spec.known_outputs || spec.known_inputs;
}

void resolve_module_widths(RunSpec& spec) {
  std::vector<int>& widths = spec.module_widths;
  if (widths.empty()) {
    widths = {kPublishedModuleWidth};
  }
  const bool is_complete = widths.size() >= 2 && widths.back() == 1;
  if (is_complete && widths.front() != spec.fan_in) {
    throw ConfigError(fmt::format("module_widths {} begins with {}, but fan_in is {}; make them equal",
                                  fmt::join(widths, ","), widths.front(), spec.fan_in));
  }
  if (!is_complete) {
    widths.insert(widths.begin(), spec.fan_in);
    widths.push_back(1);
  }
}

// `candidates`: what the first level picks from.
void check_picks(const RunSpec& spec, const tasks::TaskSuite& suite, const std::vector<int>& levels, int candidates) {
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (spec.fan_in > candidates) {
      throw ConfigError(
          fmt::format("fan_in is {}, but level {} has only {} candidates to pick from; lower fan_in or {}", spec.fan_in,
                      level + 1, candidates,
                      level > 0        ? "widen the level below"
                      : spec.on_images ? "add image slots"
                                       : "use a task with more inputs"));
    }
    candidates = levels[level];
  }
  const int output_candidates =
      spec.outputs_from_all ? std::accumulate(levels.begin(), levels.end(), 0) : levels.back();
  if (suite.outputs() > output_candidates) {
    throw ConfigError(
        fmt::format("task '{}' has {} outputs, but they have only {} modules to read; widen the last level", spec.task,
                    suite.outputs(), output_candidates));
  }
}

void check_known(const RunSpec& spec, const tasks::TaskSuite& suite, const std::vector<int>& levels) {
  if (!spec.known_inputs && !spec.known_modules && !spec.known_outputs) {
    return;
  }
  // Says why where there is none.
  const std::vector<tasks::Routing> routing = tasks::true_routing(suite, spec.has_pool(), spec.fan_in);
  const tasks::TrueSizes sizes = sizes_of(suite);
  const std::vector<int>& true_levels = spec.has_pool() ? sizes.slots : sizes.modules;
  if (levels != true_levels) {
    throw ConfigError(fmt::format("known routing needs the sizes of task '{}', {} {}; leave the setting out", spec.task,
                                  spec.has_pool() ? "slots" : "modules", fmt::join(true_levels, ",")));
  }
  if (spec.known_modules && spec.pool < sizes.pool) {
    throw ConfigError(fmt::format("known modules need a pool of at least {}, not {}", sizes.pool, spec.pool));
  }
}

ModularShape modular_shape(const RunSpec& spec, const tasks::TaskSuite& suite) {
  ModularShape shape;
  shape.inputs = spec.on_images ? spec.image_slots * suite.images()->bits : suite.inputs();
  shape.outputs = suite.outputs();
  shape.tasks = static_cast<int>(suite.tasks.size());
  shape.fan_in = spec.fan_in;
  shape.levels = spec.has_pool() ? spec.slots : spec.modules;
  shape.pool = spec.has_pool() ? spec.pool : 0;
  shape.module_widths = spec.module_widths;
  shape.outputs_from_all = spec.outputs_from_all;
  shape.known_inputs = spec.known_inputs;
  shape.known_modules = spec.known_modules;
  shape.known_outputs = spec.known_outputs;
  shape.noise_per_sample = spec.gumbel == engine::Gumbel::kSample;
  return shape;
}

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

// Where the authors did not train a network like it: the rate of most of theirs, batches that grow with the table, and
// as many epochs as it takes.
PublishedTraining usual_training(const tasks::TaskSuite& suite) {
  constexpr double kUsualRate = 0.05;
  constexpr int kSmallestBatch = 8;
  constexpr int kLargestBatch = 32;
  return {kUsualRate, std::clamp((1 << suite.inputs()) / 2, kSmallestBatch, kLargestBatch), 0};
}

void resolve_sculpted(RunSpec& spec, const tasks::TaskSuite& suite) {
  if (suite.images() || suite.tasks.size() > 1) {
    throw ConfigError(fmt::format("task '{}' {}; networks are sculpted on one task of bits", spec.task,
                                  suite.images() ? "is on images" : "is a suite of several tasks"));
  }
  check(spec.detect);
  if (spec.hidden.empty()) {
    spec.hidden = {24, 24};
  }
  const bool same_widths = std::ranges::count(spec.hidden, spec.hidden.front()) == std::ssize(spec.hidden);
  const std::optional<PublishedTraining> published =
      same_widths ? published_training(spec.task, static_cast<int>(spec.hidden.size()), spec.hidden.front())
                  : std::nullopt;
  const PublishedTraining training = published.value_or(usual_training(suite));
  spec.lr = spec.lr > 0 ? spec.lr : training.lr;
  spec.batch_size = spec.batch_size > 0 ? spec.batch_size : training.batch_size;
  spec.epochs = spec.epochs > 0 ? spec.epochs : training.epochs;
  spec.sculpt.epoch_search = spec.sculpt.epoch_search || spec.epochs == 0;
  if (spec.sculpt.epoch_search) {
    spec.epochs = 0;
  }
}

// The settings in which the lanes of one block may differ.
const std::set<std::string>& lane_settings() {
  static const std::set<std::string> kNames = {
      "split_seed",       "seed", "lr",   "lr_structural", "lr_input", "lr_module", "weight_decay",
      "decay_structural", "tau",  "init", "noise",         "density",  "schedule",  "gamma"};
  return kNames;
}

}  // namespace

std::string block_key(const RunSpec& spec) {
  nlohmann::ordered_json shared = settings_json(spec);
  for (const std::string& name : lane_settings()) {
    shared.erase(name);
  }
  return shared.dump();
}

RunSpec resolve(const RunSpec& given, const tasks::TaskSuite& suite) {
  RunSpec spec = given;
  if (spec.is_sculpted()) {
    resolve_sculpted(spec, suite);
    return spec;
  }
  if (suite.tasks.size() > kMaxTasks) {
    throw ConfigError(
        fmt::format("suite '{}' has {} tasks; at most {} are possible", spec.task, suite.tasks.size(), kMaxTasks));
  }
  spec.on_images = suite.images().has_value();
  if (spec.on_images) {
    resolve_images(spec, suite);
  } else if (spec.model == ModelKind::kCnn) {
    throw ConfigError(fmt::format("model cnn reads images, but task '{}' has bits; use model dense", spec.task));
  }
  // Says so if the ratio leaves a part without rows.
  if (spec.on_images) {
    tasks::count_combinations(*suite.images(), spec.ratio);
  } else {
    tasks::count_rows(spec.ratio, 1 << suite.inputs());
  }
  if (spec.gamma != 1 && spec.schedule == engine::Schedule::kConstant) {
    // A factor alone asks for the schedule it belongs to, which is the published default.
    spec.schedule = engine::Schedule::kExponential;
  }
  const tasks::TrueSizes sizes = sizes_of(suite);
  if (spec.is_mlp()) {
    if (spec.hidden.empty()) {
      // Depth 1, 2, 3 of the paper: 1, 3, 5 hidden layers; on images one more, behind those that read them.
      spec.hidden.assign(2 * sizes.depth - (spec.on_images ? 0 : 1), kPublishedHiddenWidth);
      if (spec.on_images && spec.model != ModelKind::kCnn) {
        spec.hidden.insert(spec.hidden.begin(), std::begin(kPublishedPixelWidths), std::end(kPublishedPixelWidths));
      }
    }
    if (spec.model == ModelKind::kSparse && spec.density <= 0) {
      throw ConfigError("density must be above 0, or the network has no weights");
    }
  } else {
    resolve_known(spec);
    resolve_module_widths(spec);
    if (spec.modules.empty() && !spec.has_pool()) {
      spec.modules = sizes.modules;
    }
    if (spec.slots.empty() && spec.has_pool()) {
      spec.slots = sizes.slots;
    }
    if (spec.pool == 0 && spec.has_pool()) {
      spec.pool = sizes.pool;
    }
    const std::vector<int>& levels = spec.has_pool() ? spec.slots : spec.modules;
    check_picks(spec, suite, levels, spec.on_images ? spec.image_slots * suite.images()->bits : suite.inputs());
    check_known(spec, suite, levels);
    if (spec.gumbel != engine::Gumbel::kOff && !spec.tau) {
      throw ConfigError("gumbel needs a temperature; give tau a number, such as --tau 1");
    }
  }
  return spec;
}

Blueprint make_blueprint(const RunSpec& spec, const tasks::TaskSuite& suite) {
  Blueprint blueprint;
  if (!spec.on_images) {
    blueprint.data = table_data(suite.tasks, spec.task_input, spec.is_mlp() && suite.tasks.size() > 1);
  }
  blueprint.block = {.epochs = spec.epochs,
                     .batch_size = spec.batch_size,
                     .optimizer = spec.optimizer,
                     .loss = spec.loss,
                     .gumbel = spec.is_mlp() ? engine::Gumbel::kOff : spec.gumbel};
  if (spec.on_images && spec.is_mlp()) {
    const ImageMlpShape shape = image_mlp_shape(spec, suite);
    blueprint.layout = image_mlp_layout(shape).layout;
    blueprint.shape = shape;
  } else if (spec.is_mlp()) {
    MlpShape shape;
    shape.widths.push_back(static_cast<int>(blueprint.data.inputs.size()));
    shape.widths.insert(shape.widths.end(), spec.hidden.begin(), spec.hidden.end());
    shape.widths.push_back(blueprint.data.outputs);
    blueprint.layout = mlp_layout(shape);
    blueprint.shape = shape;
  } else {
    if (spec.known_inputs || spec.known_modules || spec.known_outputs) {
      blueprint.known_routing = tasks::true_routing(suite, spec.has_pool(), spec.fan_in);
    }
    const ModularShape shape = modular_shape(spec, suite);
    if (spec.on_images) {
      const ImageModularShape image_shape = image_modular_shape(spec, suite, shape);
      blueprint.layout = image_modular_layout(image_shape).layout;
      blueprint.shape = image_shape;
    } else {
      blueprint.layout = modular_layout(shape).layout;
      blueprint.shape = shape;
    }
  }
  if (blueprint.layout.count > kMaxParameters) {
    throw ConfigError(
        fmt::format("the network has {} parameters; at most {} are possible", blueprint.layout.count, kMaxParameters));
  }
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

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_network(const Blueprint& blueprint,
                                                             const engine::solo::Kernels<T>& kernels) {
  if (const auto* mlp = std::get_if<ImageMlpShape>(&blueprint.shape)) {
    return make_image_mlp<T>(*mlp, kernels);
  }
  return make_image_modular<T>(std::get<ImageModularShape>(blueprint.shape), kernels);
}

template std::unique_ptr<engine::solo::Network<float>> make_image_network(const Blueprint&,
                                                                          const engine::solo::Kernels<float>&);
template std::unique_ptr<engine::solo::Network<double>> make_image_network(const Blueprint&,
                                                                           const engine::solo::Kernels<double>&);

engine::LaneSettings make_lane(const RunSpec& spec, const Blueprint& blueprint, const tasks::TaskSuite& suite) {
  engine::LaneSettings lane;
  lane.seed = spec.seed;
  lane.lr = spec.lr;
  lane.lr_input = spec.lr_input;
  lane.lr_module = spec.lr_module;
  lane.weight_decay = spec.weight_decay;
  lane.weight_decay_structural = spec.decay_structural ? spec.weight_decay : 0.0;
  lane.inverse_tau = spec.tau ? 1.0 / *spec.tau : 1.0;
  lane.noise = spec.noise;
  lane.schedule = spec.schedule;
  lane.gamma = spec.gamma;
  lane.initial = initial_parameters(blueprint.layout, spec.init, spec.seed);
  if (const auto* modular = std::get_if<ModularShape>(&blueprint.shape)) {
    fix_known_selections(*modular, modular_layout(*modular), blueprint.known_routing, lane.initial);
  }
  if (const auto* modular = std::get_if<ImageModularShape>(&blueprint.shape)) {
    const SelectionPlaces places = bit_selections(image_modular_layout(*modular));
    fix_known_selections(modular->bits, places, blueprint.known_routing, lane.initial);
    fix_known_images(*modular, lane.initial);
  }
  if (spec.model == ModelKind::kSparse) {
    lane.mask = random_mask(blueprint.layout, spec.density, spec.seed);
    for (std::size_t parameter = 0; parameter < lane.initial.size(); ++parameter) {
      lane.initial[parameter] *= lane.mask[parameter];
    }
  }
  if (!spec.on_images) {
    add_split(spec, blueprint, suite, lane);
  }
  return lane;
}

}  // namespace modlab::models
