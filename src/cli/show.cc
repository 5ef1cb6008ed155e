#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/arguments.h"
#include "cli/image_look.h"
#include "cli/snapshot.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "measures/specialisation.h"
#include "models/learned_routing.h"
#include "models/plain_forward.h"
#include "models/saved_network.h"
#include "models/settings.h"
#include "tasks/function_graph.h"

namespace modlab::cli {
namespace {

using models::SavedNetwork;

const std::vector<Option>& show_options() {
  static const std::vector<Option> kOptions = {
      snapshot_option(),
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_show_help() {
  fmt::print(
      "modlab show: what a saved network has learned\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0 --save nets\n"
      "  modlab show nets/*.safetensors\n\n{}",
      describe_options(show_options()));
}

// Every gate of a graph on every row, by level.
std::vector<std::vector<std::vector<double>>> gate_values(const tasks::FunctionGraph& graph) {
  std::vector<std::vector<std::vector<double>>> values;
  const std::vector<std::vector<tasks::Column>> columns = tasks::node_columns(graph);
  for (std::size_t level = 1; level < columns.size(); ++level) {
    values.emplace_back();
    for (const tasks::Column& column : columns[level]) {
      std::vector<double>& rows = values.back().emplace_back(std::size_t{1} << graph.inputs.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row] = tasks::column_bit(column, static_cast<int>(row)) ? 1 : 0;
      }
    }
  }
  return values;
}

struct SlotView {
  std::string name;
  std::string reads;
  std::string computes;  // the true gate it follows most closely
};

struct TaskView {
  std::vector<std::vector<SlotView>> levels;
  std::vector<std::string> outputs;
  double accuracy = 0;
  std::optional<bool> is_true_wiring;
};

// The gate of the same level that the slot's output correlates with most, over the whole truth table.
std::string computes_text(const std::vector<double>& values, const std::vector<tasks::Gate>& gates,
                          const std::vector<std::vector<double>>& gates_on_rows) {
  double best = 0;
  std::string name = "-";
  for (std::size_t gate = 0; gate < gates.size(); ++gate) {
    const double rho = measures::pearson(values, gates_on_rows[gate]);
    if (std::abs(rho) > std::abs(best) + 1e-9) {
      best = rho;
      name = gates[gate].name;
    }
  }
  return fmt::format("{}{} ({:.2f})", best < 0 ? "!" : "", name, std::abs(best));
}

TaskView view_task(const SavedNetwork& network, const std::vector<float>& parameters, int task_index) {
  const auto& shape = std::get<models::ModularShape>(network.blueprint.shape);
  const tasks::Task& task = network.suite.tasks[task_index];
  const tasks::Routing routing = models::learned_routing(shape, parameters)[task_index];
  const models::PlainValues values = models::plain_forward(network.blueprint, parameters, network.suite, task_index);
  TaskView view;
  view.accuracy = models::bit_accuracy(values, task.table);
  std::vector<std::string> below = task.input_names;
  std::vector<std::string> all;
  const auto gates = task.graph ? gate_values(*task.graph) : std::vector<std::vector<std::vector<double>>>{};
  for (std::size_t level = 0; level < shape.levels.size(); ++level) {
    std::vector<SlotView> slots;
    std::vector<std::string> names;
    for (std::size_t slot = 0; slot < routing.inputs[level].size(); ++slot) {
      std::vector<std::string> reads;
      for (const int pick : routing.inputs[level][slot]) {
        reads.push_back(below[pick]);
      }
      const std::string module =
          shape.pool > 0 ? fmt::format("module {}", routing.modules[level][slot]) : std::string("own module");
      slots.push_back({slot_name(level, slot), fmt::format("{} of {}", module, join_text(reads, ", ")),
                       level < gates.size()
                           ? computes_text(values.slots[all.size() + slot], task.graph->levels[level], gates[level])
                           : "-"});
      names.push_back(slots.back().name);
    }
    view.levels.push_back(std::move(slots));
    all.insert(all.end(), names.begin(), names.end());
    below = names;
  }
  for (const int pick : routing.outputs) {
    view.outputs.push_back(routing.outputs_from_all_levels ? all[pick] : below[pick]);
  }
  if (task.graph && network.suite.tasks.size() == 1) {
    try {
      view.is_true_wiring =
          tasks::same_wiring(routing, tasks::true_routing(network.suite, shape.pool > 0, shape.fan_in).front());
    } catch (const ConfigError&) {
      // A graph without a routing of this kind has nothing to compare with.
    }
  }
  return view;
}

// As a task file writes it.
std::string definition_text(const tasks::FunctionGraph& graph, const tasks::Gate& gate) {
  std::vector<std::string> reads;
  for (const tasks::Wire& wire : gate.inputs) {
    reads.push_back(tasks::wire_text(graph, wire));
  }
  return fmt::format("{} = {} {}", gate.name, tasks::op_name(gate.op), join_text(reads, " "));
}

void print_columns(const std::vector<std::array<std::string, 3>>& rows) {
  std::array<std::size_t, 2> widths{};
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < 2; ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const auto& row : rows) {
    const std::string line = fmt::format("  {:<{}}   {:<{}}   {}", row[0], widths[0], row[1], widths[1], row[2]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void print_task(const SavedNetwork& network, const TaskView& view, int task_index) {
  const tasks::Task& task = network.suite.tasks[task_index];
  if (network.suite.tasks.size() > 1) {
    fmt::print("Task {}\n", task.name);
  }
  std::vector<std::array<std::string, 3>> rows = {{"learned", "follows", task.graph ? "true" : ""}};
  const std::size_t true_levels = task.graph ? task.graph->levels.size() : 0;
  for (std::size_t level = 0; level < std::max(view.levels.size(), true_levels); ++level) {
    rows.push_back({fmt::format("level {}", level + 1), "", ""});
    const std::size_t slots = level < view.levels.size() ? view.levels[level].size() : 0;
    const std::size_t gates = level < true_levels ? task.graph->levels[level].size() : 0;
    for (std::size_t index = 0; index < std::max(slots, gates); ++index) {
      std::array<std::string, 3> row;
      if (index < slots) {
        const SlotView& slot = view.levels[level][index];
        row[0] = fmt::format("  {} = {}", slot.name, slot.reads);
        row[1] = slot.computes;
      }
      if (index < gates) {
        row[2] = definition_text(*task.graph, task.graph->levels[level][index]);
      }
      rows.push_back(row);
    }
  }
  rows.push_back({"outputs", "", ""});
  for (std::size_t output = 0; output < view.outputs.size(); ++output) {
    rows.push_back({fmt::format("  {} = {}", task.output_names[output], view.outputs[output]), "",
                    task.graph ? fmt::format("{} = {}", task.output_names[output],
                                             tasks::wire_text(*task.graph, task.graph->outputs[output]))
                               : ""});
  }
  print_columns(rows);
  fmt::print("\n{:.2f} % of the bits of the whole truth table are right.\n", 100 * view.accuracy);
  if (view.is_true_wiring) {
    fmt::print("{}\n", *view.is_true_wiring ? "The wiring is the true one, up to the names of the slots."
                                            : "The wiring is not the true one.");
  }
}

nlohmann::ordered_json task_json(const TaskView& view, const tasks::Task& task) {
  nlohmann::ordered_json object;
  object["task"] = task.name;
  for (const std::vector<SlotView>& level : view.levels) {
    nlohmann::ordered_json slots = nlohmann::ordered_json::array();
    for (const SlotView& slot : level) {
      slots.push_back({{"name", slot.name}, {"reads", slot.reads}, {"follows", slot.computes}});
    }
    object["levels"].push_back(slots);
  }
  object["outputs"] = view.outputs;
  object["accuracy"] = 100 * view.accuracy;
  if (view.is_true_wiring) {
    object["true_wiring"] = *view.is_true_wiring;
  }
  return object;
}

void print_mlp(const SavedNetwork& network, const std::vector<float>& parameters) {
  const auto& shape = std::get<models::MlpShape>(network.blueprint.shape);
  std::vector<std::string> widths;
  for (const int width : shape.widths) {
    widths.push_back(std::to_string(width));
  }
  std::size_t weights = 0;
  std::size_t kept = 0;
  for (const engine::Tensor& tensor : network.blueprint.layout.tensors) {
    if (tensor.shape.size() == 2) {
      weights += tensor.count;
      kept += static_cast<std::size_t>(
          std::count_if(parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                        parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset + tensor.count),
                        [](float weight) { return weight != 0; }));
    }
  }
  fmt::print("Layers {}, {} weights, {} of them not zero. A monolithic network has no routing to show.\n",
             join_text(widths, "-"), weights, kept);
  for (int task = 0; task < network.blueprint.data.tasks; ++task) {
    const models::PlainValues values = models::plain_forward(network.blueprint, parameters, network.suite, task);
    fmt::print("{:.2f} % of the bits of the whole truth table of {} are right.\n",
               100 * models::bit_accuracy(values, network.suite.tasks[task].table), network.suite.tasks[task].name);
  }
}

void show(const std::string& path, const std::string& name, bool as_json) {
  const Snapshot snapshot = load_snapshot(path, name);
  const SavedNetwork& network = snapshot.network;
  const std::vector<float>& parameters = snapshot.parameters();
  const bool is_mlp = network.spec.is_mlp();
  if (network.spec.on_images) {
    const measures::ImageView view = look_at_images(snapshot);
    if (as_json) {
      nlohmann::ordered_json output = models::settings_json(network.spec);
      output["snapshot"] = name;
      output.update(images_json(snapshot, view));
      fmt::print("{}\n", output.dump());
    } else {
      fmt::print("{}\n{}", snapshot_heading(snapshot), image_text(view, *network.suite.images()));
    }
    return;
  }
  if (as_json) {
    nlohmann::ordered_json output = models::settings_json(network.spec);
    output["snapshot"] = name;
    for (int task = 0; !is_mlp && task < network.blueprint.data.tasks; ++task) {
      output["tasks"].push_back(task_json(view_task(network, parameters, task), network.suite.tasks[task]));
    }
    fmt::print("{}\n", output.dump());
    return;
  }
  fmt::print("{}\n", snapshot_heading(snapshot));
  if (is_mlp) {
    print_mlp(network, parameters);
    return;
  }
  for (int task = 0; task < network.blueprint.data.tasks; ++task) {
    print_task(network, view_task(network, parameters, task), task);
  }
}

}  // namespace

int run_show(std::span<const std::string> words) {
  const Arguments arguments(words, show_options());
  if (arguments.has("help")) {
    print_show_help();
    return 0;
  }
  const std::string snapshot = snapshot_name(arguments);
  for (std::size_t index = 0; index < arguments.positional().size(); ++index) {
    if (index > 0 && !arguments.is_on("json")) {
      fmt::print("\n");
    }
    show(arguments.positional()[index], snapshot, arguments.is_on("json"));
  }
  return 0;
}

}  // namespace modlab::cli
