#include "tasks/graph_dot.h"

#include <fmt/format.h>

#include "core/text.h"

namespace modlab::tasks {
namespace {

std::string quoted(const std::string& text) {
  std::string escaped = "\"";
  for (const char letter : text) {
    escaped += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
  }
  return escaped + "\"";
}

class Writer {
 public:
  Writer(const Task& task, std::string prefix) : task_(task), prefix_(std::move(prefix)) {}

  std::string write(int& clusters) {
    for (const std::string& name : task_.input_names) {
      text_ += fmt::format("  {} [label={}, shape=box, style=rounded];\n", quoted(prefix_ + name), quoted(name));
    }
    if (task_.graph) {
      write_graph(*task_.graph);
      write_clusters(clusters);
    } else {
      write_table();
    }
    return text_;
  }

 private:
  // Apart from gates, which may have the same names.
  std::string output_id(std::size_t output) const { return quoted(prefix_ + "output " + task_.output_names[output]); }

  void write_output(std::size_t output) {
    text_ += fmt::format("  {} [label={}, shape=box, style=\"rounded,bold\"];\n", output_id(output),
                         quoted(task_.output_names[output]));
  }

  void write_wire(const FunctionGraph& graph, const Wire& wire, const std::string& to) {
    text_ += fmt::format("  {} -> {}{};\n", quoted(prefix_ + wire_text(graph, {wire.level, wire.index, false})), to,
                         wire.negated ? " [arrowhead=odot]" : "");
  }

  void write_graph(const FunctionGraph& graph) {
    const bool has_outputs_apart = !outputs_are_named_gates(graph);
    for (const std::vector<Gate>& level : graph.levels) {
      const bool is_output = &level == &graph.levels.back() && !has_outputs_apart;
      for (const Gate& gate : level) {
        const std::string id = quoted(prefix_ + gate.name);
        text_ += fmt::format("  {} [label=\"{}\\n{}\", shape=box{}];\n", id, op_name(gate.op), gate.name,
                             is_output ? ", style=bold" : "");
        for (const Wire& wire : gate.inputs) {
          write_wire(graph, wire, id);
        }
      }
    }
    for (std::size_t output = 0; has_outputs_apart && output < graph.outputs.size(); ++output) {
      write_output(output);
      write_wire(graph, graph.outputs[output], output_id(output));
    }
  }

  void write_table() {
    const std::string box = quoted(prefix_ + "truth table");
    text_ += fmt::format("  {} [label=\"truth table\", shape=box];\n", box);
    for (const std::string& name : task_.input_names) {
      text_ += fmt::format("  {} -> {};\n", quoted(prefix_ + name), box);
    }
    for (std::size_t output = 0; output < task_.output_names.size(); ++output) {
      write_output(output);
      text_ += fmt::format("  {} -> {};\n", box, output_id(output));
    }
  }

  void write_clusters(int& clusters) {
    for (const TaskModule& module : task_.modules) {
      std::vector<std::string> ids;
      for (const int input : module.inputs) {
        ids.push_back(quoted(prefix_ + task_.input_names[input]));
      }
      for (const Wire& gate : module.gates) {
        ids.push_back(quoted(prefix_ + wire_text(*task_.graph, gate)));
      }
      for (const int output : outputs_are_named_gates(*task_.graph) ? std::vector<int>{} : module.outputs) {
        ids.push_back(output_id(output));
      }
      text_ += fmt::format("  subgraph cluster_{} {{ label={}; style=rounded; {} }}\n", clusters++, quoted(module.name),
                           join_text(ids, "; "));
    }
  }

  const Task& task_;
  std::string prefix_;
  std::string text_;
};

}  // namespace

std::string graph_dot(const TaskSuite& suite) {
  std::string text = fmt::format("digraph {} {{\n  rankdir=LR;\n", quoted(suite.name));
  int clusters = 0;
  for (const Task& task : suite.tasks) {
    text += Writer(task, suite.tasks.size() > 1 ? task.name + " " : "").write(clusters);
  }
  return text + "}\n";
}

}  // namespace modlab::tasks
