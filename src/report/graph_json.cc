#include "report/graph_json.h"

#include <nlohmann/json.hpp>

#include "report/graph_facts.h"
#include "tasks/task_file.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using tasks::Gate;
using tasks::Routing;
using tasks::Task;
using tasks::TaskSuite;
using tasks::Wire;

ordered_json modules_json(const Task& task) {
  const std::vector<std::vector<int>> read = modules_read(task);
  ordered_json modules = ordered_json::array();
  for (std::size_t number = 0; number < task.modules.size(); ++number) {
    const tasks::TaskModule& module = task.modules[number];
    ordered_json json = {{"name", module.name},
                         {"inputs", ordered_json::array()},
                         {"gates", ordered_json::array()},
                         {"outputs", ordered_json::array()},
                         {"reads", ordered_json::array()}};
    for (const int input : module.inputs) {
      json["inputs"].push_back(task.input_names[input]);
    }
    for (const Wire& gate : module.gates) {
      json["gates"].push_back(wire_text(*task.graph, gate));
    }
    for (const int output : module.outputs) {
      json["outputs"].push_back(task.output_names[output]);
    }
    for (const int other : read[number]) {
      json["reads"].push_back(task.modules[other].name);
    }
    modules.push_back(std::move(json));
  }
  return modules;
}

ordered_json task_json(const Task& task) {
  ordered_json json;
  json["name"] = task.name;
  json["about"] = task.about;
  json["inputs"] = task.input_names;
  if (task.images) {
    json["images"] = {{"count", task.images->images},
                      {"digits", task.images->digits},
                      {"bits", task.images->bits},
                      {"combinations", task.images->combinations()}};
  }
  json["rows"] = task.table.rows.size();
  json["always_zero_accuracy"] = task_always_zero(task);
  json["distractors"] = ordered_json::array();
  for (const int input : distractor_inputs(task.table)) {
    json["distractors"].push_back(task.input_names[input]);
  }
  json["outputs"] = ordered_json::array();
  const std::vector<int> rows = possible_rows(task);
  for (int output = 0; output < task.table.outputs; ++output) {
    ordered_json described;
    described["name"] = task.output_names[output];
    if (task.graph) {
      described["reads"] = wire_text(*task.graph, task.graph->outputs[output]);
    }
    described["ones"] = ones_among(task.table, rows, output);
    described["always_zero_accuracy"] = output_always_zero(task.table, rows, output);
    described["depends_on"] = ordered_json::array();
    for (const int input : relevant_inputs(task.table, output)) {
      described["depends_on"].push_back(task.input_names[input]);
    }
    described["hex"] = hex_word(task.table, output);
    json["outputs"].push_back(described);
  }
  if (task.graph) {
    json["edges"] = edge_count(*task.graph);
    json["operations"] = ordered_json::array();
    for (const tasks::Op op : distinct_ops(*task.graph)) {
      json["operations"].push_back(op_name(op));
    }
    json["levels"] = ordered_json::array();
    for (const std::vector<Gate>& level : task.graph->levels) {
      ordered_json gates = ordered_json::array();
      for (const Gate& gate : level) {
        ordered_json read = ordered_json::array();
        for (const Wire& wire : gate.inputs) {
          read.push_back(wire_text(*task.graph, wire));
        }
        gates.push_back({{"name", gate.name}, {"operation", op_name(gate.op)}, {"reads", read}});
      }
      json["levels"].push_back(gates);
    }
  }
  if (!task.modules.empty()) {
    json["modules"] = modules_json(task);
  }
  return json;
}

}  // namespace

std::string suite_json(const TaskSuite& suite) {
  const TrueRoutings routings = find_routings(suite);
  ordered_json json;
  json["name"] = suite.name;
  json["about"] = suite.about;
  if (const auto sizes = true_sizes(suite)) {
    json["sizes"] = {
        {"modules", sizes->modules}, {"slots", sizes->slots}, {"pool", sizes->pool}, {"depth", sizes->depth}};
    json["pool"] = true_pool(suite);
  }
  if (!routings.missing.empty()) {
    json["no_routing_because"] = routings.missing;
  }
  json["tasks"] = ordered_json::array();
  for (std::size_t index = 0; index < suite.tasks.size(); ++index) {
    ordered_json task = task_json(suite.tasks[index]);
    if (routings.missing.empty()) {
      const Routing& own = routings.own[index];
      const Routing& shared = routings.shared[index];
      task["routing"]["modules"] = {{"inputs", own.inputs}, {"outputs", own.outputs}};
      task["routing"]["slots"] = {
          {"inputs", shared.inputs}, {"pool_members", shared.modules}, {"outputs", shared.outputs}};
    }
    json["tasks"].push_back(task);
  }
  // A file's name may not be valid UTF-8, which is no reason to fail.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace modlab::report
