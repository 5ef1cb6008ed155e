#include "tasks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/errors.h"

namespace modlab::tasks {
namespace {

bool all_have_graphs(const TaskSuite& suite) {
  return std::ranges::all_of(suite.tasks, [](const Task& task) { return task.graph.has_value(); });
}

std::size_t suite_depth(const TaskSuite& suite) {
  std::size_t depth = 0;
  for (const Task& task : suite.tasks) {
    depth = std::max(depth, task.graph->levels.size());
  }
  return depth;
}

// [task][level][gate]: the number of the gate's sub-function among those of its level, counted over all tasks.
struct SubFunctions {
  std::vector<std::vector<std::vector<int>>> of_gate;
  std::vector<int> count;  // [level]
};

SubFunctions find_sub_functions(const TaskSuite& suite) {
  SubFunctions found;
  found.of_gate.resize(suite.tasks.size());
  found.count.resize(suite_depth(suite), 0);
  for (std::size_t level = 0; level < found.count.size(); ++level) {
    // All operations are symmetric, so inputs are compared sorted. The number tells apart gates that one task repeats:
    // a person does so to give two outputs a gate each.
    using Key = std::pair<GateFunction, int>;
    std::map<Key, int> names;
    for (std::size_t task = 0; task < suite.tasks.size(); ++task) {
      const FunctionGraph& graph = *suite.tasks[task].graph;
      if (level >= graph.levels.size()) {
        continue;
      }
      std::map<Key, int> repeats;
      std::vector<int>& numbers = found.of_gate[task].emplace_back();
      for (const Gate& gate : graph.levels[level]) {
        Key key{gate_function(gate), 0};
        for (Wire& wire : key.first.inputs) {
          wire.index = wire.level == 0 ? wire.index : found.of_gate[task][wire.level - 1][wire.index];
        }
        std::ranges::sort(key.first.inputs);
        key.second = repeats[key]++;
        numbers.push_back(names.emplace(std::move(key), static_cast<int>(names.size())).first->second);
      }
    }
    found.count[level] = static_cast<int>(names.size());
  }
  return found;
}

std::vector<int> slot_counts(const TaskSuite& suite) {
  std::vector<int> slots(suite_depth(suite), 0);
  for (const Task& task : suite.tasks) {
    for (std::size_t level = 0; level < task.graph->levels.size(); ++level) {
      slots[level] = std::max(slots[level], static_cast<int>(task.graph->levels[level].size()));
    }
  }
  return slots;
}

// A function of inputs that are only counted, those that are negated last.
struct Operation {
  bool is_parity = false;
  bool is_inverted = false;
  std::size_t inputs = 0;
  std::size_t negated = 0;

  friend bool operator==(const Operation&, const Operation&) = default;
};

Operation operation_of(const Gate& gate) {
  const GateFunction function = gate_function(gate);
  const auto negated = std::ranges::count_if(function.inputs, &Wire::negated);
  return {function.is_parity, function.is_inverted, function.inputs.size(), static_cast<std::size_t>(negated)};
}

// All tasks', in the order of first appearance, level by level.
std::vector<Operation> operations(const TaskSuite& suite) {
  std::vector<Operation> found;
  for (std::size_t level = 0; all_have_graphs(suite) && level < suite_depth(suite); ++level) {
    for (const Task& task : suite.tasks) {
      for (const Gate& gate : level < task.graph->levels.size() ? task.graph->levels[level] : std::vector<Gate>{}) {
        const Operation operation = operation_of(gate);
        if (std::ranges::find(found, operation) == found.end()) {
          found.push_back(operation);
        }
      }
    }
  }
  return found;
}

// Without the number of inputs.
std::string operation_name(const Operation& operation) {
  const bool inverts = operation.is_inverted;
  if (operation.inputs == 0) {
    return inverts ? "constant 0" : "constant 1";
  }
  if (operation.inputs == 1) {
    return inverts ? "NOT" : "ID";
  }
  if (operation.is_parity) {
    return inverts ? "XNOR" : "XOR";
  }
  if (operation.negated == operation.inputs) {
    return inverts ? "OR" : "NOR";
  }
  return fmt::format("{}{}", inverts ? "NAND" : "AND",
                     operation.negated == 0 ? "" : fmt::format(" with {} negated", operation.negated));
}

void check_gate(const FunctionGraph& graph, std::size_t level, const Gate& gate, int fan_in, const std::string& start) {
  const std::vector<Wire> needed = gate_function(gate).inputs;
  for (const Wire& wire : needed) {
    if (wire.level != static_cast<int>(level)) {
      throw ConfigError(
          fmt::format("{}: gate '{}' of level {} reads '{}' from {}, not from the level directly below; "
                      "pass the value on with an ID gate on each level between",
                      start, gate.name, level + 1, wire_text(graph, {wire.level, wire.index, false}),
                      wire.level == 0 ? "the inputs" : fmt::format("level {}", wire.level)));
    }
  }
  if (static_cast<int>(needed.size()) > fan_in) {
    throw ConfigError(fmt::format("{}: gate '{}' needs {} values, but every module reads {}; set fan_in to {}", start,
                                  gate.name, needed.size(), fan_in, needed.size()));
  }
}

void check_outputs(const FunctionGraph& graph, std::size_t depth, const std::string& start) {
  for (std::size_t output = 0; output < graph.outputs.size(); ++output) {
    const Wire& wire = graph.outputs[output];
    const std::string& name = graph.output_names[output];
    if (wire.level != static_cast<int>(depth)) {
      throw ConfigError(
          fmt::format("{}: output '{}' reads '{}', which is not on the last level (level {}); pass the "
                      "value on with an ID gate on each level between",
                      start, name, wire_text(graph, {wire.level, wire.index, false}), depth));
    }
    if (wire.negated) {
      throw ConfigError(
          fmt::format("{}: output '{}' is negated, which a selection cannot do; negate inside the gate, "
                      "for example with NAND",
                      start, name));
    }
    for (std::size_t other = 0; other < output; ++other) {
      if (graph.outputs[other].index == wire.index) {
        throw ConfigError(
            fmt::format("{}: outputs '{}' and '{}' read the same gate '{}', which one selection vector "
                        "cannot do; repeat the gate under another name",
                        start, graph.output_names[other], name, wire_text(graph, wire)));
      }
    }
  }
}

void check_routable(const TaskSuite& suite, int fan_in) {
  for (const Task& task : suite.tasks) {
    const std::string start = fmt::format("task '{}' has no ground-truth routing", task.name);
    if (!task.graph) {
      throw ConfigError(start + ": it is a truth table without a function graph; choose a task with gates");
    }
  }
  for (const Task& task : suite.tasks) {
    const std::string start = fmt::format("task '{}' has no ground-truth routing", task.name);
    for (std::size_t level = 0; level < task.graph->levels.size(); ++level) {
      for (const Gate& gate : task.graph->levels[level]) {
        check_gate(*task.graph, level, gate, fan_in, start);
      }
    }
    check_outputs(*task.graph, suite_depth(suite), start);
  }
}

}  // namespace

int ImageInputs::combinations() const {
  int count = 1;
  for (int image = 0; image < images; ++image) {
    count *= digits;
  }
  return count;
}

std::vector<int> combination_rows(const ImageInputs& inputs) {
  std::vector<int> rows = {0};
  for (int image = 0; image < inputs.images; ++image) {
    std::vector<int> longer;
    for (const int row : rows) {
      for (int digit = 0; digit < inputs.digits; ++digit) {
        longer.push_back((row << inputs.bits) | digit);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

std::vector<int> digits_of(const ImageInputs& inputs, int row) {
  std::vector<int> digits(inputs.images);
  for (int image = inputs.images; image-- > 0; row >>= inputs.bits) {
    digits[image] = row & ((1 << inputs.bits) - 1);
  }
  return digits;
}

std::vector<int> possible_rows(const Task& task) {
  if (task.images) {
    return combination_rows(*task.images);
  }
  std::vector<int> rows(task.table.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

double always_zero_accuracy(const TaskSuite& suite) {
  double sum = 0;
  for (const Task& task : suite.tasks) {
    const std::vector<int> rows = possible_rows(task);
    int set = 0;
    for (const int row : rows) {
      set += std::popcount(task.table.rows[row]);
    }
    sum += 1.0 - static_cast<double>(set) / (static_cast<double>(rows.size()) * task.table.outputs);
  }
  return sum / static_cast<double>(suite.tasks.size());
}

std::vector<std::string> member_names(const Task& task, const TaskModule& module) {
  std::vector<std::string> names;
  for (const int input : module.inputs) {
    names.push_back(task.input_names[input]);
  }
  for (const Wire& gate : module.gates) {
    names.push_back(wire_text(*task.graph, gate));
  }
  for (const int output : module.outputs) {
    if (std::ranges::find(names, task.output_names[output]) == names.end()) {
      names.push_back(task.output_names[output]);
    }
  }
  return names;
}

std::vector<std::vector<int>> modules_of_nodes(const Task& task) {
  const FunctionGraph& graph = *task.graph;
  std::vector<std::vector<int>> modules = {std::vector<int>(graph.inputs.size(), -1)};
  for (const std::vector<Gate>& level : graph.levels) {
    modules.emplace_back(level.size(), -1);
  }
  modules.emplace_back(graph.outputs.size(), -1);
  for (int number = 0; number < static_cast<int>(task.modules.size()); ++number) {
    for (const int input : task.modules[number].inputs) {
      modules.front()[input] = number;
    }
    for (const Wire& gate : task.modules[number].gates) {
      modules[gate.level][gate.index] = number;
    }
    for (const int output : task.modules[number].outputs) {
      modules.back()[output] = number;
    }
  }
  return modules;
}

std::vector<std::vector<int>> modules_read(const Task& task) {
  std::vector<std::set<int>> read(task.modules.size());
  if (task.graph) {
    const std::vector<std::vector<int>> module_of = modules_of_nodes(task);
    const auto add = [&](int reader, const Wire& wire) {
      const int from = module_of[wire.level][wire.index];
      if (reader >= 0 && from >= 0 && from != reader) {
        read[reader].insert(from);
      }
    };
    for (std::size_t level = 0; level < task.graph->levels.size(); ++level) {
      for (std::size_t gate = 0; gate < task.graph->levels[level].size(); ++gate) {
        for (const Wire& wire : task.graph->levels[level][gate].inputs) {
          add(module_of[level + 1][gate], wire);
        }
      }
    }
    for (std::size_t output = 0; output < task.graph->outputs.size(); ++output) {
      add(module_of.back()[output], task.graph->outputs[output]);
    }
  }
  std::vector<std::vector<int>> lists;
  for (const std::set<int>& modules : read) {
    lists.emplace_back(modules.begin(), modules.end());
  }
  return lists;
}

std::optional<TrueSizes> true_sizes(const TaskSuite& suite) {
  if (!all_have_graphs(suite)) {
    return std::nullopt;
  }
  TrueSizes sizes;
  sizes.modules = find_sub_functions(suite).count;
  sizes.slots = slot_counts(suite);
  sizes.pool = static_cast<int>(operations(suite).size());
  sizes.depth = static_cast<int>(suite_depth(suite));
  return sizes;
}

std::vector<std::string> true_pool(const TaskSuite& suite) {
  const std::vector<Operation> found = operations(suite);
  std::vector<std::string> names;
  std::ranges::transform(found, std::back_inserter(names), operation_name);
  const std::vector<std::string> plain = names;
  for (std::size_t member = 0; member < names.size(); ++member) {
    if (std::ranges::count(plain, plain[member]) > 1) {
      names[member] = fmt::format("{} of {}", plain[member], found[member].inputs);
    }
  }
  return names;
}

std::vector<std::vector<std::vector<int>>> true_members(const TaskSuite& suite) {
  const std::vector<Operation> pool = operations(suite);
  std::vector<std::vector<std::vector<int>>> members;
  for (const Task& task : suite.tasks) {
    std::vector<std::vector<int>>& levels = members.emplace_back();
    for (const std::vector<Gate>& gates : task.graph->levels) {
      std::vector<int>& level = levels.emplace_back();
      for (const Gate& gate : gates) {
        level.push_back(static_cast<int>(std::ranges::find(pool, operation_of(gate)) - pool.begin()));
      }
    }
  }
  return members;
}

int widest_gate(const TaskSuite& suite, std::size_t level) {
  std::size_t widest = 0;
  for (const Task& task : suite.tasks) {
    if (task.graph && level < task.graph->levels.size()) {
      for (const Gate& gate : task.graph->levels[level]) {
        widest = std::max(widest, gate_function(gate).inputs.size());
      }
    }
  }
  return static_cast<int>(widest);
}

int widest_gate(const TaskSuite& suite) {
  int widest = 1;
  for (std::size_t level = 0; all_have_graphs(suite) && level < suite_depth(suite); ++level) {
    widest = std::max(widest, widest_gate(suite, level));
  }
  return widest;
}

std::vector<Routing> true_routing(const TaskSuite& suite, bool shared, int fan_in) {
  check_routable(suite, fan_in);
  const SubFunctions functions = find_sub_functions(suite);
  const std::vector<int> sizes = shared ? slot_counts(suite) : functions.count;
  const std::vector<std::vector<std::vector<int>>> true_member = true_members(suite);

  std::vector<Routing> routings;
  for (std::size_t task = 0; task < suite.tasks.size(); ++task) {
    const FunctionGraph& graph = *suite.tasks[task].graph;
    // Where the network keeps gate `gate` of level `level`.
    const auto place = [&](std::size_t level, std::size_t gate) {
      return shared ? static_cast<int>(gate) : functions.of_gate[task][level][gate];
    };
    Routing routing;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      std::vector<int> spare(std::min(fan_in, level == 0 ? suite.inputs() : sizes[level - 1]));
      std::iota(spare.begin(), spare.end(), 0);
      std::vector<std::vector<int>> inputs(sizes[level], spare);
      std::vector<int> members(sizes[level], 0);
      for (std::size_t gate = 0; gate < graph.levels[level].size(); ++gate) {
        const Gate& read = graph.levels[level][gate];
        std::vector<Wire> needed = gate_function(read).inputs;
        if (shared) {
          // One module stands for all gates of an operation, so they agree where they read what is negated.
          std::stable_partition(needed.begin(), needed.end(), [](const Wire& wire) { return !wire.negated; });
        }
        std::vector<int>& slot = inputs[place(level, gate)];
        slot.clear();
        for (const Wire& wire : needed) {
          slot.push_back(level == 0 ? wire.index : place(level - 1, wire.index));
        }
        members[place(level, gate)] = true_member[task][level][gate];
      }
      routing.inputs.push_back(std::move(inputs));
      if (shared) {
        routing.modules.push_back(std::move(members));
      }
    }
    for (const Wire& wire : graph.outputs) {
      routing.outputs.push_back(place(sizes.size() - 1, wire.index));
    }
    routings.push_back(std::move(routing));
  }
  return routings;
}

}  // namespace modlab::tasks
