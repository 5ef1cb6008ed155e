#include "models/resolve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "core/errors.h"
#include "models/initial_weights.h"

namespace modlab::models {
namespace {

constexpr int kPublishedModuleWidth = 12;
constexpr int kMaxTasks = 16;
// The most parameters a network may have: beyond, a block does not fit into memory.
constexpr std::size_t kMaxParameters = 10'000'000;

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

void check_picks(const RunSpec& spec, const tasks::TaskSuite& suite, const std::vector<int>& levels,
                 const FirstLevel& first) {
  // Modules as wide as the widest gate have inputs to spare on levels whose gates need fewer.
  const bool is_asked_for = spec.fan_in <= tasks::widest_gate(suite);
  const auto depth = static_cast<std::size_t>(sizes_of(suite).depth);
  int candidates = first.candidates;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const int needed = is_asked_for && level < depth ? tasks::widest_gate(suite, level) : spec.fan_in;
    if (needed > candidates) {
      throw ConfigError(
          fmt::format("fan_in is {}, but level {} has only {} candidates to pick from; lower fan_in or {}", spec.fan_in,
                      level + 1, candidates, level > 0 ? "widen the level below" : first.way_to_more));
    }
    candidates = levels[level];
  }
  const int all = std::accumulate(levels.begin(), levels.end(), 0);
  const int readable = spec.outputs_from_all ? all : levels.back();
  if (suite.outputs() > readable) {
    throw ConfigError(
        fmt::format("task '{}' has {} outputs, but they have only {} modules to read; widen the last level{}",
                    spec.task, suite.outputs(), readable,
                    suite.outputs() <= all ? " or let outputs read every level with --outputs-from all" : ""));
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

}  // namespace

tasks::TrueSizes sizes_of(const tasks::TaskSuite& suite) {
  if (const std::optional<tasks::TrueSizes> sizes = tasks::true_sizes(suite)) {
    return *sizes;
  }
  const std::vector<int> levels = {(suite.inputs() + 1) / 2, suite.outputs()};
  return {.modules = levels, .slots = levels, .pool = 2, .depth = 2};
}

void resolve_training(RunSpec& spec, const tasks::TaskSuite& suite) {
  if (suite.tasks.size() > kMaxTasks) {
    throw ConfigError(
        fmt::format("suite '{}' has {} tasks; at most {} are possible", spec.task, suite.tasks.size(), kMaxTasks));
  }
  if (spec.gamma != 1 && spec.schedule == engine::Schedule::kConstant) {
    // A factor alone asks for the schedule it belongs to, which is the published default.
    spec.schedule = engine::Schedule::kExponential;
  }
  if (spec.model == ModelKind::kSparse && spec.density <= 0) {
    throw ConfigError("density must be above 0, or the network has no weights");
  }
}

void resolve_modules(RunSpec& spec, const tasks::TaskSuite& suite, const FirstLevel& first) {
  const tasks::TrueSizes sizes = sizes_of(suite);
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
  check_picks(spec, suite, levels, first);
  check_known(spec, suite, levels);
  if (spec.gumbel != engine::Gumbel::kOff && !spec.tau) {
    throw ConfigError("gumbel needs a temperature; give tau a number, such as --tau 1");
  }
}

ModularShape modular_shape(const RunSpec& spec, const tasks::TaskSuite& suite, int inputs) {
  ModularShape shape;
  shape.inputs = inputs;
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

std::vector<tasks::Routing> known_routing(const RunSpec& spec, const tasks::TaskSuite& suite) {
  if (!spec.known_inputs && !spec.known_modules && !spec.known_outputs) {
    return {};
  }
  return tasks::true_routing(suite, spec.has_pool(), spec.fan_in);
}

engine::BlockSettings block_settings(const RunSpec& spec) {
  return {.epochs = spec.epochs,
          .batch_size = spec.batch_size,
          .optimizer = spec.optimizer,
          .loss = spec.loss,
          .gumbel = spec.is_mlp() ? engine::Gumbel::kOff : spec.gumbel};
}

engine::LaneSettings common_lane(const RunSpec& spec, const engine::Layout& layout) {
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
  lane.initial = initial_parameters(layout, spec.init, spec.seed);
  if (spec.model == ModelKind::kSparse) {
    lane.mask = random_mask(layout, spec.density, spec.seed);
    for (std::size_t parameter = 0; parameter < lane.initial.size(); ++parameter) {
      lane.initial[parameter] *= lane.mask[parameter];
    }
  }
  return lane;
}

void check_parameters(const engine::Layout& layout) {
  if (layout.count > kMaxParameters) {
    throw ConfigError(
        fmt::format("the network has {} parameters; at most {} are possible", layout.count, kMaxParameters));
  }
}

}  // namespace modlab::models
