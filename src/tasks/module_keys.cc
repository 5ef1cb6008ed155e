#include "tasks/module_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/errors.h"
#include "core/text.h"
#include "io/yaml_file.h"
#include "tasks/graph_file.h"

namespace modlab::tasks {
namespace {

// What a name in a list of members stands for, and which module has it.
struct Member {
  Wire wire;                  // an input or a gate
  std::optional<int> output;  // or else the number of an output
  std::string module;         // empty: none yet
};

// An output with the name of a gate is not here: it belongs where the gate is that it reads.
std::map<std::string, Member> all_members(const FunctionGraph& graph) {
  std::map<std::string, Member> members;
  for (int input = 0; input < static_cast<int>(graph.inputs.size()); ++input) {
    members.emplace(graph.inputs[input], Member{{0, input, false}, std::nullopt, ""});
  }
  for (int level = 1; level <= static_cast<int>(graph.levels.size()); ++level) {
    for (int gate = 0; gate < static_cast<int>(graph.levels[level - 1].size()); ++gate) {
      members.emplace(graph.levels[level - 1][gate].name, Member{{level, gate, false}, std::nullopt, ""});
    }
  }
  for (int output = 0; output < static_cast<int>(graph.outputs.size()); ++output) {
    members.emplace(graph.output_names[output], Member{{}, output, ""});
  }
  return members;
}

Member& find_member(std::map<std::string, Member>& members, const std::string& name, const std::string& module,
                    const std::string& place) {
  const auto found = members.find(name);
  if (found == members.end()) {
    std::vector<std::string> known;
    for (const auto& [word, member] : members) {
      known.push_back(word);
    }
    throw ConfigError(fmt::format("{}: module '{}' lists {}, which is no input, gate or output{}", place, module,
                                  io::quote_for_message(name), did_you_mean(name.substr(0, 40), known)));
  }
  if (!found->second.module.empty()) {
    throw ConfigError(
        fmt::format("{}: '{}' is in module '{}' already; remove it here or there", place, name, found->second.module));
  }
  return found->second;
}

TaskModule parse_module(const std::string& name, const YAML::Node& list, std::map<std::string, Member>& members,
                        const std::string& source) {
  if (!list.IsSequence() || list.size() == 0) {
    throw FormatError(fmt::format("{}: module '{}' is not a list of names; write '{}: [x0, x1, a0]'",
                                  io::place_of(list, source), name, name));
  }
  TaskModule module;
  module.name = name;
  for (const YAML::Node& item : list) {
    const std::string place = io::place_of(item, source);
    const std::optional<std::string> listed = scalar_text(item);
    if (!listed) {
      throw FormatError(
          fmt::format("{}: module '{}' lists something that is no name; write '{}: [x0, a0]'", place, name, name));
    }
    Member& member = find_member(members, *listed, name, place);
    member.module = name;
    if (member.output) {
      module.outputs.push_back(*member.output);
    } else if (member.wire.level == 0) {
      module.inputs.push_back(member.wire.index);
    } else {
      module.gates.push_back(member.wire);
    }
  }
  return module;
}

// Gives the outputs that no module names to the modules of the gates, or inputs, that they read.
void add_outputs(std::vector<TaskModule>& modules, const FunctionGraph& graph) {
  for (int output = 0; output < static_cast<int>(graph.outputs.size()); ++output) {
    const auto names_it = [&](const TaskModule& module) { return std::ranges::count(module.outputs, output) > 0; };
    if (std::ranges::any_of(modules, names_it)) {
      continue;
    }
    const Wire read = {graph.outputs[output].level, graph.outputs[output].index, false};
    for (TaskModule& module : modules) {
      const bool has_it = read.level == 0 ? std::ranges::count(module.inputs, read.index) > 0
                                          : std::ranges::count(module.gates, read) > 0;
      if (has_it) {
        module.outputs.push_back(output);
      }
    }
  }
}

}  // namespace

std::vector<TaskModule> parse_modules(const YAML::Node& node, const FunctionGraph& graph, const std::string& source) {
  if (!node.IsMap() || node.size() == 0) {
    throw FormatError(fmt::format("{}: 'modules' is not a map of modules; write lines such as 'left: [x0, x1, a0]'",
                                  io::place_of(node, source)));
  }
  std::map<std::string, Member> members = all_members(graph);
  std::vector<TaskModule> modules;
  for (const auto& entry : node) {
    const std::string name = read_name(entry.first, "a module", source);
    if (std::ranges::find(modules, name, &TaskModule::name) != modules.end()) {
      throw ConfigError(fmt::format("{}: the module '{}' is there twice; give each its own name",
                                    io::place_of(entry.first, source), name));
    }
    modules.push_back(parse_module(name, entry.second, members, source));
  }
  add_outputs(modules, graph);
  for (TaskModule& module : modules) {
    std::ranges::sort(module.inputs);
    std::ranges::sort(module.gates);
    std::ranges::sort(module.outputs);
  }
  return modules;
}

}  // namespace modlab::tasks
